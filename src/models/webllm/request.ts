import { hash32 } from '../../core/random.ts';
import type { GenerationFinish } from '../types.ts';
import type { WebLlmRecord } from './catalogue.ts';
import type { WebLlmOptions, WebLlmRequest } from './engine.ts';
import type { LibraryRequest } from './library.ts';

/** A question in WebLLM's words. */
export function libraryRequest(record: WebLlmRecord, request: WebLlmRequest, options: WebLlmOptions): LibraryRequest {
  const { messages, temperature, topP, maxTokens, seed, stop = [], schema } = request;
  return {
    messages: messages.map(({ role, content }) => ({ role, content })),
    stream: true,
    stream_options: { include_usage: true },
    temperature,
    top_p: topP,
    max_tokens: maxTokens,
    // Models bring penalties of their own, which would bend the distribution.
    presence_penalty: 0,
    frequency_penalty: 0,
    repetition_penalty: 1,
    seed: librarySeed(seed),
    ...(stop.length === 0 ? {} : { stop: [...stop] }),
    ...(schema === undefined ? {} : { response_format: { type: 'json_object', schema: JSON.stringify(schema) } }),
    // Only Qwen3 knows the switch; a schema leaves no room for thoughts.
    ...(/qwen3/i.test(record.model_id) ? { extra_body: { enable_thinking: options.thinking === true && schema === undefined } } : {}),
  };
}

/**
 * WebLLM's generator is linear congruential and starts at the seed itself, so neighbouring seeds draw nearly the same first
 * tokens: spread them first. In [1, 2^31 − 2].
 */
function librarySeed(seed: number): number {
  return (hash32(`webllm ${seed}`) % 0x7fff_fffe) + 1;
}

/** Why an answer ended, by WebLLM's reason and the number of tokens said. */
export function finishOf(reason: string, said: number, maxTokens: number): GenerationFinish {
  if (reason === 'abort') return 'cancelled';
  if (reason !== 'length') return 'stop';
  // Some versions do not count the first token.
  return said + 1 < maxTokens ? 'context' : 'length';
}
