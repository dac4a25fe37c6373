import type { ListedModel, ModelUse } from '../../lab/service.ts';
import type { ModelCapabilities } from '../../models/types.ts';

/** What a runtime is called where people choose it. */
export const RUNTIME_WORDS: Readonly<Record<ModelUse['runtime'], { readonly title: string; readonly about: string }>> = {
  own: { title: 'Nacre', about: "Nacre's own runtime: every layer can be read" },
  llamacpp: { title: 'llama.cpp', about: 'llama.cpp in WebAssembly: the usual choice for GGUF files' },
  webllm: { title: 'WebLLM', about: 'WebLLM on WebGPU: the fastest for large models' },
  endpoint: { title: 'Server', about: 'an OpenAI-compatible server' },
};

export const KIND_WORDS: Readonly<Record<ListedModel['kind'], string>> = {
  shipped: 'shipped with Nacre',
  mlc: 'MLC',
  gguf: 'GGUF',
  endpoint: 'server',
};

export const WHERE_WORDS: Readonly<Record<ListedModel['where'], string>> = {
  shipped: 'part of the page',
  downloaded: 'downloaded, kept in this browser',
  local: 'from this device, kept in this browser',
  server: 'reached over the network',
};

/** What a model can do, in the order in which it is shown. */
export const CAPABILITIES: readonly { readonly id: keyof ModelCapabilities; readonly title: string; readonly about: string }[] = [
  { id: 'chat', title: 'chat', about: 'answers messages' },
  { id: 'json', title: 'JSON', about: 'can be held to a JSON schema' },
  { id: 'logprobs', title: 'log-probs', about: 'tells the probability of its tokens' },
  { id: 'probe', title: 'probe', about: 'its layers can be read' },
  { id: 'train', title: 'train', about: 'its weights can be updated' },
];
