import { connectService, exposeService } from '../../../src/core/rpc.ts';
import type { Message } from '../../../src/core/types.ts';
import type { TransferProgress } from '../../../src/models/download.ts';
import { cachedGguf, deleteCachedGguf, verifyCachedGguf } from '../../../src/models/llamacpp/gguf-store.ts';
import { type GgufSource, type LlamaCppOptions, WllamaModel } from '../../../src/models/llamacpp/model.ts';
import type { ChatModel, GenerateOptions } from '../../../src/models/types.ts';
import { cachedModels, deleteCached, verifyCached } from '../../../src/models/webllm/cache.ts';
import type { WebLlmRecord } from '../../../src/models/webllm/catalogue.ts';
import type { WebLlmEngine, WebLlmOptions } from '../../../src/models/webllm/engine.ts';
import { downloadPlan } from '../../../src/models/webllm/files.ts';
import { WebLlmModel } from '../../../src/models/webllm/model.ts';
import { textualStep } from './textual-step.ts';

type Watch<T> = (event: T) => void;

/** What the lab's worker does with models, made callable from a test. */
export class ModelService {
  private model: ChatModel | undefined;
  private loading: AbortController | undefined;
  private readonly webllm = connectService<WebLlmEngine>(
    new Worker(new URL('./webllm-worker.ts', import.meta.url), { type: 'module', name: 'webllm' }),
  ).remote;

  async loadGguf(source: GgufSource, options: LlamaCppOptions, onTransfer: Watch<TransferProgress>): Promise<unknown> {
    this.loading = new AbortController();
    this.model = await WllamaModel.load(source, options, { onTransfer, signal: this.loading.signal });
    return this.model.info;
  }

  async cancelLoad(): Promise<void> {
    this.loading?.abort(new DOMException('enough', 'AbortError'));
    await this.webllm.cancelLoad();
  }

  async loadWebLlm(record: WebLlmRecord, options: WebLlmOptions, onTransfer: Watch<TransferProgress>): Promise<unknown> {
    const info = await this.webllm.load(record, options, onTransfer);
    this.model = new WebLlmModel(this.webllm, info);
    return info;
  }

  /** @param abortAtText breaks the answer off when it has so many characters. */
  async ask(
    messages: readonly Message[],
    options: GenerateOptions,
    abortAtText: number | undefined,
    onText: Watch<string>,
  ): Promise<unknown> {
    const abort = new AbortController();
    const watch = (text: string): void => {
      onText(text);
      if (abortAtText !== undefined && text.length >= abortAtText) abort.abort(new DOMException('enough', 'AbortError'));
    };
    return this.model!.generate(messages, { ...options, signal: abort.signal, onText: watch });
  }

  /** One step of TextualRL with the loaded model as target. */
  textualStep(): Promise<unknown> {
    return textualStep(this.model!);
  }

  async close(): Promise<void> {
    await this.model?.close();
  }

  stored(kind: 'gguf' | 'webllm'): Promise<unknown> {
    return kind === 'gguf' ? cachedGguf() : cachedModels();
  }

  remove(kind: 'gguf' | 'webllm', url: string): Promise<number> {
    return kind === 'gguf' ? deleteCachedGguf(url) : deleteCached(url);
  }

  verify(kind: 'gguf' | 'webllm', url: string, repair: boolean): Promise<unknown> {
    return kind === 'gguf' ? verifyCachedGguf(url, { repair }) : verifyCached(url, { repair });
  }

  plan(record: WebLlmRecord): Promise<unknown> {
    return downloadPlan(record);
  }
}

exposeService(new ModelService());
