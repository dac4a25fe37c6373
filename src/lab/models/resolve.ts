import { NacreError } from '../../core/errors.ts';
import { type CachedGguf, ggufUrl, titleOf } from '../../models/llamacpp/gguf-store.ts';
import { isShipped, type ShippedModel } from '../../models/own/shipped.ts';
import type { ModelSource } from '../../models/own/source.ts';
import { filesUrl } from '../../models/own/webllm-cache.ts';
import type { CachedWebLlmModel } from '../../models/webllm/cache.ts';
import { customRecord, fitOf, variantFor, type WebLlmMachine, type WebLlmRecord, webLlmEntries } from '../../models/webllm/catalogue.ts';
import { isGgufName } from '../../transformer/file-source.ts';
import type { ModelChoice } from '../config.ts';

/** What is stored in this browser. */
export interface StoredModels {
  readonly mlc: readonly CachedWebLlmModel[];
  readonly gguf: readonly CachedGguf[];
}

/** How a chosen model is brought to run. */
export type ModelPlan =
  | { readonly runtime: 'own'; readonly from: 'source'; readonly source: ModelSource }
  /** A GGUF file that is stored, or is stored first. */
  | { readonly runtime: 'own'; readonly from: 'gguf'; readonly url: string }
  /** A model of WebLLM's list that is stored, or is stored first. */
  | { readonly runtime: 'own'; readonly from: 'mlc'; readonly record: WebLlmRecord; readonly stored: boolean }
  | { readonly runtime: 'llamacpp'; readonly url: string }
  | { readonly runtime: 'webllm'; readonly record: WebLlmRecord };

/** Makes a plan for a model that is no server. @throws {NacreError} `unknown-model`, `runtime-unsuitable`, `model-does-not-fit` */
export function planModel({ model, runtime = 'own' }: ModelChoice, stored: StoredModels, machine: WebLlmMachine): ModelPlan {
  if (isShipped(model)) return shippedPlan(model);
  const gguf = ggufOf(model, stored);
  if (gguf !== undefined) {
    if (runtime === 'webllm')
      throw unsuitable(model, 'WebLLM runs models in MLC format, not GGUF files', 'Choose the runtime llamacpp or own.');
    return runtime === 'llamacpp' ? { runtime, url: gguf } : { runtime: 'own', from: 'gguf', url: gguf };
  }
  if (runtime === 'llamacpp' && (isAddress(model) || recordOf(model, stored) !== undefined)) {
    throw unsuitable(model, 'llama.cpp runs GGUF files only', 'Choose the runtime own or webllm, or the address of a .gguf file.');
  }
  if (runtime === 'webllm') return { runtime, record: webLlmRecord(model, stored, machine) };
  const known = recordOf(model, stored);
  if (known) return { runtime: 'own', from: 'mlc', record: known, stored: stored.mlc.some(({ url }) => url === filesUrl(known.model)) };
  if (isAddress(model)) return { runtime: 'own', from: 'source', source: { kind: 'url', url: model } };
  throw unknownModel(model);
}

/** Needs to know nothing of what is stored. */
export function shippedPlan(id: ShippedModel): ModelPlan {
  return { runtime: 'own', from: 'source', source: { kind: 'shipped', id } };
}

/** The address by which a GGUF file is kept, for its address or the name it is listed by. */
function ggufOf(model: string, { gguf }: StoredModels): string | undefined {
  if (isAddress(model)) return isGgufName(new URL(model).pathname) ? ggufUrl(model) : undefined;
  const name = titleOf(model);
  return gguf.find(({ title }) => title === model || title === name)?.url;
}

/** A stored model in MLC format, or one of WebLLM's list. */
function recordOf(model: string, { mlc }: StoredModels): WebLlmRecord | undefined {
  const kept = mlc.find(({ title, url }) => title === model || (isAddress(model) && url === filesUrl(model)));
  return kept?.record ?? webLlmEntries().find(({ id }) => id === model)?.record;
}

function webLlmRecord(model: string, stored: StoredModels, machine: WebLlmMachine): WebLlmRecord {
  const record = recordOf(model, stored) ?? (isAddress(model) ? customRecord(model) : undefined);
  if (!record) {
    if (!isAddress(model)) throw unknownModel(model);
    throw new NacreError(
      'library-missing',
      `target.model: WebLLM needs a library compiled for the model at ${model}, and no listed model has its name.`,
      'Choose the runtime own, or add the model with its library as a folder of this device.',
    );
  }
  const entry = webLlmEntries([record])[0];
  // What is stored needs no room; embedding models are in no list.
  const { freeBytes: _, ...fixed } = machine;
  const fit = entry && fitOf(entry, fixed);
  if (fit && !fit.runs) {
    const twin = variantFor(entry.id, machine);
    const hint =
      twin && twin.id !== entry.id
        ? `Choose ${twin.id}, the same model in single precision.`
        : 'Choose a smaller model, or the runtime own.';
    throw new NacreError('model-does-not-fit', `${entry.id} cannot run here: ${fit.reason}`, hint);
  }
  return record;
}

export function isAddress(model: string): boolean {
  return /^https?:\/\//i.test(model);
}

function unsuitable(model: string, why: string, hint: string): NacreError {
  return new NacreError('runtime-unsuitable', `target.runtime: ${model} cannot run so: ${why}.`, hint);
}

function unknownModel(model: string): NacreError {
  return new NacreError(
    'unknown-model',
    `target.model: "${model}" is neither a shipped model, a model stored in this browser or listed by WebLLM, nor an address.`,
    'Use nacre-tiny, a name from the list of models, or the https address of a folder in MLC format or of a .gguf file.',
  );
}
