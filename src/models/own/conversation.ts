import { NacreError } from '../../core/errors.ts';
import type { Message } from '../../core/types.ts';
import type { ChatTemplate } from '../../transformer/chat-template.ts';
import type { Sequence } from '../../transformer/session.ts';
import type { Tokenizer } from '../../transformer/tokenizer.ts';

/** Where a conversation stood before one of its turns. */
interface Mark {
  readonly tokens: number;
  readonly messages: number;
  readonly consumed: string;
  readonly closing: string;
}

export interface NextTokens {
  readonly ids: readonly number[];
  /** The template rewrote earlier turns: all must be read afresh, by an empty sequence without the prefix. */
  readonly restart: boolean;
}

/** Tokens before a generated text that are decoded with it, so that a leading space is not lost. */
const TAIL = 4;

/** What makes text into tokens: shared by all conversations of one model. */
export class Speech {
  readonly tokenizer: Tokenizer;
  readonly template: ChatTemplate;
  private readonly known = new Map<string, readonly number[]>();

  constructor(tokenizer: Tokenizer, template: ChatTemplate) {
    this.tokenizer = tokenizer;
    this.template = template;
  }

  /** Ids of a text; short texts, which environments repeat endlessly, are remembered. */
  encode(text: string, addSpecial = false): readonly number[] {
    if (addSpecial || text.length > 400) return this.tokenizer.encode(text, { addSpecial });
    const found = this.known.get(text);
    if (found) return found;
    if (this.known.size >= 20_000) this.known.clear();
    const ids = this.tokenizer.encode(text, { addSpecial });
    this.known.set(text, ids);
    return ids;
  }

  /** The text that all conversations beginning with these messages share, or '' where the template has no such text. */
  opening(messages: readonly Message[]): string {
    if (messages.length === 0) return '';
    const text = this.renderable(messages, false);
    const longer = this.renderable([...messages, { role: 'user', content: 'x' }], true);
    return text !== undefined && longer?.startsWith(text) ? text : '';
  }

  /** Some templates refuse a conversation without a user, or one that begins with a system text. */
  private renderable(messages: readonly Message[], addGenerationPrompt: boolean): string | undefined {
    try {
      return this.template.render(messages, { addGenerationPrompt });
    } catch (error) {
      if (error instanceof NacreError && error.code === 'bad-chat-template') return undefined;
      throw error;
    }
  }
}

/** One conversation with the model: its messages, its text as the template renders it, and the sequence that has read it. */
export class Conversation {
  sequence: Sequence;
  private readonly speech: Speech;
  private messages: readonly Message[];
  /**
   * The conversation so far as the template renders it, up to the visible text of the last answer. The sequence holds the very
   * tokens that were sampled, which may differ from this text by special tokens amid an answer.
   */
  private consumed: string;
  /** Text of the special token that ended the last answer: already read, so not to be read again. */
  private closing = '';
  private marks: Mark[] = [];
  private tail: readonly number[] = [];

  constructor(speech: Speech, sequence: Sequence, messages: readonly Message[], consumed: string) {
    this.speech = speech;
    this.sequence = sequence;
    this.messages = messages;
    this.consumed = consumed;
  }

  /** Turns so far. */
  get turns(): number {
    return this.marks.length;
  }

  /** Adds messages and says which tokens the model must read to answer them. */
  ask(messages: readonly Message[]): NextTokens {
    const { template } = this.speech;
    const all = [...this.messages, ...messages];
    const whole = template.render(all, { addGenerationPrompt: true });
    const restart = !whole.startsWith(this.consumed);
    const fresh = restart || this.consumed === '';
    const rest = fresh ? whole : whole.slice(this.consumed.length);
    const text = !fresh && rest.startsWith(this.closing) ? rest.slice(this.closing.length) : rest;
    this.marks.push(this.mark());
    // After a restart no earlier state is left in the sequence: a copy of one reads all its text again.
    if (restart) this.marks = this.marks.map((before) => ({ ...before, tokens: 0, consumed: '', closing: '' }));
    const ids = this.speech.encode(text, fresh && template.addSpecial);
    this.messages = all;
    this.consumed = whole;
    this.closing = '';
    this.tail = ids.slice(-TAIL);
    return { ids, restart };
  }

  /** The text that ids sampled in this turn stand for, without special tokens. */
  preview(ids: readonly number[]): string {
    return this.speech.tokenizer.decodeAfter(this.tail, ids);
  }

  /** Adds what the model said. Returns its text without special tokens. */
  answer(ids: readonly number[]): string {
    const { tokenizer } = this.speech;
    const text = this.preview(ids);
    this.messages = [...this.messages, { role: 'assistant', content: text }];
    this.consumed += text;
    const last = ids.at(-1);
    this.closing = last !== undefined && tokenizer.specialIds.has(last) ? tokenizer.tokenText(last) : '';
    return text;
  }

  /** A copy for `sequence`, which must be a fork that holds `tokensAt(turn)` own tokens: the state before that turn. */
  copy(sequence: Sequence, turn = this.marks.length): Conversation {
    const mark = this.marks[turn] ?? this.mark();
    const copy = new Conversation(this.speech, sequence, this.messages.slice(0, mark.messages), mark.consumed);
    copy.closing = mark.closing;
    copy.marks = this.marks.slice(0, turn);
    return copy;
  }

  /** Whether nothing had been read before turn `turn` (by default: so far), or what had been was dropped since. */
  unread(turn = this.marks.length): boolean {
    return (this.marks[turn]?.consumed ?? this.consumed) === '';
  }

  /** Own tokens the sequence held before turn `turn`, or holds now. */
  tokensAt(turn: number): number {
    return this.marks[turn]?.tokens ?? this.sequence.tokens.length;
  }

  private mark(): Mark {
    return { tokens: this.sequence.tokens.length, messages: this.messages.length, consumed: this.consumed, closing: this.closing };
  }
}
