import type { Message } from '../../core/types.ts';
import type { WebLlmRecord } from './catalogue.ts';
import type { LogitHook } from './trace.ts';

/** The part of @mlc-ai/web-llm that is used, so that tests can stand in for it. */
export interface WebLlmLibrary {
  readonly MLCEngine: new (config: LibraryConfig) => LibraryEngine;
}

export interface LibraryConfig {
  readonly appConfig: { readonly model_list: WebLlmRecord[]; readonly cacheBackend: 'cache' };
  readonly initProgressCallback: (report: { readonly progress: number; readonly text: string }) => void;
  readonly logitProcessorRegistry?: Map<string, LogitHook>;
  readonly logLevel: 'WARN';
}

export interface LibraryEngine {
  /** Resolves as well when it was broken off by `unload`. */
  reload(model: string, options?: { readonly context_window_size?: number }): Promise<void>;
  unload(): Promise<void>;
  /** Ends whatever is being generated, after the current token. */
  interruptGenerate(): unknown;
  resetChat(keepStats?: boolean): Promise<void>;
  /** The answer so far, stop texts cut off. */
  getMessage(): Promise<string>;
  readonly chat: { readonly completions: { create(request: LibraryRequest): Promise<AsyncIterable<LibraryChunk>> } };
}

export interface LibraryRequest {
  readonly messages: Message[];
  readonly stream: true;
  readonly stream_options: { readonly include_usage: true };
  readonly temperature: number;
  readonly top_p: number;
  readonly max_tokens: number;
  readonly presence_penalty: number;
  readonly frequency_penalty: number;
  readonly repetition_penalty: number;
  readonly seed: number;
  readonly stop?: string[];
  readonly response_format?: { readonly type: 'json_object'; readonly schema: string };
  readonly extra_body?: { readonly enable_thinking: boolean };
}

export interface LibraryChunk {
  readonly choices: readonly { readonly finish_reason?: string | null }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** Loads the package, 2 MB compressed: only when a WebLLM model is. */
export async function importWebLlm(): Promise<WebLlmLibrary> {
  return (await import('@mlc-ai/web-llm')) as unknown as WebLlmLibrary;
}

interface Pipeline {
  readonly filledKVCacheLength?: number;
  readonly tvm?: { readonly lib?: { readonly webGPUContext?: { readonly device?: GPUDevice } } };
}

/**
 * The pipeline of the loaded model, which is not part of the package's interface: what is read from it has a fallback, so that
 * a version without it loses comfort, not function.
 */
function pipelineOf(engine: LibraryEngine, model: string): Pipeline | undefined {
  const map = (engine as { readonly loadedModelIdToPipeline?: unknown }).loadedModelIdToPipeline;
  return map instanceof Map ? (map.get(model) as Pipeline | undefined) : undefined;
}

/** The device a model runs on. WebLLM only logs its loss, and lets calls in progress hang. */
export function deviceOf(engine: LibraryEngine, model: string): GPUDevice | undefined {
  return pipelineOf(engine, model)?.tvm?.lib?.webGPUContext?.device;
}

/** Tokens the model has read and said, those kept from earlier calls included. */
export function heldTokens(engine: LibraryEngine, model: string): number | undefined {
  return pipelineOf(engine, model)?.filledKVCacheLength;
}
