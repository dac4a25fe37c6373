import { llama3Factors } from '../rope.ts';
import type { RopeScaling } from '../weights.ts';
import { badMetadata, unsupported } from './errors.ts';
import type { Metadata } from './metadata.ts';

export interface RopeOptions {
  readonly ropeScaling?: RopeScaling;
  readonly ropeFactors?: readonly number[];
}

/**
 * How rotary frequencies are scaled. Llama 3's scaling stands in the file as the factor of each frequency (tensor
 * `rope_freqs.weight`): the parameters that give these factors are looked for, so that other formats can name them.
 * @param factors the tensor's numbers
 * @throws {NacreError} `gguf-unsupported` for other kinds of scaling
 */
export function ropeOptions(
  metadata: Metadata,
  architecture: string,
  headDim: number,
  ropeTheta: number,
  factors: Float32Array | undefined,
): RopeOptions {
  const key = (name: string): string => `${architecture}.rope.scaling.${name}`;
  const type = metadata.text(key('type')) ?? (metadata.has(key('factor')) ? 'linear' : 'none');
  if (type === 'linear') {
    const factor = metadata.positive(key('factor'), 1);
    if (factor === 1) return {};
    return { ropeFactors: new Array<number>(headDim / 2).fill(factor) };
  }
  if (type !== 'none') {
    throw unsupported(metadata.file, `rotary scaling "${type}" is not read`, 'Supported: none, linear, and the factors of Llama 3.');
  }
  if (factors === undefined) return {};
  const wrong = factors.findIndex((factor) => !(factor > 0));
  if (wrong >= 0)
    throw badMetadata(metadata.file, 'of tensor rope_freqs.weight', `must be above 0, but element ${wrong} is ${factors[wrong]}`);
  const original = metadata.count(key('original_context_length'), 8192);
  const scaling: RopeScaling = { factor: Math.max(...factors), low: 1, high: 4, original };
  const expected = llama3Factors({ headDim, ropeTheta, ropeScaling: scaling });
  const same = expected.every((value, j) => Math.abs(value - factors[j]) <= 1e-5 * value);
  return same ? { ropeScaling: scaling } : { ropeFactors: [...factors] };
}
