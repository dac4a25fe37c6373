import type { Message } from '../../core/types.ts';
import { stripThinking } from '../think.ts';
import type { ChatModel, GenerateOptions, Generation, ModelInfo } from '../types.ts';
import type { WebLlmHandle } from './engine.ts';

/** A model that WebLLM runs, in another thread or in this one. */
export class WebLlmModel implements ChatModel {
  readonly info: ModelInfo;
  private readonly engine: WebLlmHandle;

  /** @param info what `engine.load` returned. */
  constructor(engine: WebLlmHandle, info: ModelInfo) {
    this.engine = engine;
    this.info = info;
  }

  /**
   * Answers one conversation, after those asked before. Reasoning is counted and left out of the text.
   * @throws {NacreError} `context-length`, `gpu-lost`, `schema-refused` and what else `webLlmError` names; the signal's reason
   *   when it is aborted
   */
  async generate(messages: readonly Message[], options: GenerateOptions): Promise<Generation> {
    const { signal, onText, temperature, topP, topK, maxTokens, seed, schema, stop } = options;
    signal?.throwIfAborted();
    const started = performance.now();
    const id = crypto.randomUUID();
    const cancel = (): void => {
      // An engine that cannot cancel is dead, which the call in progress reports.
      this.engine.cancel(id).catch(() => undefined);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const request = {
        id,
        messages,
        temperature,
        topP,
        maxTokens,
        seed,
        ...(topK === undefined ? {} : { topK }),
        ...(schema === undefined ? {} : { schema }),
        ...(stop === undefined ? {} : { stop }),
      };
      const watch = onText ? [(text: string): void => onText(stripThinking(text))] : [];
      const { text, finish, inputTokens, outputTokens, historyTokens, tokens } = await this.engine.generate(request, ...watch);
      signal?.throwIfAborted();
      return {
        text: stripThinking(text),
        finish,
        usage: { calls: 1, inputTokens, outputTokens, textVolume: historyTokens + outputTokens, ms: performance.now() - started },
        ...(tokens === undefined ? {} : { tokens }),
      };
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}
