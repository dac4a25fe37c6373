import type { Message } from '../../core/types.ts';

/** The part of @wllama/wllama that is used, so that tests can stand in for it. */
export interface WllamaInstance {
  loadModel(files: Blob[], params: WllamaLoad): Promise<void>;
  getModelMetadata(): { readonly meta: Readonly<Record<string, string>> };
  getLoadedContextInfo(): { readonly n_ctx: number; readonly n_ctx_train: number };
  getNumThreads(): number;
  createChatCompletion(request: WllamaRequest): Promise<unknown>;
  exit(): Promise<void>;
}

export interface WllamaLoad {
  readonly n_ctx: number;
  readonly n_batch: number;
  readonly n_threads: number;
  readonly n_gpu_layers: number;
  readonly n_parallel: number;
  readonly jinja: boolean;
  readonly reasoning_format: 'none';
  readonly log_level: number;
}

/** What llama.cpp's server takes; the names are its own. */
export interface WllamaRequest {
  readonly messages: Message[];
  readonly stream: true;
  readonly stream_options: { readonly include_usage: true };
  readonly onData: (chunk: WllamaChunk) => void;
  readonly abortSignal: AbortSignal;
  readonly temperature: number;
  readonly top_p: number;
  readonly top_k: number;
  readonly min_p: number;
  readonly seed: number;
  readonly max_tokens: number;
  readonly cache_prompt: boolean;
  readonly chat_template_kwargs: Readonly<Record<string, unknown>>;
  readonly stop?: string[];
  readonly response_format?: { readonly type: 'json_schema'; readonly json_schema: { readonly name: string; readonly schema: object } };
  readonly logprobs?: boolean;
  readonly top_logprobs?: number;
}

export interface WllamaChunk {
  readonly choices: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
    readonly logprobs?: { readonly content?: readonly WllamaLogprob[] | null } | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number };
  } | null;
}

export interface WllamaLogprob {
  readonly id?: number;
  readonly token: string;
  readonly logprob: number;
}

export interface WllamaLogger {
  debug(...words: unknown[]): void;
  log(...words: unknown[]): void;
  warn(...words: unknown[]): void;
  error(...words: unknown[]): void;
}

export type CreateWllama = (logger: WllamaLogger) => Promise<WllamaInstance>;

/**
 * Loads the package; its 10 MB of WebAssembly come from this page's own folder. Browsers that cannot suspend WebAssembly or address
 * it with 64 bits (Safari) get the build for them, from the same folder.
 */
export const createWllama: CreateWllama = async (logger) => {
  const [{ Wllama }, { default: wasm }, { default: compatWasm }, { default: compatWorker }] = await Promise.all([
    import('@wllama/wllama'),
    import('@wllama/wllama/esm/wasm/wllama.wasm?url'),
    import('@wllama/wllama-compat/wasm/wllama.wasm?url'),
    import('@wllama/wllama-compat/wasm/wllama.js?url'),
  ]);
  // Files are kept by Nacre itself: the package's own store would refuse to start where there is none.
  const unused = {} as never;
  const instance = new Wllama({ default: wasm }, { logger: logger as Console, cacheManager: unused, modelManager: unused });
  instance.setCompat({ wasm: compatWasm, worker: compatWorker });
  return instance as unknown as WllamaInstance;
};
