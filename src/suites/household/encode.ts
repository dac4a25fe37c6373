import type { Lesson } from './demonstrations.ts';
import { ACTION_TOKEN, CONTEXT_TOKEN, END_TOKEN, OBSERVATION_TOKEN } from './vocabulary.ts';

/** The part of a tokenizer that lessons need. */
export interface PieceEncoder {
  encode(text: string, options: { readonly addSpecial: boolean }): number[];
  idOf(token: string): number | undefined;
}

/** Tokens of one lesson with what each next token counts in the loss. */
export interface EncodedLesson {
  /** Row i holds `tokens[i]` and predicts `targets[i]` with weight `weights[i]`. */
  readonly tokens: readonly number[];
  readonly targets: readonly number[];
  readonly weights: readonly number[];
}

export interface LossWeights {
  readonly action: number;
  readonly observation: number;
}

/** Lessons as token sequences, in the form that the chat template gives to conversations. Repeated pieces are encoded once. */
export class LessonEncoder {
  private readonly encoder: PieceEncoder;
  private readonly pieces = new Map<string, readonly number[]>();
  private readonly special: Readonly<Record<'context' | 'observation' | 'action' | 'end', number>>;

  constructor(encoder: PieceEncoder) {
    this.encoder = encoder;
    const id = (token: string): number => encoder.idOf(token) ?? 0;
    this.special = { context: id(CONTEXT_TOKEN), observation: id(OBSERVATION_TOKEN), action: id(ACTION_TOKEN), end: id(END_TOKEN) };
  }

  encode(lesson: Lesson, loss: LossWeights): EncodedLesson {
    const { context, observation, action, end } = this.special;
    const ids: number[] = [context];
    // The weight of a token as a target.
    const worth: number[] = [0];
    const push = (tokens: readonly number[], weight: number): void => {
      for (const token of tokens) {
        ids.push(token);
        worth.push(weight);
      }
    };
    const text = lesson.context.trim();
    if (text !== '') push(this.encoder.encode(`\n${text}`, { addSpecial: false }), 0);
    for (const turn of lesson.turns) {
      push([observation], 0);
      push(this.piece(turn.observation), loss.observation);
      push([action], loss.observation);
      push(this.piece(turn.action), turn.slip ? 0 : loss.action);
      push([end], turn.slip ? 0 : loss.action);
    }
    return { tokens: ids.slice(0, -1), targets: ids.slice(1), weights: worth.slice(1) };
  }

  private piece(text: string): readonly number[] {
    let ids = this.pieces.get(text);
    if (!ids) {
      ids = this.encoder.encode(text, { addSpecial: false });
      if (this.pieces.size > 20_000) this.pieces.clear();
      this.pieces.set(text, ids);
    }
    return ids;
  }
}
