import type { Message } from '../../core/types.ts';
import { EndpointError } from './errors.ts';

/** How a server is held to JSON, best first. */
export const ANSWER_FORMATS = ['json_schema', 'json_object', 'plain'] as const;
export type AnswerFormat = (typeof ANSWER_FORMATS)[number];

/** The next weaker format, or undefined after `plain`. */
export function weaker(format: AnswerFormat): AnswerFormat | undefined {
  return ANSWER_FORMATS[ANSWER_FORMATS.indexOf(format) + 1];
}

/** The fields of the request for a format. */
export function formatFields(format: AnswerFormat, schema: object): object {
  if (format === 'plain') return {};
  if (format === 'json_object') return { response_format: { type: 'json_object' } };
  const strict = isStrict(schema) ? { strict: true } : {};
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, ...strict } } };
}

/**
 * The messages for a format: where the server does not enforce the schema, the last message states it. (JSON mode also wants
 * the word JSON in the messages.)
 */
export function formatMessages(format: AnswerFormat, schema: object, messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (format === 'json_schema' || !last) return messages;
  const wish = `Answer with one JSON value that fits this JSON schema, and nothing else:\n${JSON.stringify(schema)}`;
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${wish}` }];
}

export const PROBE_SCHEMA = {
  type: 'object',
  properties: { colour: { type: 'string' } },
  required: ['colour'],
  additionalProperties: false,
};
/** Says nothing of JSON, so that an answer in JSON shows that the server enforces it. */
export const PROBE_MESSAGES: readonly Message[] = [{ role: 'user', content: 'Name one colour.' }];
/** Room for a model that thinks first. */
export const PROBE_TOKENS = 512;

/** What the probe's question got: its visible text, and whether the answer was cut off. */
export interface ProbeAnswer {
  readonly text: string;
  readonly cut: boolean;
}

/**
 * Finds the best format that a server takes and honours, by asking a small question in each.
 * @throws {EndpointError} when the server fails in ways that have nothing to do with formats
 */
export async function probeFormat(ask: (format: AnswerFormat) => Promise<ProbeAnswer>): Promise<AnswerFormat> {
  let ill = false;
  for (const format of ['json_schema', 'json_object'] as const) {
    try {
      const { text, cut } = await ask(format);
      // An answer that was cut off amid its reasoning shows nothing; at least the server took the request.
      if ((text.trim() === '' && cut) || fitsProbe(text)) return format;
    } catch (error) {
      if (!(error instanceof EndpointError) || !(error.code in FORMAT_FAILURES)) throw error;
      ill ||= error.code !== 'endpoint-refused';
    }
  }
  // Some servers crash on formats they do not know. One that fails without any is just ill.
  if (ill) await ask('plain');
  return 'plain';
}

const FORMAT_FAILURES = { 'endpoint-refused': true, 'endpoint-server': true, 'endpoint-malformed': true };

function fitsProbe(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'colour' in value && typeof value.colour === 'string';
  } catch {
    // Prose: the server ignored the format.
    return false;
  }
}

/** Whether a schema keeps the rules of strict mode: objects closed and all their properties required. */
export function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as Record<string, unknown>;
  if (type === 'object' || properties !== undefined) {
    if (additionalProperties !== false) return false;
    const names = Object.keys((properties ?? {}) as object);
    if (!Array.isArray(required) || !names.every((name) => required.includes(name))) return false;
    if (!names.every((name) => isStrict((properties as Record<string, unknown>)[name]))) return false;
  }
  const parts = schema as Record<string, unknown>;
  return ['items', 'anyOf', 'oneOf', 'allOf', '$defs'].every((name) =>
    name === '$defs' ? Object.values((parts[name] ?? {}) as object).every(isStrict) : isStrict(parts[name]),
  );
}
