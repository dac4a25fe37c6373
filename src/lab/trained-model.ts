import type { LoadedModel } from '../models/own/source.ts';
import { writeMlc } from '../transformer/mlc/write.ts';
import { unflattenWeights } from '../transformer/parameters.ts';
import { writeSafetensors } from '../transformer/safetensors.ts';

/**
 * A trained policy as a model folder of its own, file by file: MLC format in float16 with the tokenizer of the model it was
 * trained from. @param parameters all weights, flat in parameter order.
 */
export function trainedFiles(
  model: LoadedModel,
  parameters: Float32Array,
): Iterable<{ readonly path: string; readonly bytes: Uint8Array }> {
  const { weights, tokenizerJson, tokenizerConfig, conv, sampling } = model;
  return writeMlc(unflattenWeights(weights, parameters), {
    quantisation: 'q0f16',
    tokenizerJson,
    sampling,
    ...(tokenizerConfig === undefined ? {} : { tokenizerConfig }),
    ...(conv === undefined ? {} : { conv }),
  });
}

/** The same weights as one float32 safetensors file under Hugging Face names. */
export function trainedSafetensors(model: LoadedModel, parameters: Float32Array): Uint8Array {
  return writeSafetensors(unflattenWeights(model.weights, parameters));
}
