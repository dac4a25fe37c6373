import { NacreError } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import type { Message } from '../../core/types.ts';
import type { ChatModel, GenerateOptions, Generation, ModelInfo } from '../../models/types.ts';
import { answerCritique } from './critique.ts';
import { type ReadPrompt, readPrompt } from './parse.ts';
import { answerMerge, answerRank, answerReview } from './update.ts';

const ANSWERS: Readonly<Record<string, (prompt: ReadPrompt, random: Random) => object>> = {
  critique: answerCritique,
  merge: answerMerge,
  review: answerReview,
  rank: answerRank,
};

/**
 * A critic without a language model, for the household suite only: it reads exactly what an LLM critic reads, finds
 * mechanisms by rules over the traces, and answers in the same JSON. It proposes useless and wrong edits too; cards, review and
 * the gate decide. The same messages and seed give the same answer.
 */
export class HouseholdAnalyst implements ChatModel {
  readonly info: ModelInfo = {
    id: 'household-analyst',
    title: 'Household analyst (heuristic, not a language model)',
    parameters: 0,
    backend: 'heuristic',
    adapter: 'rules over traces',
    contextLength: Number.MAX_SAFE_INTEGER,
    capabilities: { chat: true, json: true, logprobs: false, probe: false, train: false },
  };

  /** @throws {NacreError} `not-a-critique` for messages that are no call of the TextualRL critic. */
  async generate(messages: readonly Message[], options: GenerateOptions): Promise<Generation> {
    options.signal?.throwIfAborted();
    const prompt = readPrompt(messages.find(({ role }) => role === 'user')?.content ?? '');
    const answer = ANSWERS[prompt.kind];
    if (!answer) {
      throw new NacreError(
        'not-a-critique',
        'The household analyst was asked something other than a critique, merge, review or ranking.',
        'Choose a language model for free conversation.',
      );
    }
    const text = JSON.stringify(answer(prompt, new Random(options.seed, 'analyst')));
    return { text, finish: 'stop', usage: { calls: 1, inputTokens: 0, outputTokens: 0, textVolume: 0, ms: 0 } };
  }

  async close(): Promise<void> {
    // Holds nothing.
  }
}

/** The critic that needs no second model. */
export function createAnalyst(): ChatModel {
  return new HouseholdAnalyst();
}
