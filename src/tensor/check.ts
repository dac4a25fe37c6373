import { NacreError } from '../core/errors.ts';
import type * as B from './backend.ts';
import { rowWords } from './blocks.ts';

/**
 * The argument checks both backends run before a kernel, so that a wrong shape is a typed error at the call and never a
 * read or write outside an array. Only shapes are looked at here; `checkIndices` is for index data that is on the host.
 */

const DEFECT = 'This is a defect of Nacre: please report it with the details.';

export function badShape(where: string, message: string): NacreError {
  return new NacreError('bad-shape', `${where}: ${message}`, DEFECT);
}

/** A whole number of at least `least`. */
export function checkCount(where: string, name: string, value: number, least = 0): void {
  if (!Number.isSafeInteger(value) || value < least) throw badShape(where, `${name} must be a whole number >= ${least}, got ${value}`);
}

/** `array` has the element type and holds at least `length` elements from `offset`. */
export function checkArray(where: string, name: string, array: B.DeviceArray, type: B.ElementType, length: number, offset = 0): void {
  if (array.type !== type) throw badShape(where, `${name} (${array.label}) must be ${type}, is ${array.type}`);
  if (offset < 0 || length < 0 || offset + length > array.length) {
    throw badShape(where, `${name} (${array.label}) needs elements ${offset} to ${offset + length}, has ${array.length}`);
  }
}

/** A f32 view of `rows` rows, each `width` wide, inside its array; rows that are written must not overlap. */
export function checkStrided(where: string, name: string, view: B.Strided, rows: number, width: number, written = false): void {
  checkCount(where, `${name}.offset`, view.offset);
  checkCount(where, `${name}.stride`, view.stride);
  if (written && rows > 1 && view.stride < width)
    throw badShape(where, `${name}.stride ${view.stride} is less than the row width ${width}`);
  checkArray(where, name, view.array, 'f32', rows === 0 ? 0 : (rows - 1) * view.stride + width, rows === 0 ? 0 : view.offset);
}

/**
 * No output is also an input: a GPU forbids it, so the CPU backend refuses it as well. (Where an operation works in place
 * its arguments say so and it does not come here.)
 */
function checkApart(where: string, outputs: readonly B.DeviceArray[], inputs: readonly (B.DeviceArray | undefined)[]): void {
  for (const output of outputs) if (inputs.includes(output)) throw badShape(where, `${output.label} is an output and an input`);
}

/**
 * Index data on the host: every one of the first `count` indices is below `limit`.
 * @throws {NacreError} `index-out-of-range`
 */
export function checkIndices(where: string, name: string, indices: Uint32Array, count: number, limit: number): void {
  for (let i = 0; i < count; i++) {
    const index = indices[i]!;
    if (index >= limit) throw indexError(where, `${name}[${i}] is ${index}, the limit is ${limit}`);
  }
}

export function indexError(where: string, message: string): NacreError {
  return new NacreError('index-out-of-range', `${where}: ${message}`, 'Check the token ids and row numbers handed to the model.');
}

/** The spans of attention on the host: both ranges of every row end within `keyRows`. Returns the longest span. */
export function checkSpans(where: string, spans: Uint32Array, rows: number, keyRows: number): number {
  let longest = 0;
  for (let r = 0; r < rows; r++) {
    const [start, length, ownStart, ownLength] = [spans[4 * r]!, spans[4 * r + 1]!, spans[4 * r + 2]!, spans[4 * r + 3]!];
    if ((length > 0 && start + length > keyRows) || (ownLength > 0 && ownStart + ownLength > keyRows)) {
      throw indexError(where, `span ${r} (${start}+${length}, ${ownStart}+${ownLength}) leaves the ${keyRows} key rows`);
    }
    longest = Math.max(longest, length + ownLength);
  }
  return longest;
}

/** How many whole rows of `width` a view's array holds. */
export function rowsHeld(view: B.Strided, width: number): number {
  const room = view.array.length - view.offset - width;
  if (room < 0) return 0;
  return view.stride === 0 ? 1 : Math.floor(room / view.stride) + 1;
}

export function checkMatrixSource(source: B.MatrixSource, label: string): void {
  const where = `matrix ${label}`;
  checkCount(where, 'rows', source.rows, 1);
  checkCount(where, 'cols', source.cols, 1);
  const groups = Math.ceil(source.cols / 32);
  const holds = (name: string, has: number, needs: number): void => {
    if (has !== needs) throw badShape(where, `${name} must hold ${needs} elements for ${source.rows} x ${source.cols}, has ${has}`);
  };
  if (source.format === 'q4') {
    holds('codes', source.codes.length, source.rows * groups * 4);
    holds('scales', source.scales.length, source.rows * groups);
  } else if (source.format === 'stacked') {
    checkStack(source, where);
    source.parts.forEach((part, i) => {
      checkMatrixSource(part, `${label}, part ${i}`);
    });
  } else if ('blocks' in source) {
    holds('blocks', source.blocks.length, source.rows * rowWords(source.format, source.cols));
  } else {
    holds('data', source.data.length, source.rows * source.cols);
  }
}

function checkStack(source: B.MatrixSource & { readonly format: 'stacked' }, where: string): void {
  const rows = source.parts.reduce((sum, part) => sum + part.rows, 0);
  if (rows !== source.rows || source.parts.some((part) => part.cols !== source.cols)) {
    const shapes = source.parts.map((part) => `${part.rows} x ${part.cols}`).join(', ');
    throw badShape(where, `parts of ${shapes} do not make ${source.rows} x ${source.cols}`);
  }
}

export function checkEmbed(a: B.EmbedArgs): void {
  checkCount('embed', 'rows', a.rows);
  checkArray('embed', 'out', a.out, 'f32', a.rows * a.table.cols);
  checkArray('embed', 'ids', a.ids, 'u32', a.rows);
}

export function checkEmbedBackward(a: B.EmbedBackwardArgs): void {
  const where = 'embedBackward';
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'dim', a.dim, 1);
  checkCount(where, 'vocab', a.vocab, 1);
  checkArray(where, 'dTable', a.dTable, 'f32', a.vocab * a.dim);
  checkArray(where, 'dOut', a.dOut, 'f32', a.rows * a.dim);
  checkArray(where, 'ids', a.ids, 'u32', a.rows);
  checkApart(where, [a.dTable], [a.dOut]);
}

export function checkRmsNorm(a: B.RmsNormArgs): void {
  const where = 'rmsNorm';
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'groups', a.groups, 1);
  checkCount(where, 'dim', a.dim, 1);
  checkStrided(where, 'out', a.out, a.rows, a.groups * a.dim, true);
  checkStrided(where, 'x', a.x, a.rows, a.groups * a.dim);
  checkArray(where, 'weight', a.weight, 'f32', a.dim);
  checkApart(where, [a.out.array], [a.x.array, a.weight]);
}

export function checkRmsNormBackward(a: B.RmsNormBackwardArgs): void {
  const where = 'rmsNormBackward';
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'groups', a.groups, 1);
  checkCount(where, 'dim', a.dim, 1);
  const width = a.groups * a.dim;
  checkStrided(where, 'dx', a.dx, a.rows, width, true);
  checkStrided(where, 'dOut', a.dOut, a.rows, width);
  checkStrided(where, 'x', a.x, a.rows, width);
  checkArray(where, 'dWeight', a.dWeight, 'f32', a.dim);
  checkArray(where, 'weight', a.weight, 'f32', a.dim);
  checkApart(where, [a.dx.array, a.dWeight], [a.dOut.array, a.x.array, a.weight]);
}

export function checkRope(a: B.RopeArgs): void {
  checkCount('rope', 'rows', a.rows);
  checkCount('rope', 'heads', a.heads, 1);
  checkCount('rope', 'headDim', a.headDim, 2);
  if (a.headDim % 2 !== 0) throw badShape('rope', `headDim must be even, got ${a.headDim}`);
  checkStrided('rope', 'x', a.x, a.rows, a.heads * a.headDim, true);
  checkArray('rope', 'cos', a.cos, 'f32', 0);
  checkArray('rope', 'sin', a.sin, 'f32', a.cos.length);
  checkArray('rope', 'positions', a.positions, 'u32', a.rows);
  checkApart('rope', [a.x.array], [a.cos, a.sin]);
}

export function checkLinear(a: B.LinearArgs): void {
  checkCount('linear', 'rows', a.rows);
  checkArray('linear', 'out', a.out, 'f32', a.rows * a.w.rows);
  checkArray('linear', 'x', a.x, 'f32', a.rows * a.w.cols);
  if (a.bias) checkArray('linear', 'bias', a.bias, 'f32', a.w.rows);
  checkApart('linear', [a.out], [a.x, a.bias]);
}

export function checkLinearBackwardInput(a: B.LinearBackwardInputArgs): void {
  const where = 'linearBackwardInput';
  checkCount(where, 'rows', a.rows);
  checkArray(where, 'dx', a.dx, 'f32', a.rows * a.w.cols);
  checkArray(where, 'dOut', a.dOut, 'f32', a.rows * a.w.rows);
  checkApart(where, [a.dx], [a.dOut]);
}

export function checkLinearBackwardWeight(a: B.LinearBackwardWeightArgs): void {
  const where = 'linearBackwardWeight';
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'n', a.n, 1);
  checkCount(where, 'k', a.k, 1);
  checkArray(where, 'dw', a.dw, 'f32', a.n * a.k);
  checkArray(where, 'dOut', a.dOut, 'f32', a.rows * a.n);
  checkArray(where, 'x', a.x, 'f32', a.rows * a.k);
  if (a.dBias) checkArray(where, 'dBias', a.dBias, 'f32', a.n);
  checkApart(where, a.dBias ? [a.dw, a.dBias] : [a.dw], [a.dOut, a.x]);
}

type Heads = Pick<B.AttentionArgs, 'rows' | 'heads' | 'kvHeads' | 'headDim' | 'spans' | 'out' | 'q'>;

function checkHeads(where: string, a: Heads): void {
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'kvHeads', a.kvHeads, 1);
  checkCount(where, 'heads', a.heads, a.kvHeads);
  checkCount(where, 'headDim', a.headDim, 1);
  checkStrided(where, 'q', a.q, a.rows, a.heads * a.headDim);
  checkArray(where, 'out', a.out, 'f32', a.rows * a.heads * a.headDim);
  checkArray(where, 'spans', a.spans, 'u32', a.rows * 4);
}

export function checkAttention(a: B.AttentionArgs): void {
  checkHeads('attention', a);
  checkStrided('attention', 'k', a.k, 0, a.kvHeads * a.headDim);
  checkStrided('attention', 'v', a.v, 0, a.kvHeads * a.headDim);
  checkApart('attention', [a.out], [a.q.array, a.k.array, a.v.array]);
}

export function checkAttentionBackward(a: B.AttentionBackwardArgs): void {
  const where = 'attentionBackward';
  checkHeads(where, a);
  checkCount(where, 'keyRows', a.keyRows);
  const width = a.kvHeads * a.headDim;
  checkStrided(where, 'dq', a.dq, a.rows, a.heads * a.headDim, true);
  checkStrided(where, 'dk', a.dk, a.keyRows, width, true);
  checkStrided(where, 'dv', a.dv, a.keyRows, width, true);
  checkStrided(where, 'k', a.k, a.keyRows, width);
  checkStrided(where, 'v', a.v, a.keyRows, width);
  checkArray(where, 'dOut', a.dOut, 'f32', a.rows * a.heads * a.headDim);
  checkApart(where, [a.dq.array, a.dk.array, a.dv.array], [a.dOut, a.out, a.q.array, a.k.array, a.v.array]);
}

export function checkSwiglu(a: B.SwigluArgs): void {
  checkCount('swiglu', 'rows', a.rows);
  checkCount('swiglu', 'dim', a.dim, 1);
  checkArray('swiglu', 'out', a.out, 'f32', a.rows * a.dim);
  checkArray('swiglu', 'gateUp', a.gateUp, 'f32', a.rows * a.dim * 2);
  checkApart('swiglu', [a.out], [a.gateUp]);
}

export function checkSwigluBackward(a: B.SwigluBackwardArgs): void {
  const where = 'swigluBackward';
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'dim', a.dim, 1);
  checkArray(where, 'dGateUp', a.dGateUp, 'f32', a.rows * a.dim * 2);
  checkArray(where, 'dOut', a.dOut, 'f32', a.rows * a.dim);
  checkArray(where, 'gateUp', a.gateUp, 'f32', a.rows * a.dim * 2);
  checkApart(where, [a.dGateUp], [a.dOut, a.gateUp]);
}

export function checkCopyRows(a: B.CopyRowsArgs): void {
  const where = 'copyRows';
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'width', a.width, 1);
  checkStrided(where, 'to', a.to, a.toRows ? 0 : a.rows, a.width, true);
  checkStrided(where, 'from', a.from, a.fromRows ? 0 : a.rows, a.width);
  if (a.toRows) checkArray(where, 'toRows', a.toRows, 'u32', a.rows);
  if (a.fromRows) checkArray(where, 'fromRows', a.fromRows, 'u32', a.rows);
}

export function checkCrossEntropy(a: B.CrossEntropyArgs): void {
  const where = 'crossEntropy';
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'vocab', a.vocab, 1);
  checkArray(where, 'loss', a.loss, 'f32', a.rows);
  checkArray(where, 'dLogits', a.dLogits, 'f32', a.rows * a.vocab);
  checkArray(where, 'logits', a.logits, 'f32', a.rows * a.vocab);
  checkArray(where, 'targets', a.targets, 'u32', a.rows);
  checkArray(where, 'weights', a.weights, 'f32', a.rows);
  checkApart(where, [a.loss], [a.dLogits, a.logits, a.weights]);
  checkApart(where, [a.dLogits], [a.weights]);
}

export function checkPolicyLoss(a: B.PolicyLossArgs): void {
  const where = 'policyLoss';
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'vocab', a.vocab, 1);
  checkArray(where, 'report', a.report, 'f32', a.rows * 3);
  checkArray(where, 'dLogits', a.dLogits, 'f32', a.rows * a.vocab);
  checkArray(where, 'logits', a.logits, 'f32', a.rows * a.vocab);
  checkArray(where, 'targets', a.targets, 'u32', a.rows);
  checkArray(where, 'terms', a.terms, 'f32', a.rows * 4);
  checkApart(where, [a.report], [a.dLogits, a.logits, a.terms]);
  checkApart(where, [a.dLogits], [a.terms]);
}

export function checkL2Normalise(a: B.L2NormaliseArgs): void {
  const where = 'l2Normalise';
  checkCount(where, 'rows', a.rows);
  checkCount(where, 'width', a.width, 1);
  checkStrided(where, 'out', a.out, a.rows, a.width, true);
  checkStrided(where, 'x', a.x, a.rows, a.width);
  checkApart(where, [a.out.array], [a.x.array]);
}

export function checkLayerLogits(a: B.LayerLogitArgs): void {
  const where = 'layerLogits';
  checkCount(where, 'count', a.count);
  checkArray(where, 'out', a.out, 'f32', a.count);
  checkArray(where, 'h', a.h, 'f32', 0);
  checkArray(where, 'hRows', a.hRows, 'u32', a.count);
  checkArray(where, 'tokens', a.tokens, 'u32', a.count);
  checkApart(where, [a.out], [a.h]);
}

export function checkAdam(a: B.AdamArgs): void {
  checkCount('adam', 'length', a.length);
  checkCount('adam', 'step', a.step, 1);
  for (const name of ['param', 'grad', 'm', 'v'] as const) checkArray('adam', name, a[name], 'f32', a.length);
  checkApart('adam', [a.param, a.m, a.v], [a.grad]);
}

export function checkSumSquares(out: B.DeviceArray, x: B.DeviceArray, length: number): void {
  checkCount('sumSquares', 'length', length);
  checkArray('sumSquares', 'out', out, 'f32', 1);
  checkArray('sumSquares', 'x', x, 'f32', length);
  checkApart('sumSquares', [out], [x]);
}
