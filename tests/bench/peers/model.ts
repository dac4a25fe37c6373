import { Random } from '../../../src/core/random.ts';

/** The shipped model's shape and one training batch, in the form peers build their own decoder from. */
export interface BenchModel {
  readonly batch: number;
  readonly time: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly ffn: number;
  readonly vocab: number;
  readonly eps: number;
  readonly embedScale: number;
  /** Every weight, projections as [in, out]. */
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly ids: number[];
  readonly targets: number[];
  /** RoPE tables [time, headDim/2]. */
  readonly cos: number[];
  readonly sin: number[];
}

export function benchModel(batch: number, time: number): BenchModel {
  const dims = {
    hidden: 48,
    layers: 8,
    heads: 3,
    kvHeads: 1,
    headDim: 16,
    ffn: 96,
    vocab: 512,
    eps: 1e-6,
    embedScale: 0.5 * Math.sqrt(48),
  };
  const shapes: Record<string, number[]> = { embed: [dims.vocab, dims.hidden], finalNorm: [dims.hidden] };
  for (let l = 0; l < dims.layers; l++) {
    shapes[`inputNorm${l}`] = [dims.hidden];
    shapes[`postNorm${l}`] = [dims.hidden];
    shapes[`qNorm${l}`] = [dims.headDim];
    shapes[`kNorm${l}`] = [dims.headDim];
    shapes[`q${l}`] = [dims.hidden, dims.heads * dims.headDim];
    shapes[`k${l}`] = [dims.hidden, dims.kvHeads * dims.headDim];
    shapes[`v${l}`] = [dims.hidden, dims.kvHeads * dims.headDim];
    shapes[`o${l}`] = [dims.heads * dims.headDim, dims.hidden];
    shapes[`gate${l}`] = [dims.hidden, dims.ffn];
    shapes[`up${l}`] = [dims.hidden, dims.ffn];
    shapes[`down${l}`] = [dims.ffn, dims.hidden];
  }
  const random = new Random(1, 'bench');
  const ids = Array.from({ length: batch * time }, () => random.int(dims.vocab));
  const targets = Array.from({ length: batch * time }, () => random.int(dims.vocab));
  const half = dims.headDim / 2;
  const angle = (i: number) => Math.floor(i / half) / 1e4 ** ((2 * (i % half)) / dims.headDim);
  const table = (f: (x: number) => number) => Array.from({ length: time * half }, (_, i) => f(angle(i)));
  return { batch, time, ...dims, shapes, ids, targets, cos: table(Math.cos), sin: table(Math.sin) };
}
