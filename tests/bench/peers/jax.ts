import { blockUntilReady, defaultDevice, init, jit, nn, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import type { Work } from '../types.ts';
import type { BenchModel } from './model.ts';

/** jax-js on the named device. @throws {Error} when this platform has no such device. */
export async function openJax(device: 'wasm' | 'webgpu'): Promise<void> {
  const devices = await init(device);
  if (!devices.includes(device)) throw new Error(`no ${device} device (has ${devices.join(', ')})`);
  defaultDevice(device);
}

export function jaxProduct(m: number, n: number, k: number): Work {
  const a = np.ones([m, k]);
  const b = np.ones([k, n]);
  return {
    amount: 2 * m * n * k,
    async run() {
      const c = np.matmul(a.ref, b.ref);
      await blockUntilReady(c);
      c.dispose();
    },
  };
}

type Weights = Record<string, np.Array>;

interface Fixed {
  readonly ids: np.Array;
  readonly cos: np.Array;
  readonly sin: np.Array;
  readonly mask: np.Array;
  /** Keys and values of earlier positions, `k0`, `v0`, …: [batch, kvHeads, past, headDim]. */
  readonly past?: Weights;
}

/** The decoder of the shipped model in jax-js: dense causal attention over [batch, time]. jax-js consumes arrays, hence `.ref`. */
function logits(model: BenchModel, w: Weights, fixed: Fixed): np.Array {
  const { batch, time, hidden, heads, kvHeads, headDim, layers, eps, embedScale } = model;
  const rows = batch * time;
  const use = (name: string) => w[name]!.ref;
  const norm = (x: np.Array, weight: np.Array) => {
    const scale = np.reciprocal(np.sqrt(np.mean(np.square(x.ref), -1, { keepdims: true }).add(eps)));
    return x.mul(scale).mul(weight);
  };
  const rotate = (x: np.Array) => {
    const [left, right] = np.split(x, 2, -1) as [np.Array, np.Array];
    const turned = [left.ref.mul(fixed.cos.ref).sub(right.ref.mul(fixed.sin.ref)), right.mul(fixed.cos.ref).add(left.mul(fixed.sin.ref))];
    return np.concatenate(turned, -1);
  };
  const split = (x: np.Array, count: number) => x.reshape([batch, time, count, headDim]).transpose([0, 2, 1, 3]);
  let h = np.matmul(fixed.ids.ref, use('embed')).mul(embedScale).reshape([rows, hidden]);
  for (let l = 0; l < layers; l++) {
    const x = norm(h.ref, use(`inputNorm${l}`));
    const q = rotate(norm(split(np.matmul(x.ref, use(`q${l}`)), heads), use(`qNorm${l}`)));
    const k = rotate(norm(split(np.matmul(x.ref, use(`k${l}`)), kvHeads), use(`kNorm${l}`)));
    const v = split(np.matmul(x, use(`v${l}`)), kvHeads);
    const scores = np
      .matmul(q, k.transpose([0, 1, 3, 2]))
      .mul(headDim ** -0.5)
      .add(fixed.mask.ref);
    const mixed = np
      .matmul(nn.softmax(scores, -1), v)
      .transpose([0, 2, 1, 3])
      .reshape([rows, heads * headDim]);
    h = h.add(np.matmul(mixed, use(`o${l}`)));
    const y = norm(h.ref, use(`postNorm${l}`));
    const gate = np.matmul(y.ref, use(`gate${l}`));
    const up = np.matmul(y, use(`up${l}`));
    h = h.add(np.matmul(nn.silu(gate).mul(up), use(`down${l}`)));
  }
  return np.matmul(norm(h, use('finalNorm')), use('embed').transpose());
}

const array = (data: number[], shape: number[]) => np.array(new Float32Array(data), { dtype: np.float32 }).reshape(shape);

function startWeights(model: BenchModel): Weights {
  const entries = Object.entries(model.shapes).map(([name, shape]) => {
    const count = shape.reduce((a, b) => a * b, 1);
    return [
      name,
      array(
        Array.from({ length: count }, (_, i) => 0.1 * Math.sin(i * 12.9898 + name.length)),
        [...shape],
      ),
    ];
  });
  return Object.fromEntries(entries) as Weights;
}

/** One training step: cross-entropy on every token, gradients of every weight, Adam; compiled by `jit`. */
export async function jaxTrainStep(model: BenchModel): Promise<Work> {
  const { batch, time, vocab, shapes, headDim } = model;
  const half = headDim / 2;
  const fixed = {
    ids: nn.oneHot(np.array(model.ids, { dtype: np.int32 }), vocab),
    targets: nn.oneHot(np.array(model.targets, { dtype: np.int32 }), vocab),
    cos: array(model.cos, [1, 1, time, half]),
    sin: array(model.sin, [1, 1, time, half]),
    mask: np
      .tril(np.ones([time, time]))
      .sub(1)
      .mul(1e9),
  };
  const zeros = () => Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, np.zeros([...shape])])) as Weights;
  const gradient = valueAndGrad((weights: Weights, ...rest: np.Array[]) => {
    const [ids, targets, cos, sin, mask] = rest as [np.Array, np.Array, np.Array, np.Array, np.Array];
    return np.mean(np.sum(nn.logSoftmax(logits(model, weights, { ids, cos, sin, mask }), -1).mul(targets.ref), -1)).mul(-1);
  });
  const update = jit((weights: Weights, m: Weights, v: Weights, ...rest: np.Array[]) => {
    const [loss, grads] = gradient(tree.ref(weights), ...rest) as [np.Array, Weights];
    const next: [Weights, Weights, Weights] = [{}, {}, {}];
    for (const name of Object.keys(weights)) {
      const g = grads[name]!;
      const m1 = m[name]!.mul(0.9).add(g.ref.mul(0.1));
      const v1 = v[name]!.mul(0.98).add(np.square(g).mul(0.02));
      next[0][name] = weights[name]!.sub(m1.ref.mul(1e-3).div(np.sqrt(v1.ref).add(1e-8)));
      next[1][name] = m1;
      next[2][name] = v1;
    }
    return [loss, ...next] as [np.Array, Weights, Weights, Weights];
  });
  let state: [Weights, Weights, Weights] = [startWeights(model), zeros(), zeros()];
  return {
    amount: batch * time,
    async run() {
      const constants = [fixed.ids, fixed.targets, fixed.cos, fixed.sin, fixed.mask].map((x) => x.ref);
      const [loss, ...next] = update(...state, ...constants);
      state = next;
      await loss.data();
      await blockUntilReady(next);
    },
  };
}

/** Decoding: `steps` calls of one token for each sequence over `model.time` cached positions, the likeliest token read back. */
export function jaxDecode(model: BenchModel, steps: number): Work {
  const { batch, kvHeads, headDim, layers, time: length, vocab } = model;
  const half = headDim / 2;
  const past: Weights = {};
  for (let l = 0; l < layers; l++) {
    past[`k${l}`] = np.ones([batch, kvHeads, length, headDim]);
    past[`v${l}`] = np.ones([batch, kvHeads, length, headDim]);
  }
  const weights = startWeights(model);
  const ids = nn.oneHot(np.array(model.ids.slice(0, batch), { dtype: np.int32 }), vocab);
  const cos = array(model.cos.slice(0, half), [1, 1, 1, half]);
  const sin = array(model.sin.slice(0, half), [1, 1, 1, half]);
  const step = jit((w: Weights, kv: Weights, ...rest: np.Array[]) => {
    const [hot, c, s] = rest as [np.Array, np.Array, np.Array];
    return np.argmax(logits({ ...model, time: 1 }, w, { ids: hot, cos: c, sin: s, mask: np.zeros([1]), past: kv }), -1);
  });
  return {
    amount: batch * steps,
    async run() {
      for (let i = 0; i < steps; i++) {
        const next = step(tree.ref(weights), tree.ref(past), ids.ref, cos.ref, sin.ref);
        await next.data();
      }
    },
  };
}
