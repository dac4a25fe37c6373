import { LoggerWithoutDebug, Wllama } from '@wllama/wllama';
import wasm from '@wllama/wllama/esm/wasm/wllama.wasm?url';
import type { Speaker } from '../smollm.ts';

/** llama.cpp with a GGUF model on the CPU; all but the context and the threads as the package has it. */
export async function openWllama(file: Blob, threads: number): Promise<Speaker> {
  const quiet = { ...LoggerWithoutDebug, log: () => undefined, warn: () => undefined };
  // Its stores are not needed, and would want a place to keep files.
  const unused = {} as never;
  const wllama = new Wllama({ default: wasm }, { logger: quiet, cacheManager: unused, modelManager: unused });
  await wllama.loadModel([file], {
    n_ctx: 1024,
    n_threads: threads,
    n_gpu_layers: 0,
    n_parallel: 1,
    jinja: true,
    reasoning_format: 'none',
  });
  const got = wllama.getNumThreads();
  if (got !== threads) throw new Error(`wllama runs ${got} threads, not ${threads}`);
  return {
    name: `@wllama/wllama, ${threads} ${threads === 1 ? 'thread' : 'threads'}`,
    async say(messages, maxTokens, onText) {
      const began = performance.now();
      let promptTokens = 0;
      let tokens = 0;
      await wllama.createChatCompletion({
        messages: messages.map(({ content }) => ({ role: 'user', content })),
        stream: true,
        temperature: 0,
        max_tokens: maxTokens,
        cache_prompt: false,
        onData({ choices, usage, timings }) {
          if (choices[0]?.delta?.content) onText();
          promptTokens = usage?.prompt_tokens ?? timings?.prompt_n ?? promptTokens;
          tokens = usage?.completion_tokens ?? timings?.predicted_n ?? tokens;
          if (usage?.prompt_tokens_details?.cached_tokens) throw new Error('wllama took the prompt from its cache');
        },
      });
      return { ms: performance.now() - began, promptTokens, tokens };
    },
  };
}
