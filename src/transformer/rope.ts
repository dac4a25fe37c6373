import { NacreError } from '../core/errors.ts';
import type { DecoderConfig } from './weights.ts';

type RopeConfig = Pick<DecoderConfig, 'headDim' | 'ropeTheta' | 'ropeScaling' | 'ropeFactors'>;

/**
 * Inverse frequencies of the rotary embedding (Su et al. 2021), one per pair of a head: θ^(−2j/headDim), divided by the
 * model's own factors or by those of Llama 3's scaling.
 */
export function ropeFrequencies(config: RopeConfig): Float64Array {
  const factors = config.ropeFactors ?? llama3Factors(config);
  return plainFrequencies(config).map((frequency, j) => frequency / factors[j]!);
}

function plainFrequencies({ headDim, ropeTheta }: RopeConfig): Float64Array {
  return Float64Array.from({ length: headDim / 2 }, (_, j) => ropeTheta ** ((-2 * j) / headDim));
}

/**
 * What Llama 3 divides each frequency by: `factor` for wavelengths beyond `original/low`, 1 below `original/high`, and
 * between them a factor that blends the two frequencies linearly. All 1 without scaling.
 */
export function llama3Factors(config: RopeConfig): Float64Array {
  const { ropeScaling: scaling } = config;
  return plainFrequencies(config).map((frequency) => {
    if (!scaling) return 1;
    const wavelength = (2 * Math.PI) / frequency;
    if (wavelength < scaling.original / scaling.high) return 1;
    if (wavelength > scaling.original / scaling.low) return scaling.factor;
    const blend = (scaling.original / wavelength - scaling.low) / (scaling.high - scaling.low);
    return 1 / ((1 - blend) / scaling.factor + blend);
  });
}

/** For formats that know rotary scaling by Llama 3's parameters only. @throws {NacreError} `rope-factors` */
export function refuseRopeFactors(config: RopeConfig, format: string): void {
  if (config.ropeFactors === undefined) return;
  throw new NacreError(
    'rope-factors',
    `The model divides its rotary frequencies by factors of its own, which ${format} cannot say.`,
    'Use the model in the form it has.',
  );
}

/** Cosines and sines [positions, headDim/2], computed in float64 and rounded once. */
export function ropeTables(frequencies: Float64Array, positions: number): { cos: Float32Array; sin: Float32Array } {
  const half = frequencies.length;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let p = 0; p < positions; p++) {
    for (let j = 0; j < half; j++) {
      const angle = p * frequencies[j]!;
      cos[p * half + j] = Math.cos(angle);
      sin[p * half + j] = Math.sin(angle);
    }
  }
  return { cos, sin };
}
