import { availableParallelism } from 'node:os';
import { createCpuBackend } from '../../src/tensor/cpu/backend.ts';
import { type Contest, compare } from './compare.ts';
import { nacreThreadedStep } from './nacre-threads.ts';
import { nacreDecode, nacreProduct, nacreTrainStep } from './nacre-works.ts';
import { Peak } from './peak.ts';
import { benchModel } from './peers/model.ts';
import type { BenchRow, Work } from './types.ts';

const PRODUCTS: readonly (readonly [number, number, number])[] = [
  [512, 512, 512],
  [1536, 192, 48],
  [1536, 48, 96],
  [48, 192, 48],
];

type Report = (line: string) => void;
type Sides = Pick<Contest, 'name' | 'size' | 'unit' | 'nacre' | 'beside'>;

/** A peer is imported only when it is wanted; one that is not installed is named in the row. */
async function against(peerName: string, sides: Sides, open: () => Promise<Work>): Promise<BenchRow> {
  try {
    return await compare({ ...sides, peerName, peer: await open() });
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.split('\n')[0] : String(thrown);
    return compare({ ...sides, peerName, peer: undefined, why: `skipped (${why})` });
  }
}

/** Matrix products of one core, also as a share of the most that WASM SIMD can do on it. */
export async function benchProducts(report: Report): Promise<BenchRow[]> {
  report('products: measuring the peak of a core');
  const peak = await Peak.open();
  const backend = await createCpuBackend();
  const products: { readonly nacre: Fastest; readonly rows: readonly BenchRow[] }[] = [];
  for (const [m, n, k] of PRODUCTS) {
    report(`products: ${m}×${n}×${k}`);
    const nacre = new Fastest(giga(nacreProduct(backend, m, n, k)));
    const size = `${m}×${n}×${k}`;
    const sides = { name: 'matrix product', size, unit: 'GFLOP/s', nacre, beside: () => peak.measure() };
    const rows = [
      await against('@jax-js/jax (wasm)', sides, async () => {
        const jax = await import('./peers/jax.ts');
        await jax.openJax('wasm');
        return giga(jax.jaxProduct(m, n, k));
      }),
      await against('@tensorflow/tfjs (wasm)', sides, async () => {
        const tfjs = await import('./peers/tfjs.ts');
        await tfjs.openTfjs();
        return giga(tfjs.tfjsProduct(m, n, k));
      }),
    ];
    products.push({ nacre, rows });
  }
  backend.destroy();
  const best = peak.value / 1e9;
  return [
    { name: 'peak', size: 'one core, f32x4 multiply and add', nacre: best, peer: null, ratio: null, unit: 'GFLOP/s' },
    ...products.flatMap(({ nacre, rows }) =>
      rows.map((row) => withNote(row, `at best ${((100 * nacre.best) / best).toFixed(0)}% of the measured peak`)),
    ),
  ];
}

/** One training step of the shipped model's shape: 10 sequences of 150 tokens. */
export async function benchTraining(report: Report): Promise<BenchRow[]> {
  const model = benchModel(10, 150);
  const rows: BenchRow[] = [];
  for (const threads of new Set([1, availableParallelism()])) {
    report(`training: ${threads} thread(s)`);
    const pool = threads === 1 ? undefined : await nacreThreadedStep(model, threads);
    const nacre = pool?.work ?? (await nacreTrainStep(model, await createCpuBackend()));
    const sides = { name: 'training step', size: `10×150 tokens, 8×48, ${threads} thread(s)`, unit: 'tokens/s', nacre };
    rows.push(
      await against('@jax-js/jax (wasm)', sides, async () => {
        const jax = await import('./peers/jax.ts');
        await jax.openJax('wasm');
        return jax.jaxTrainStep(model);
      }),
      await against('@tensorflow/tfjs (wasm)', sides, async () => {
        const tfjs = await import('./peers/tfjs.ts');
        await tfjs.openTfjs();
        return tfjs.tfjsTrainStep(model);
      }),
    );
    await pool?.close();
  }
  return rows;
}

/** Decoding 48 sequences together behind 60 cached positions. */
export async function benchDecoding(report: Report): Promise<BenchRow[]> {
  report('decoding: 48 sequences');
  const model = benchModel(48, 60);
  const steps = 8;
  const sides = {
    name: 'decode',
    size: '48 sequences, 60 cached positions, 8×48',
    unit: 'tokens/s',
    nacre: await nacreDecode(await createCpuBackend(), model, steps),
  };
  return [
    await against('@jax-js/jax (wasm)', sides, async () => {
      const jax = await import('./peers/jax.ts');
      await jax.openJax('wasm');
      return jax.jaxDecode(model, steps);
    }),
    await against('@tensorflow/tfjs (wasm)', sides, async () => {
      const tfjs = await import('./peers/tfjs.ts');
      await tfjs.openTfjs();
      return tfjs.tfjsDecode(model, steps);
    }),
  ];
}

/** Work that remembers its fastest run, as the peak does: both are what the core can do when it is left alone. */
class Fastest implements Work {
  readonly amount: number;
  private readonly work: Work;
  private most = 0;

  constructor(work: Work) {
    this.amount = work.amount;
    this.work = work;
  }

  /** Amount a second. */
  get best(): number {
    return this.most;
  }

  async run(): Promise<void> {
    const began = performance.now();
    await this.work.run();
    this.most = Math.max(this.most, (this.amount * 1000) / (performance.now() - began));
  }
}

function giga(work: Work): Work {
  return { amount: work.amount / 1e9, run: () => work.run() };
}

function withNote(row: BenchRow, note: string): BenchRow {
  return { ...row, note: row.note ? `${row.note}; ${note}` : note };
}
