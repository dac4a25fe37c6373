import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import type { Work } from '../types.ts';
import type { BenchModel } from './model.ts';

/** TensorFlow.js on its WASM backend, in Node. */
export async function openTfjs(): Promise<void> {
  setWasmPaths(`${dirname(createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm'))}/`);
  await tf.setBackend('wasm');
  await tf.ready();
}

export function tfjsProduct(m: number, n: number, k: number): Work {
  const a = tf.ones([m, k]);
  const b = tf.ones([k, n]);
  return {
    amount: 2 * m * n * k,
    async run() {
      const c = tf.matMul(a, b);
      await c.data();
      c.dispose();
    },
  };
}

type Weights = Record<string, tf.Variable>;

interface Fixed {
  /** One-hot ids [batch·time, vocab]: the WASM backend has no gradient of gather, so the embedding is a product. */
  readonly ids: tf.Tensor;
  readonly cos: tf.Tensor;
  readonly sin: tf.Tensor;
  /** Added to the scores. */
  readonly mask: tf.Tensor;
  /** Keys and values of earlier positions, a layer each [batch, kvHeads, past, headDim]. */
  readonly past?: readonly { readonly k: tf.Tensor; readonly v: tf.Tensor }[];
}

/** The decoder of the shipped model in TensorFlow.js: dense attention over [batch, past + time]. */
function logits(model: BenchModel, w: Weights, { ids, mask, past, ...rope }: Fixed): tf.Tensor {
  const { batch, time, heads, kvHeads, headDim, layers, eps, embedScale } = model;
  const rows = batch * time;
  const norm = (x: tf.Tensor, weight: tf.Tensor) => {
    const scale = tf.rsqrt(tf.add(tf.mean(tf.mul(x, x), -1, true), eps));
    return tf.mul(tf.mul(x, scale), weight);
  };
  const rotate = (x: tf.Tensor) => {
    const [left, right] = tf.split(x, 2, -1) as [tf.Tensor, tf.Tensor];
    return tf.concat(
      [tf.sub(tf.mul(left, rope.cos), tf.mul(right, rope.sin)), tf.add(tf.mul(right, rope.cos), tf.mul(left, rope.sin))],
      -1,
    );
  };
  const split = (x: tf.Tensor, count: number) => tf.transpose(tf.reshape(x, [batch, time, count, headDim]), [0, 2, 1, 3]);
  let h: tf.Tensor = tf.mul(tf.matMul(ids as tf.Tensor2D, w.embed! as unknown as tf.Tensor2D), embedScale);
  for (let l = 0; l < layers; l++) {
    const x = norm(h, w[`inputNorm${l}`]!);
    const q = rotate(norm(split(tf.matMul(x, w[`q${l}`]!), heads), w[`qNorm${l}`]!));
    const k = rotate(norm(split(tf.matMul(x, w[`k${l}`]!), kvHeads), w[`kNorm${l}`]!));
    const v = split(tf.matMul(x, w[`v${l}`]!), kvHeads);
    const wide = (t: tf.Tensor) => (heads === kvHeads ? t : tf.tile(t, [1, heads / kvHeads, 1, 1]));
    const cached = past?.[l];
    const keys = cached ? tf.concat([cached.k, k], 2) : k;
    const values = cached ? tf.concat([cached.v, v], 2) : v;
    const scores = tf.add(tf.mul(tf.matMul(q, wide(keys), false, true), headDim ** -0.5), mask);
    const mixed = tf.transpose(tf.matMul(tf.softmax(scores), wide(values)), [0, 2, 1, 3]);
    h = tf.add(h, tf.matMul(tf.reshape(mixed, [rows, heads * headDim]) as tf.Tensor2D, w[`o${l}`]! as tf.Tensor2D));
    const y = norm(h, w[`postNorm${l}`]!) as tf.Tensor2D;
    const gate = tf.matMul(y, w[`gate${l}`]! as tf.Tensor2D);
    const up = tf.matMul(y, w[`up${l}`]! as tf.Tensor2D);
    h = tf.add(h, tf.matMul(tf.mul(tf.mul(gate, tf.sigmoid(gate)), up) as tf.Tensor2D, w[`down${l}`]! as tf.Tensor2D));
  }
  return tf.matMul(norm(h, w.finalNorm!) as tf.Tensor2D, w.embed! as unknown as tf.Tensor2D, false, true);
}

function variables(model: BenchModel): Weights {
  const entries = Object.entries(model.shapes).map(([name, shape]) => [
    name,
    tf.variable(tf.randomNormal([...shape], 0, 0.1, 'float32', 1)),
  ]);
  return Object.fromEntries(entries) as Weights;
}

const oneHot = (ids: number[], vocab: number): tf.Tensor => tf.cast(tf.oneHot(tf.tensor1d(ids, 'int32'), vocab), 'float32');

/** One training step: cross-entropy on every token, gradients of every weight, Adam. */
export function tfjsTrainStep(model: BenchModel): Work {
  const { batch, time, vocab } = model;
  const w = variables(model);
  const targets = oneHot(model.targets, vocab);
  const half = model.headDim / 2;
  const fixed: Fixed = {
    ids: oneHot(model.ids, vocab),
    cos: tf.tensor(model.cos, [1, 1, time, half]),
    sin: tf.tensor(model.sin, [1, 1, time, half]),
    mask: tf.mul(tf.sub(1, tf.linalg.bandPart(tf.ones([time, time]), -1, 0)), -1e9),
  };
  const optimiser = tf.train.adam(1e-3, 0.9, 0.98);
  return {
    amount: batch * time,
    async run() {
      const cost = optimiser.minimize(
        () => tf.neg(tf.mean(tf.sum(tf.mul(targets, tf.logSoftmax(logits(model, w, fixed))), -1))) as tf.Scalar,
        true,
        Object.values(w),
      );
      await cost?.data();
      cost?.dispose();
    },
  };
}

/** Decoding: `steps` calls of one token for each sequence over `model.time` cached positions, the likeliest token read back. */
export function tfjsDecode(model: BenchModel, steps: number): Work {
  const { batch, kvHeads, headDim, layers, time: length, vocab } = model;
  const w = variables(model);
  const half = headDim / 2;
  const cache = () => tf.randomNormal([batch, kvHeads, length, headDim], 0, 1, 'float32', 1);
  const fixed: Fixed = {
    ids: oneHot(model.ids.slice(0, batch), vocab),
    cos: tf.tensor(model.cos.slice(0, half), [1, 1, 1, half]),
    sin: tf.tensor(model.sin.slice(0, half), [1, 1, 1, half]),
    mask: tf.scalar(0),
    past: Array.from({ length: layers }, () => ({ k: cache(), v: cache() })),
  };
  return {
    amount: batch * steps,
    async run() {
      for (let i = 0; i < steps; i++) {
        const next = tf.tidy(() => tf.argMax(logits({ ...model, time: 1 }, w, fixed), -1));
        await next.data();
        next.dispose();
      }
    },
  };
}
