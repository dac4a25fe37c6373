import type * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { addUsage, type CallRole, NO_USAGE } from '../core/ledger.ts';
import type { Message, Usage } from '../core/types.ts';
import type { ChatModel, Generation } from '../models/types.ts';
import { readJsonAnswer } from './json-answer.ts';

/** The part of a ChatModel that a critic needs. */
export type CriticModel = Pick<ChatModel, 'info' | 'generate'>;

/** How often an unusable answer is asked for again. */
export const RE_ASKS = 2;
/** How often a call that failed to run is tried again. */
const CALL_RETRIES = 2;
export const MAX_ANSWER_TOKENS = 4096;

/** What became of one question: the value, or why there is none. Plain data, so that it can be a unit of the journal. */
export type Asked<T> =
  | { readonly status: 'answered'; readonly value: T; readonly usage: Usage; readonly unusable: number }
  | { readonly status: 'unusable'; readonly problem: string; readonly usage: Usage; readonly unusable: number }
  /** The messages do not fit the critic's context window. */
  | { readonly status: 'too-long'; readonly usage: Usage; readonly unusable: number }
  /** The critic could not be reached or could not run. */
  | { readonly status: 'failed'; readonly problem: string; readonly usage: Usage; readonly unusable: number };

export interface Question<T> {
  readonly messages: readonly Message[];
  readonly schema: v.GenericSchema<unknown, T>;
  readonly jsonSchema: object;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** A check beyond the schema: a complaint to send back, or undefined. */
  readonly complain?: (value: T) => string | undefined;
}

/**
 * Asks one question as a unit of the journal, counted under `role`. The steps of the loop see critics only through this.
 */
export type Asker = <T>(key: string, role: CallRole, question: Omit<Question<T>, 'seed' | 'signal'>) => Promise<Asked<T>>;

/**
 * Asks a critic for JSON. An answer that does not fit is sent back with what is wrong, at most twice.
 * @throws the abort reason when cancelled; other failures are returned.
 */
export async function ask<T>(critic: CriticModel, question: Question<T>): Promise<Asked<T>> {
  const messages = question.messages.slice();
  let usage = NO_USAGE;
  let problem = '';
  for (let attempt = 0; attempt <= RE_ASKS; attempt++) {
    let generation: Generation;
    try {
      generation = await generate(critic, question, messages, attempt);
    } catch (error) {
      question.signal.throwIfAborted();
      if (isTooLong(error)) return { status: 'too-long', usage, unusable: attempt };
      const reason = error instanceof Error ? error.message : String(error);
      return { status: 'failed', problem: reason, usage, unusable: attempt };
    }
    usage = addUsage(usage, generation.usage);
    question.signal.throwIfAborted();
    if (generation.finish === 'context' && generation.text.trim() === '') return { status: 'too-long', usage, unusable: attempt };
    const answer = readJsonAnswer(generation.text, question.schema);
    const complaint = answer.ok ? question.complain?.(answer.value) : answer.problem;
    if (answer.ok && complaint === undefined) return { status: 'answered', value: answer.value, usage, unusable: attempt };
    problem = complaint ?? '';
    messages.push(
      { role: 'assistant', content: generation.text },
      { role: 'user', content: `${problem} Answer again with one JSON object in the form asked for, and nothing else.` },
    );
  }
  return { status: 'unusable', problem, usage, unusable: RE_ASKS + 1 };
}

/** Whether a failed call says that its input does not fit: the one failure that smaller input cures. */
function isTooLong(error: unknown): boolean {
  return error instanceof NacreError && error.code === 'context-length';
}

async function generate<T>(critic: CriticModel, question: Question<T>, messages: readonly Message[], attempt: number): Promise<Generation> {
  for (let retry = 0; ; retry++) {
    try {
      return await critic.generate(messages, {
        temperature: 0.7,
        topP: 1,
        maxTokens: MAX_ANSWER_TOKENS,
        seed: (question.seed + attempt) >>> 0,
        signal: question.signal,
        ...(critic.info.capabilities.json ? { schema: question.jsonSchema } : {}),
      });
    } catch (error) {
      if (question.signal.aborted || isTooLong(error) || retry >= CALL_RETRIES) throw error;
    }
  }
}
