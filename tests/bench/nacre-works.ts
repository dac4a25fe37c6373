import { Random } from '../../src/core/random.ts';
import type { Backend } from '../../src/tensor/backend.ts';
import { Decoder } from '../../src/transformer/decoder.ts';
import { ParallelTrainer } from '../../src/transformer/parallel.ts';
import { SequencePool } from '../../src/transformer/session.ts';
import { Trainer } from '../../src/transformer/train.ts';
import type { TrainBatch } from '../../src/transformer/train-batch.ts';
import type { DecoderWeights, LayerWeights } from '../../src/transformer/weights.ts';
import type { BenchModel } from './peers/model.ts';
import type { Work } from './types.ts';

/** Random weights of the bench's shape: only the sizes matter for speed. */
export function benchWeights(model: BenchModel): DecoderWeights {
  const random = new Random(2, 'weights');
  const vector = (n: number, value = 1) => new Float32Array(n).fill(value);
  const matrix = (rows: number, cols: number) => ({
    format: 'f32' as const,
    rows,
    cols,
    data: Float32Array.from({ length: rows * cols }, () => 0.1 * random.normal()),
  });
  const { hidden, heads, kvHeads, headDim, ffn, vocab, layers } = model;
  const layer = (): LayerWeights => ({
    inputNorm: vector(hidden),
    qkv: matrix((heads + 2 * kvHeads) * headDim, hidden),
    qNorm: vector(headDim),
    kNorm: vector(headDim),
    o: matrix(hidden, heads * headDim),
    postNorm: vector(hidden),
    gateUp: matrix(2 * ffn, hidden),
    down: matrix(hidden, ffn),
  });
  return {
    config: {
      architecture: 'qwen3',
      hidden,
      layers,
      heads,
      kvHeads,
      headDim,
      ffn,
      vocab,
      ropeTheta: 1e4,
      normEps: model.eps,
      tied: true,
      embedScale: model.embedScale,
      contextLength: 1024,
      eosIds: [],
    },
    embed: matrix(vocab, hidden),
    layers: Array.from({ length: layers }, layer),
    finalNorm: vector(hidden),
  };
}

export function nacreProduct(backend: Backend, m: number, n: number, k: number): Work {
  const ones = (length: number) => new Float32Array(length).fill(1);
  const w = backend.matrix({ format: 'f32', rows: n, cols: k, data: ones(n * k) }, 'bench w');
  const x = backend.upload(ones(m * k), 'bench x');
  const out = backend.create('f32', m * n, 'bench out');
  return {
    amount: 2 * m * n * k,
    async run() {
      backend.linear({ out, x, w, rows: m, accumulate: false });
      await backend.read(out, 0, 1);
    },
  };
}

/** The bench's batch for the trainer. */
export function trainBatch(model: BenchModel): TrainBatch {
  return {
    tokens: Uint32Array.from(model.ids),
    targets: Uint32Array.from(model.targets),
    weights: new Float32Array(model.ids.length).fill(1),
    sequenceStarts: Uint32Array.from({ length: model.batch }, (_, i) => i * model.time),
  };
}

/** A training step on one backend in this thread. */
export async function nacreTrainStep(model: BenchModel, backend: Backend): Promise<Work> {
  const trainer = new ParallelTrainer([new Trainer(new Decoder(backend, benchWeights(model)))], 1);
  const batch = trainBatch(model);
  return {
    amount: model.batch * model.time,
    async run() {
      await trainer.step(batch, { lr: 1e-3, clipNorm: 1 });
    },
  };
}

/** Ragged decoding: `batch` sequences on a shared prefix, one token each a call. */
export async function nacreDecode(backend: Backend, model: BenchModel, steps: number): Promise<Work> {
  const pool = new SequencePool(new Decoder(backend, benchWeights(model)));
  const prefix = await pool.createPrefix(model.ids.slice(0, model.time));
  return {
    amount: model.batch * steps,
    async run() {
      const sequences = Array.from({ length: model.batch }, () => pool.start(prefix));
      await pool.decodeTurn(
        sequences.map((sequence, i) => ({
          sequence,
          tokens: [model.ids[i]!],
          maxTokens: steps,
          stopIds: [],
          random: new Random(i, 'decode'),
          temperature: 1,
          topP: 1,
        })),
      );
      for (const sequence of sequences) pool.release(sequence);
    },
  };
}
