/** Plain loops over typed arrays for the operations that have no WASM kernel. Argument names follow `Backend`. */

export interface View {
  readonly data: Float32Array;
  readonly offset: number;
  readonly stride: number;
}

export function embed(out: Float32Array, table: Float32Array, dim: number, ids: Uint32Array, rows: number, scale: number): void {
  for (let r = 0; r < rows; r++) for (let d = 0; d < dim; d++) out[r * dim + d] = scale * table[ids[r]! * dim + d]!;
}

export function embedBackward(dTable: Float32Array, dOut: Float32Array, ids: Uint32Array, rows: number, dim: number, scale: number): void {
  for (let r = 0; r < rows; r++) {
    const to = ids[r]! * dim;
    for (let d = 0; d < dim; d++) dTable[to + d] = dTable[to + d]! + scale * dOut[r * dim + d]!;
  }
}

export function rmsNorm(out: View, x: View, weight: Float32Array, rows: number, groups: number, dim: number, eps: number): void {
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      const from = x.offset + r * x.stride + g * dim;
      const to = out.offset + r * out.stride + g * dim;
      let squares = 0;
      for (let d = 0; d < dim; d++) squares += x.data[from + d]! ** 2;
      const inverse = 1 / Math.sqrt(squares / dim + eps);
      for (let d = 0; d < dim; d++) out.data[to + d] = x.data[from + d]! * inverse * weight[d]!;
    }
  }
}

export function rmsNormBackward(
  dx: View,
  dWeight: Float32Array,
  dOut: View,
  x: View,
  weight: Float32Array,
  rows: number,
  groups: number,
  dim: number,
  eps: number,
  accumulate: boolean,
): void {
  for (let r = 0; r < rows; r++) {
    for (let g = 0; g < groups; g++) {
      const from = x.offset + r * x.stride + g * dim;
      const grad = dOut.offset + r * dOut.stride + g * dim;
      const to = dx.offset + r * dx.stride + g * dim;
      let squares = 0;
      let dot = 0;
      for (let d = 0; d < dim; d++) {
        squares += x.data[from + d]! ** 2;
        dot += x.data[from + d]! * weight[d]! * dOut.data[grad + d]!;
      }
      const inverse = 1 / Math.sqrt(squares / dim + eps);
      const pull = (dot * inverse * inverse) / dim;
      for (let d = 0; d < dim; d++) {
        const value = x.data[from + d]!;
        const g1 = dOut.data[grad + d]!;
        dWeight[d] = dWeight[d]! + g1 * value * inverse;
        const step = inverse * (g1 * weight[d]! - value * pull);
        dx.data[to + d] = accumulate ? dx.data[to + d]! + step : step;
      }
    }
  }
}

export function rope(
  x: View,
  cos: Float32Array,
  sin: Float32Array,
  positions: Uint32Array,
  rows: number,
  heads: number,
  headDim: number,
  inverse: boolean,
): void {
  const half = headDim / 2;
  for (let r = 0; r < rows; r++) {
    const angle = positions[r]! * half;
    for (let h = 0; h < heads; h++) {
      const at = x.offset + r * x.stride + h * headDim;
      for (let d = 0; d < half; d++) {
        const c = cos[angle + d]!;
        const s = inverse ? -sin[angle + d]! : sin[angle + d]!;
        const a = x.data[at + d]!;
        const b = x.data[at + half + d]!;
        x.data[at + d] = a * c - b * s;
        x.data[at + half + d] = b * c + a * s;
      }
    }
  }
}

export function linear(
  out: Float32Array,
  x: Float32Array,
  w: Float32Array,
  bias: Float32Array | undefined,
  m: number,
  n: number,
  k: number,
  accumulate: boolean,
): void {
  for (let r = 0; r < m; r++) {
    for (let c = 0; c < n; c++) {
      let sum = 0;
      for (let i = 0; i < k; i++) sum += x[r * k + i]! * w[c * k + i]!;
      if (bias) sum += bias[c]!;
      out[r * n + c] = accumulate ? out[r * n + c]! + sum : sum;
    }
  }
}

export function linearBackwardInput(
  dx: Float32Array,
  dOut: Float32Array,
  w: Float32Array,
  m: number,
  n: number,
  k: number,
  accumulate: boolean,
): void {
  const row = new Float64Array(k);
  for (let r = 0; r < m; r++) {
    row.fill(0);
    for (let c = 0; c < n; c++) {
      const g = dOut[r * n + c]!;
      for (let i = 0; i < k; i++) row[i] = row[i]! + g * w[c * k + i]!;
    }
    for (let i = 0; i < k; i++) dx[r * k + i] = accumulate ? dx[r * k + i]! + row[i]! : row[i]!;
  }
}

export function linearBackwardWeight(
  dw: Float32Array,
  dBias: Float32Array | undefined,
  dOut: Float32Array,
  x: Float32Array,
  m: number,
  n: number,
  k: number,
): void {
  for (let r = 0; r < m; r++) {
    for (let c = 0; c < n; c++) {
      const g = dOut[r * n + c]!;
      if (dBias) dBias[c] = dBias[c]! + g;
      for (let i = 0; i < k; i++) dw[c * k + i] = dw[c * k + i]! + g * x[r * k + i]!;
    }
  }
}

/** The softmax weights of query row r, head h over its span, into `weights`; returns their number. */
function attentionWeights(
  weights: Float32Array,
  q: View,
  k: View,
  spans: Uint32Array,
  r: number,
  h: number,
  kvHead: number,
  headDim: number,
): number {
  const from = q.offset + r * q.stride + h * headDim;
  const count = spans[4 * r + 1]! + spans[4 * r + 3]!;
  const scale = 1 / Math.sqrt(headDim);
  let max = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < count; j++) {
    const key = k.offset + keyRow(spans, r, j) * k.stride + kvHead * headDim;
    let dot = 0;
    for (let d = 0; d < headDim; d++) dot += q.data[from + d]! * k.data[key + d]!;
    weights[j] = dot * scale;
    max = Math.max(max, weights[j]!);
  }
  let sum = 0;
  for (let j = 0; j < count; j++) {
    weights[j] = Math.exp(weights[j]! - max);
    sum += weights[j]!;
  }
  for (let j = 0; j < count; j++) weights[j] = weights[j]! / sum;
  return count;
}

/** The key row of the j-th position of a span: the shared prefix first, then the sequence's own rows. */
function keyRow(spans: Uint32Array, r: number, j: number): number {
  const prefix = spans[4 * r + 1]!;
  return j < prefix ? spans[4 * r]! + j : spans[4 * r + 2]! + j - prefix;
}

export function attention(
  out: Float32Array,
  q: View,
  k: View,
  v: View,
  spans: Uint32Array,
  longest: number,
  rows: number,
  heads: number,
  kvHeads: number,
  headDim: number,
): void {
  const weights = new Float32Array(longest);
  for (let r = 0; r < rows; r++) {
    for (let h = 0; h < heads; h++) {
      const kvHead = Math.floor((h * kvHeads) / heads);
      const count = attentionWeights(weights, q, k, spans, r, h, kvHead, headDim);
      const to = (r * heads + h) * headDim;
      out.fill(0, to, to + headDim);
      for (let j = 0; j < count; j++) {
        const value = v.offset + keyRow(spans, r, j) * v.stride + kvHead * headDim;
        for (let d = 0; d < headDim; d++) out[to + d] = out[to + d]! + weights[j]! * v.data[value + d]!;
      }
    }
  }
}

export function attentionBackward(
  dq: View,
  dk: View,
  dv: View,
  dOut: Float32Array,
  out: Float32Array,
  q: View,
  k: View,
  v: View,
  spans: Uint32Array,
  longest: number,
  rows: number,
  heads: number,
  kvHeads: number,
  headDim: number,
): void {
  const weights = new Float32Array(longest);
  const scale = 1 / Math.sqrt(headDim);
  for (let r = 0; r < rows; r++) {
    for (let h = 0; h < heads; h++) {
      const kvHead = Math.floor((h * kvHeads) / heads);
      const count = attentionWeights(weights, q, k, spans, r, h, kvHead, headDim);
      const at = (r * heads + h) * headDim;
      const query = q.offset + r * q.stride + h * headDim;
      const dQuery = dq.offset + r * dq.stride + h * headDim;
      let delta = 0;
      for (let d = 0; d < headDim; d++) {
        delta += dOut[at + d]! * out[at + d]!;
        dq.data[dQuery + d] = 0;
      }
      for (let j = 0; j < count; j++) {
        const row = keyRow(spans, r, j);
        const key = row * k.stride + k.offset + kvHead * headDim;
        const value = row * v.stride + v.offset + kvHead * headDim;
        const dKey = row * dk.stride + dk.offset + kvHead * headDim;
        const dValue = row * dv.stride + dv.offset + kvHead * headDim;
        let dWeight = 0;
        for (let d = 0; d < headDim; d++) {
          dWeight += dOut[at + d]! * v.data[value + d]!;
          dv.data[dValue + d] = dv.data[dValue + d]! + weights[j]! * dOut[at + d]!;
        }
        const dScore = weights[j]! * (dWeight - delta) * scale;
        for (let d = 0; d < headDim; d++) {
          dq.data[dQuery + d] = dq.data[dQuery + d]! + dScore * k.data[key + d]!;
          dk.data[dKey + d] = dk.data[dKey + d]! + dScore * q.data[query + d]!;
        }
      }
    }
  }
}

export function swiglu(out: Float32Array, gateUp: Float32Array, rows: number, dim: number): void {
  for (let r = 0; r < rows; r++) {
    for (let d = 0; d < dim; d++) {
      const gate = gateUp[2 * r * dim + d]!;
      out[r * dim + d] = (gate / (1 + Math.exp(-gate))) * gateUp[2 * r * dim + dim + d]!;
    }
  }
}

export function swigluBackward(dGateUp: Float32Array, dOut: Float32Array, gateUp: Float32Array, rows: number, dim: number): void {
  for (let r = 0; r < rows; r++) {
    for (let d = 0; d < dim; d++) {
      const at = 2 * r * dim + d;
      const gate = gateUp[at]!;
      const sigmoid = 1 / (1 + Math.exp(-gate));
      const grad = dOut[r * dim + d]!;
      dGateUp[at] = grad * gateUp[at + dim]! * sigmoid * (1 + gate * (1 - sigmoid));
      dGateUp[at + dim] = grad * gate * sigmoid;
    }
  }
}

export function copyRows(
  to: View,
  from: View,
  toRows: Uint32Array | undefined,
  fromRows: Uint32Array | undefined,
  rows: number,
  width: number,
): void {
  for (let r = 0; r < rows; r++) {
    const source = from.offset + (fromRows ? fromRows[r]! : r) * from.stride;
    const target = to.offset + (toRows ? toRows[r]! : r) * to.stride;
    for (let i = 0; i < width; i++) to.data[target + i] = from.data[source + i]!;
  }
}

export function crossEntropy(
  loss: Float32Array,
  dLogits: Float32Array,
  logits: Float32Array,
  targets: Uint32Array,
  weights: Float32Array,
  rows: number,
  vocab: number,
): void {
  for (let r = 0; r < rows; r++) {
    const at = r * vocab;
    const weight = weights[r]!;
    if (weight === 0) {
      loss[r] = 0;
      dLogits.fill(0, at, at + vocab);
      continue;
    }
    let max = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < vocab; i++) max = Math.max(max, logits[at + i]!);
    let sum = 0;
    for (let i = 0; i < vocab; i++) sum += Math.exp(logits[at + i]! - max);
    loss[r] = weight * (max + Math.log(sum) - logits[at + targets[r]!]!);
    for (let i = 0; i < vocab; i++) {
      const p = Math.exp(logits[at + i]! - max) / sum;
      dLogits[at + i] = weight * (p - (i === targets[r] ? 1 : 0));
    }
  }
}

export function layerLogits(
  out: Float32Array,
  h: Float32Array,
  hRows: Uint32Array,
  tokens: Uint32Array,
  w: Float32Array,
  dim: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    let sum = 0;
    for (let d = 0; d < dim; d++) sum += h[hRows[i]! * dim + d]! * w[tokens[i]! * dim + d]!;
    out[i] = sum;
  }
}

export function sumSquares(x: Float32Array, length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += x[i]! ** 2;
  return sum;
}
