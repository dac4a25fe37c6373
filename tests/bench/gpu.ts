import type { Backend } from '../../src/tensor/backend.ts';
import { compare } from './compare.ts';
import { nacreDecode, nacreProduct, nacreTrainStep } from './nacre-works.ts';
import { benchModel } from './peers/model.ts';
import type { BenchRow, Work } from './types.ts';

/** The peer on the same GPU; undefined where it does not run (then `why` says so). */
export interface GpuPeer {
  readonly name: string;
  readonly why?: string;
  readonly jax?: typeof import('./peers/jax.ts');
}

/** Sizes a software adapter finishes in seconds, and those that keep a real GPU busy. */
function sizes(software: boolean) {
  return software
    ? { product: 128, batch: 2, time: 24, decodeBatch: 8, steps: 2 }
    : { product: 2048, batch: 64, time: 150, decodeBatch: 256, steps: 16 };
}

/** Products, training and decoding on a WebGPU backend. */
export async function benchGpu(backend: Backend, peer: GpuPeer, report: (line: string) => void): Promise<BenchRow[]> {
  const { software, adapter } = backend.info;
  const { product, batch, time, decodeBatch, steps } = sizes(software);
  const contest = { peerName: peer.name, ...(peer.why === undefined ? {} : { why: peer.why }) };
  const rows: BenchRow[] = [];
  report(`webgpu (${adapter}): product ${product}³`);
  rows.push(
    await compare({
      ...contest,
      name: 'matrix product, webgpu',
      size: `${product}³`,
      unit: 'GFLOP/s',
      nacre: giga(nacreProduct(backend, product, product, product)),
      peer: peer.jax && giga(peer.jax.jaxProduct(product, product, product)),
    }),
  );
  const model = benchModel(batch, time);
  report(`webgpu: training step of ${batch}×${time} tokens`);
  rows.push(
    await compare({
      ...contest,
      name: 'training step, webgpu',
      size: `${batch}×${time} tokens, 8×48`,
      unit: 'tokens/s',
      nacre: await nacreTrainStep(model, backend),
      peer: await peer.jax?.jaxTrainStep(model),
    }),
  );
  const decoding = benchModel(decodeBatch, 60);
  report(`webgpu: decoding ${decodeBatch} sequences`);
  rows.push(
    await compare({
      ...contest,
      name: 'decode, webgpu',
      size: `${decodeBatch} sequences, 60 cached positions, 8×48`,
      unit: 'tokens/s',
      nacre: await nacreDecode(backend, decoding, steps),
      peer: peer.jax?.jaxDecode(decoding, steps),
    }),
  );
  return rows.map((row) => ({ ...row, note: [row.note, adapter + (software ? ', software' : '')].filter(Boolean).join('; ') }));
}

function giga(work: Work): Work {
  return { amount: work.amount / 1e9, run: () => work.run() };
}
