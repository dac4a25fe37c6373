/**
 * Every kernel as plain float64 loops over dense row-major arrays: what the backends are measured against.
 * The gradients here are themselves held against central differences of the forward functions.
 */

type Numbers = ArrayLike<number>;

export function embed(table: Numbers, dim: number, ids: Numbers, scale: number): Float64Array {
  const out = new Float64Array(ids.length * dim);
  for (let r = 0; r < ids.length; r++) for (let d = 0; d < dim; d++) out[r * dim + d] = scale * table[ids[r]! * dim + d]!;
  return out;
}

export function embedBackward(dTable: Numbers, dOut: Numbers, dim: number, ids: Numbers, scale: number): Float64Array {
  const out = Float64Array.from(dTable);
  for (let r = 0; r < ids.length; r++) for (let d = 0; d < dim; d++) out[ids[r]! * dim + d]! += scale * dOut[r * dim + d]!;
  return out;
}

/** x holds whole vectors of length dim, one after the other. */
export function rmsNorm(x: Numbers, weight: Numbers, eps: number): Float64Array {
  const dim = weight.length;
  const out = new Float64Array(x.length);
  for (let at = 0; at < x.length; at += dim) {
    let squares = 0;
    for (let d = 0; d < dim; d++) squares += x[at + d]! ** 2;
    const root = Math.sqrt(squares / dim + eps);
    for (let d = 0; d < dim; d++) out[at + d] = (x[at + d]! / root) * weight[d]!;
  }
  return out;
}

export function rmsNormBackward(x: Numbers, weight: Numbers, dOut: Numbers, eps: number): { dx: Float64Array; dWeight: Float64Array } {
  const dim = weight.length;
  const dx = new Float64Array(x.length);
  const dWeight = new Float64Array(dim);
  for (let at = 0; at < x.length; at += dim) {
    let squares = 0;
    let dot = 0;
    for (let d = 0; d < dim; d++) {
      squares += x[at + d]! ** 2;
      dot += dOut[at + d]! * weight[d]! * x[at + d]!;
    }
    const root = Math.sqrt(squares / dim + eps);
    for (let d = 0; d < dim; d++) {
      dWeight[d]! += (dOut[at + d]! * x[at + d]!) / root;
      dx[at + d] = (dOut[at + d]! * weight[d]!) / root - (x[at + d]! * dot) / (dim * root ** 3);
    }
  }
  return { dx, dWeight };
}

/** Rotates (x[d], x[d + headDim/2]) of each head by the angle of the row's position. */
export function rope(
  x: Numbers,
  cos: Numbers,
  sin: Numbers,
  positions: Numbers,
  heads: number,
  headDim: number,
  inverse: boolean,
): Float64Array {
  const half = headDim / 2;
  const out = new Float64Array(x.length);
  for (let r = 0; r < positions.length; r++) {
    for (let h = 0; h < heads; h++) {
      for (let d = 0; d < half; d++) {
        const at = (r * heads + h) * headDim + d;
        const c = cos[positions[r]! * half + d]!;
        const s = sin[positions[r]! * half + d]! * (inverse ? -1 : 1);
        out[at] = x[at]! * c - x[at + half]! * s;
        out[at + half] = x[at + half]! * c + x[at]! * s;
      }
    }
  }
  return out;
}

/** x[M, K] · w[N, K]ᵀ + bias */
export function linear(x: Numbers, w: Numbers, bias: Numbers | undefined, m: number, n: number, k: number): Float64Array {
  const out = new Float64Array(m * n);
  for (let r = 0; r < m; r++) {
    for (let c = 0; c < n; c++) {
      let sum = bias ? bias[c]! : 0;
      for (let i = 0; i < k; i++) sum += x[r * k + i]! * w[c * k + i]!;
      out[r * n + c] = sum;
    }
  }
  return out;
}

export function linearBackward(
  x: Numbers,
  w: Numbers,
  dOut: Numbers,
  m: number,
  n: number,
  k: number,
): { dx: Float64Array; dw: Float64Array; dBias: Float64Array } {
  const dx = new Float64Array(m * k);
  const dw = new Float64Array(n * k);
  const dBias = new Float64Array(n);
  for (let r = 0; r < m; r++) {
    for (let c = 0; c < n; c++) {
      const g = dOut[r * n + c]!;
      dBias[c]! += g;
      for (let i = 0; i < k; i++) {
        dx[r * k + i]! += g * w[c * k + i]!;
        dw[c * k + i]! += g * x[r * k + i]!;
      }
    }
  }
  return { dx, dw, dBias };
}

export interface AttentionShape {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** (prefixStart, prefixLength, ownStart, ownLength) of each query row */
  readonly spans: Numbers;
}

/** The key rows a query row attends, in order. */
function keysOf(spans: Numbers, r: number): number[] {
  const keys: number[] = [];
  for (let j = 0; j < spans[4 * r + 1]!; j++) keys.push(spans[4 * r]! + j);
  for (let j = 0; j < spans[4 * r + 3]!; j++) keys.push(spans[4 * r + 2]! + j);
  return keys;
}

function softmax(scores: readonly number[]): number[] {
  const max = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - max));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

function attentionWeights(q: Numbers, k: Numbers, keys: readonly number[], r: number, h: number, shape: AttentionShape): number[] {
  const { heads, kvHeads, headDim } = shape;
  const kvHead = Math.floor((h * kvHeads) / heads);
  return softmax(
    keys.map((key) => {
      let dot = 0;
      for (let d = 0; d < headDim; d++) dot += q[(r * heads + h) * headDim + d]! * k[(key * kvHeads + kvHead) * headDim + d]!;
      return dot / Math.sqrt(headDim);
    }),
  );
}

export function attention(q: Numbers, k: Numbers, v: Numbers, shape: AttentionShape): Float64Array {
  const { heads, kvHeads, headDim, spans } = shape;
  const out = new Float64Array(q.length);
  for (let r = 0; r < spans.length / 4; r++) {
    const keys = keysOf(spans, r);
    for (let h = 0; h < heads; h++) {
      const kvHead = Math.floor((h * kvHeads) / heads);
      const weights = attentionWeights(q, k, keys, r, h, shape);
      for (const [j, key] of keys.entries()) {
        for (let d = 0; d < headDim; d++) {
          out[(r * heads + h) * headDim + d]! += weights[j]! * v[(key * kvHeads + kvHead) * headDim + d]!;
        }
      }
    }
  }
  return out;
}

export function attentionBackward(
  q: Numbers,
  k: Numbers,
  v: Numbers,
  dOut: Numbers,
  shape: AttentionShape,
): { dq: Float64Array; dk: Float64Array; dv: Float64Array } {
  const { heads, kvHeads, headDim, spans } = shape;
  const dq = new Float64Array(q.length);
  const dk = new Float64Array(k.length);
  const dv = new Float64Array(v.length);
  for (let r = 0; r < spans.length / 4; r++) {
    const keys = keysOf(spans, r);
    for (let h = 0; h < heads; h++) {
      const kvHead = Math.floor((h * kvHeads) / heads);
      const query = (r * heads + h) * headDim;
      const weights = attentionWeights(q, k, keys, r, h, shape);
      const dWeights = keys.map((key) => {
        let dot = 0;
        for (let d = 0; d < headDim; d++) dot += dOut[query + d]! * v[(key * kvHeads + kvHead) * headDim + d]!;
        return dot;
      });
      const mean = weights.reduce((sum, weight, j) => sum + weight * dWeights[j]!, 0);
      for (const [j, key] of keys.entries()) {
        const at = (key * kvHeads + kvHead) * headDim;
        const dScore = (weights[j]! * (dWeights[j]! - mean)) / Math.sqrt(headDim);
        for (let d = 0; d < headDim; d++) {
          dq[query + d]! += dScore * k[at + d]!;
          dk[at + d]! += dScore * q[query + d]!;
          dv[at + d]! += weights[j]! * dOut[query + d]!;
        }
      }
    }
  }
  return { dq, dk, dv };
}

/** gateUp holds rows of gate (dim), then up (dim). */
export function swiglu(gateUp: Numbers, dim: number): Float64Array {
  const out = new Float64Array(gateUp.length / 2);
  for (let i = 0; i < out.length; i++) {
    const at = Math.floor(i / dim) * 2 * dim + (i % dim);
    out[i] = (gateUp[at]! / (1 + Math.exp(-gateUp[at]!))) * gateUp[at + dim]!;
  }
  return out;
}

export function swigluBackward(gateUp: Numbers, dOut: Numbers, dim: number): Float64Array {
  const dGateUp = new Float64Array(gateUp.length);
  for (let i = 0; i < dOut.length; i++) {
    const at = Math.floor(i / dim) * 2 * dim + (i % dim);
    const gate = gateUp[at]!;
    const sigmoid = 1 / (1 + Math.exp(-gate));
    dGateUp[at] = dOut[i]! * gateUp[at + dim]! * (sigmoid + gate * sigmoid * (1 - sigmoid));
    dGateUp[at + dim] = dOut[i]! * gate * sigmoid;
  }
  return dGateUp;
}

export function crossEntropy(
  logits: Numbers,
  vocab: number,
  targets: Numbers,
  weights: Numbers,
): { loss: Float64Array; dLogits: Float64Array } {
  const loss = new Float64Array(targets.length);
  const dLogits = new Float64Array(logits.length);
  for (let r = 0; r < targets.length; r++) {
    if (weights[r] === 0) continue;
    let max = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < vocab; i++) max = Math.max(max, logits[r * vocab + i]!);
    let sum = 0;
    for (let i = 0; i < vocab; i++) sum += Math.exp(logits[r * vocab + i]! - max);
    loss[r] = weights[r]! * (max + Math.log(sum) - logits[r * vocab + targets[r]!]!);
    for (let i = 0; i < vocab; i++) {
      const probability = Math.exp(logits[r * vocab + i]! - max) / sum;
      dLogits[r * vocab + i] = weights[r]! * (probability - (i === targets[r] ? 1 : 0));
    }
  }
  return { loss, dLogits };
}

/** Per row: terms are weight, advantage, multiplier, behaviour; the report is loss, ln p, whether the clip binds. */
export function policyLoss(
  logits: Numbers,
  vocab: number,
  targets: Numbers,
  terms: Numbers,
  clip: number,
): { report: Float64Array; dLogits: Float64Array } {
  const report = new Float64Array(3 * targets.length);
  const dLogits = new Float64Array(logits.length);
  for (let r = 0; r < targets.length; r++) {
    const [weight, advantage, multiplier, behaviour] = Array.from({ length: 4 }, (_, i) => terms[4 * r + i]!) as [
      number,
      number,
      number,
      number,
    ];
    if (weight === 0) continue;
    const row = Array.from({ length: vocab }, (_, i) => logits[r * vocab + i]!);
    const max = Math.max(...row);
    const logSum = max + Math.log(row.reduce((sum, x) => sum + Math.exp(x - max), 0));
    const logprob = row[targets[r]!]! - logSum;
    const shaped = advantage * multiplier;
    const ratio = Math.exp(logprob - behaviour);
    const plain = ratio * shaped;
    const bounded = Math.min(Math.max(ratio, 1 - clip), 1 + clip) * shaped;
    const binds = bounded < plain;
    report.set([-weight * Math.min(plain, bounded), logprob, binds ? 1 : 0], 3 * r);
    if (binds) continue;
    row.forEach((x, i) => {
      dLogits[r * vocab + i] = weight * plain * (Math.exp(x - logSum) - (i === targets[r] ? 1 : 0));
    });
  }
  return { report, dLogits };
}

export function l2Normalise(x: Numbers, width: number): Float64Array {
  const out = new Float64Array(x.length);
  for (let r = 0; r < x.length / width; r++) {
    const row = Array.from({ length: width }, (_, i) => x[r * width + i]!);
    const length = Math.hypot(...row);
    row.forEach((value, i) => {
      out[r * width + i] = length > 0 ? value / length : 0;
    });
  }
  return out;
}

export function layerLogits(h: Numbers, hRows: Numbers, w: Numbers, tokens: Numbers, dim: number): Float64Array {
  const out = new Float64Array(tokens.length);
  for (let i = 0; i < out.length; i++) for (let d = 0; d < dim; d++) out[i]! += h[hRows[i]! * dim + d]! * w[tokens[i]! * dim + d]!;
  return out;
}

export interface AdamSettings {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  readonly step: number;
  readonly gradScale: number;
}

export function adam(
  param: Numbers,
  grad: Numbers,
  m: Numbers,
  v: Numbers,
  s: AdamSettings,
): { param: Float64Array; m: Float64Array; v: Float64Array } {
  const out = { param: new Float64Array(param.length), m: new Float64Array(param.length), v: new Float64Array(param.length) };
  for (let i = 0; i < param.length; i++) {
    const g = grad[i]! * s.gradScale;
    out.m[i] = s.beta1 * m[i]! + (1 - s.beta1) * g;
    out.v[i] = s.beta2 * v[i]! + (1 - s.beta2) * g * g;
    const mean = out.m[i]! / (1 - s.beta1 ** s.step);
    const deviation = Math.sqrt(out.v[i]! / (1 - s.beta2 ** s.step));
    out.param[i] = param[i]! - s.lr * (mean / (deviation + s.eps) + s.weightDecay * param[i]!);
  }
  return out;
}

export function sumSquares(x: Numbers): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i]! ** 2;
  return sum;
}

/** <a, b>: turns a forward function into a scalar whose gradient is known when b is the gradient of its output. */
export function dot(a: Numbers, b: Numbers): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Central difference of a scalar function in coordinate i, error O(h²). */
export function centralDifference(f: (x: Float64Array) => number, x: Numbers, i: number, h = 1e-4): number {
  const moved = Float64Array.from(x);
  moved[i] = x[i]! + h;
  const above = f(moved);
  moved[i] = x[i]! - h;
  return (above - f(moved)) / (2 * h);
}
