import type { DecoderConfig } from './weights.ts';

/**
 * Inverse frequencies of the rotary embedding (Su et al. 2021), one per pair of a head: θ^(−2j/headDim), with Llama 3's
 * scaling where the model asks for it (long wavelengths stretched by `factor`, short ones kept, a linear blend between).
 */
export function ropeFrequencies(config: Pick<DecoderConfig, 'headDim' | 'ropeTheta' | 'ropeScaling'>): Float64Array {
  const { headDim, ropeTheta, ropeScaling: scaling } = config;
  return Float64Array.from({ length: headDim / 2 }, (_, j) => {
    const frequency = ropeTheta ** ((-2 * j) / headDim);
    if (!scaling) return frequency;
    const wavelength = (2 * Math.PI) / frequency;
    if (wavelength < scaling.original / scaling.high) return frequency;
    if (wavelength > scaling.original / scaling.low) return frequency / scaling.factor;
    const blend = (scaling.original / wavelength - scaling.low) / (scaling.high - scaling.low);
    return ((1 - blend) * frequency) / scaling.factor + blend * frequency;
  });
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
