import { NacreError } from '../core/errors.ts';

/**
 * Sequences to learn from, packed one behind the other. Row i predicts `targets[i]`; its loss counts with `weights[i]`, and
 * rows of weight 0 are only context.
 */
export interface TrainBatch {
  /** Tokens that stand before every sequence (a shared context): read once a chunk, no loss on them. */
  readonly prefix?: Uint32Array;
  readonly tokens: Uint32Array;
  readonly targets: Uint32Array;
  readonly weights: Float32Array;
  /** Row where each sequence begins, ascending from 0. */
  readonly sequenceStarts: Uint32Array;
  /** Present for the clipped policy-gradient loss; absent for cross-entropy. */
  readonly policy?: PolicyTerms;
}

/** Terms of the clipped surrogate −min(r·Ã, clip(r, 1±clip)·Ã), Ã = A·multiplier (PPO, Schulman et al. 2017; PEARL eq. 6, 7), one a row. */
export interface PolicyTerms {
  readonly advantages: Float32Array;
  /** Factors that sharpen some advantages; 1 everywhere when absent. */
  readonly multipliers?: Float32Array;
  /** ln p of each target when it was sampled. */
  readonly behaviour: Float32Array;
  readonly clip: number;
}

/** Rows ready for the model; keys and values of row i are row i. */
export interface TrainRows {
  readonly ids: Uint32Array;
  readonly positions: Uint32Array;
  /** u32 [rows, 4]: prefix range and own range of every row. */
  readonly spans: Uint32Array;
  /** Rows that carry loss, ascending, and the batch row each stands for. */
  readonly lossRows: Uint32Array;
  readonly batchRows: Uint32Array;
}

/** @throws {NacreError} `bad-train-batch` naming the field */
export function checkBatch(batch: TrainBatch): void {
  const rows = batch.tokens.length;
  const fail = (message: string): never => {
    throw new NacreError('bad-train-batch', `Training batch: ${message}.`, 'This is a defect of Nacre: please report it with the details.');
  };
  for (const [name, array] of Object.entries({ targets: batch.targets, weights: batch.weights, ...batch.policy })) {
    if (typeof array !== 'number' && array.length !== rows) fail(`${name} holds ${array.length} rows, tokens ${rows}`);
  }
  if (rows > 0 && batch.sequenceStarts[0] !== 0) fail('sequenceStarts must begin with 0');
  batch.sequenceStarts.forEach((start, i, starts) => {
    if (start > rows || (i > 0 && start <= starts[i - 1]!)) fail(`sequenceStarts[${i}] is ${start}`);
  });
}

/** The sequences [from, to) of a batch as a batch of their own: copies, because posting a view would post its whole buffer. */
export function sliceBatch(batch: TrainBatch, from: number, to: number): TrainBatch {
  const { sequenceStarts: starts, policy } = batch;
  const first = starts[from] ?? batch.tokens.length;
  const end = starts[to] ?? batch.tokens.length;
  return {
    ...(batch.prefix ? { prefix: batch.prefix } : {}),
    tokens: batch.tokens.slice(first, end),
    targets: batch.targets.slice(first, end),
    weights: batch.weights.slice(first, end),
    sequenceStarts: starts.slice(from, to).map((start) => start - first),
    ...(policy
      ? {
          policy: {
            ...policy,
            advantages: policy.advantages.slice(first, end),
            behaviour: policy.behaviour.slice(first, end),
            ...(policy.multipliers ? { multipliers: policy.multipliers.slice(first, end) } : {}),
          },
        }
      : {}),
  };
}

/**
 * Cuts a batch between sequences into `count` parts of about equally many tokens. The cut depends on the batch alone, so
 * sums over the parts in order do not depend on who computes which.
 */
export function splitBatch(batch: TrainBatch, count: number): TrainBatch[] {
  const starts = batch.sequenceStarts;
  const parts: TrainBatch[] = [];
  let from = 0;
  for (let part = 1; part <= count; part++) {
    const goal = (batch.tokens.length * part) / count;
    let to = from;
    while (to < starts.length && (part === count || middle(batch, to) < goal)) to++;
    parts.push(sliceBatch(batch, from, to));
    from = to;
  }
  return parts;
}

function middle(batch: TrainBatch, sequence: number): number {
  const end = batch.sequenceStarts[sequence + 1] ?? batch.tokens.length;
  return (batch.sequenceStarts[sequence]! + end) / 2;
}

/** Cuts a batch between sequences into parts of at most `maxRows` rows (or one sequence that is longer). */
export function chunkBatch(batch: TrainBatch, maxRows: number): TrainBatch[] {
  const starts = batch.sequenceStarts;
  const parts: TrainBatch[] = [];
  for (let from = 0; from < starts.length; ) {
    let to = from + 1;
    while (to < starts.length && (starts[to + 1] ?? batch.tokens.length) - starts[from]! <= maxRows) to++;
    parts.push(sliceBatch(batch, from, to));
    from = to;
  }
  return parts;
}

/** Positions, attention spans and loss rows of a batch. */
export function layoutRows(batch: TrainBatch): TrainRows {
  const before = batch.prefix?.length ?? 0;
  const rows = before + batch.tokens.length;
  const ids = new Uint32Array(rows);
  const positions = new Uint32Array(rows);
  const spans = new Uint32Array(4 * rows);
  if (batch.prefix) ids.set(batch.prefix);
  ids.set(batch.tokens, before);
  for (let i = 0; i < before; i++) {
    positions[i] = i;
    spans.set([0, 0, 0, i + 1], 4 * i);
  }
  batch.sequenceStarts.forEach((start, s) => {
    const end = batch.sequenceStarts[s + 1] ?? batch.tokens.length;
    for (let i = start; i < end; i++) {
      positions[before + i] = before + i - start;
      spans.set([0, before, before + start, i - start + 1], 4 * (before + i));
    }
  });
  const batchRows = Uint32Array.from(batch.weights.keys()).filter((row) => batch.weights[row] !== 0);
  return { ids, positions, spans, lossRows: batchRows.map((row) => row + before), batchRows };
}
