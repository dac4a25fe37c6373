import * as v from 'valibot';
import { malformed } from './errors.ts';
import { parseReply, type Transport } from './transport.ts';

/** A model that a server offers. */
export interface OfferedModel {
  readonly id: string;
  /** Tokens it reads in all, where the server says so. */
  readonly contextLength?: number;
}

const size = v.nullish(v.unknown());
const List = v.object({
  data: v.array(
    v.object({
      id: v.string(),
      max_model_len: size,
      context_length: size,
      max_context_length: size,
      meta: v.nullish(v.object({ n_ctx_train: size })),
    }),
  ),
});

/** `GET /models`, in the server's order. @throws {EndpointError} as the exchange does; `endpoint-malformed` for something else. */
export function fetchModels(transport: Transport, signal?: AbortSignal): Promise<readonly OfferedModel[]> {
  return transport.exchange({
    path: '/models',
    signal,
    read: async (reply) => {
      const parsed = v.safeParse(List, parseReply(reply.url, await reply.text()));
      if (!parsed.success) throw malformed(reply.url, 'it is no list of models');
      return parsed.output.data.map(({ id, max_model_len, context_length, max_context_length, meta }): OfferedModel => {
        const contextLength = [max_model_len, context_length, max_context_length, meta?.n_ctx_train].find(isSize);
        return { id, ...(contextLength === undefined ? {} : { contextLength }) };
      });
    },
  });
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
