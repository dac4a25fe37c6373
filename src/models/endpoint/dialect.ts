import type { Message } from '../../core/types.ts';
import type { GenerateOptions } from '../types.ts';
import type { EndpointError } from './errors.ts';

/** Parameters a request can do without. */
const OPTIONAL = ['stream_options', 'seed', 'top_k', 'stop', 'top_p', 'temperature'] as const;
export type OptionalParameter = (typeof OPTIONAL)[number];

/** What one server and model take of the API; learnt from refusals and remembered as long as the model is open. */
export interface Dialect {
  readonly maxTokensName: 'max_tokens' | 'max_completion_tokens';
  readonly leftOut: readonly OptionalParameter[];
  /** Whether system messages keep their role, or stand before the first user message (some chat templates know no system). */
  readonly system: 'role' | 'merged';
}

export const STANDARD_DIALECT: Dialect = { maxTokensName: 'max_tokens', leftOut: [], system: 'role' };

const NO_SYSTEM = /system (?:role|message|prompt)s?[^.]{0,20} not supported|does not support system|roles must alternate/i;

const NOT_TAKEN =
  /unsupported|not supported|does not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra[ _](?:inputs|fields)|invalid (?:field|parameter|argument)/i;

/** The dialect that a refusal teaches, or undefined when it is about something else. */
export function learn(dialect: Dialect, refusal: EndpointError): Dialect | undefined {
  if (refusal.code !== 'endpoint-refused') return undefined;
  const { said } = refusal;
  if (dialect.maxTokensName === 'max_tokens' && said.includes('max_completion_tokens')) {
    return { ...dialect, maxTokensName: 'max_completion_tokens' };
  }
  if (dialect.system === 'role' && NO_SYSTEM.test(said)) return { ...dialect, system: 'merged' };
  if (!NOT_TAKEN.test(said)) return undefined;
  const refused = OPTIONAL.find((name) => !dialect.leftOut.includes(name) && new RegExp(`\\b${name}\\b`).test(said));
  return refused === undefined ? undefined : { ...dialect, leftOut: [...dialect.leftOut, refused] };
}

/** The body of a chat completion request. Seeds are cut to 31 bits, which every server takes. */
export function requestBody(
  model: string,
  messages: readonly Message[],
  options: GenerateOptions,
  how: { readonly dialect: Dialect; readonly stream: boolean; readonly format: object },
): object {
  const { temperature, topP, topK = 0, maxTokens, seed, stop = [] } = options;
  const optional: Readonly<Record<OptionalParameter, unknown>> = {
    temperature,
    top_p: topP,
    // Not of the original API: sent only when it says something.
    top_k: topK > 0 ? topK : undefined,
    seed: seed & 0x7fff_ffff,
    stop: stop.length > 0 ? stop : undefined,
    stream_options: how.stream ? { include_usage: true } : undefined,
  };
  const taken = Object.entries(optional).filter(
    ([name, value]) => value !== undefined && !how.dialect.leftOut.includes(name as OptionalParameter),
  );
  return {
    model,
    messages: how.dialect.system === 'merged' ? mergeSystem(messages) : messages,
    [how.dialect.maxTokensName]: maxTokens,
    stream: how.stream,
    ...Object.fromEntries(taken),
    ...how.format,
  };
}

function mergeSystem(messages: readonly Message[]): readonly Message[] {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const rest = messages.filter(({ role }) => role !== 'system');
  const [first, ...others] = rest;
  if (system.length === 0) return messages;
  const head = system.join('\n\n');
  if (first?.role !== 'user') return [{ role: 'user', content: head }, ...rest];
  return [{ role: 'user', content: `${head}\n\n${first.content}` }, ...others];
}

/**
 * The most tokens that may be asked for where only the room for the answer was too large: servers count it into the context
 * window. Undefined when the error does not give both numbers or leaves no useful room.
 */
export function roomForAnswer(error: EndpointError, asked: number): number | undefined {
  const whole = /context (?:length|window|size)[^0-9]{0,12}(\d+)/i.exec(error.said)?.[1];
  const input = /(\d+) (?:tokens? )?(?:in the messages|input tokens|in the prompt)|prompt contains[^0-9]{0,12}(\d+)/i.exec(error.said);
  if (error.code !== 'context-length' && error.code !== 'endpoint-refused') return undefined;
  if (whole === undefined || input === null) return undefined;
  const room = Number(whole) - Number(input[1] ?? input[2]) - SPARE_TOKENS;
  return room >= LEAST_ROOM && room < asked ? room : undefined;
}

const SPARE_TOKENS = 8;
const LEAST_ROOM = 64;
