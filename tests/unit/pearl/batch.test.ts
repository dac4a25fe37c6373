import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import { type Lesson, minibatches, trainingBatch } from '../../../src/pearl/batch.ts';
import type { ShapedTokens, Trajectory } from '../../../src/pearl/types.ts';
import { learn } from '../../../src/pearl/update.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { ParallelTrainer } from '../../../src/transformer/parallel.ts';
import { parameterSlots } from '../../../src/transformer/parameters.ts';
import { Trainer } from '../../../src/transformer/train.ts';
import { tinyConfig, tinyWeights } from '../../transformer/models.ts';
import { type ReferenceWeights, referenceForward, referenceParameters, referenceWeights } from '../../transformer/reference.ts';
import { settings, trajectory } from './builders.ts';

const config = tinyConfig('qwen3', { layers: 2, hidden: 12, ffn: 9, vocab: 19, heads: 4, kvHeads: 2, headDim: 4 });
const weights = tinyWeights(config);

const one = trajectory('one', 0, [
  { see: [1, 2], act: [3, 4], logprob: -2 },
  { see: [5], act: [6, 7, 8], logprob: -3.5 },
]);
const two = trajectory('two', 1, [{ see: [1, 2, 3], act: [4], logprob: -2.5 }]);
const idle = trajectory('idle', 0, [{ see: [1], act: [4] }]);
const shaped: ShapedTokens[] = [
  {
    trajectoryId: 'one',
    pairId: 'p',
    outcome: 'failure',
    cluster: 0,
    multiplier: Math.E,
    tokens: [
      { turn: 1, token: 1 },
      { turn: 1, token: 2 },
    ],
  },
];
const lesson: Lesson = { trajectories: [one, two, idle], advantages: { one: [-0.5, -1], two: [1.5], idle: [0] }, shaped };
const { loss } = settings();

/** Eq. 7 as it stands, in float64: the mean over trajectories of the mean over their sampled tokens, or over all tokens. */
function equation(reference: ReferenceWeights, aggregation: 'trajectory' | 'token'): number {
  const multiplier = (id: string, turn: number, token: number) => (id === 'one' && turn === 1 && (token === 1 || token === 2) ? Math.E : 1);
  const perToken = lesson.trajectories.map(({ id, ids, turns }) => {
    const { logits } = referenceForward(config, reference, ids);
    return turns.flatMap(({ tokens, span }, turn) =>
      tokens.ids.map((target, token) => {
        const scores = logits[span.start + token - 1]!;
        const logprob = scores[target]! - Math.log(scores.reduce((sum, x) => sum + Math.exp(x), 0));
        const ratio = Math.exp(logprob - tokens.logprobs[token]!);
        const advantage = lesson.advantages[id]![turn]! * multiplier(id, turn, token);
        return -Math.min(ratio * advantage, Math.min(Math.max(ratio, 0.8), 1.2) * advantage);
      }),
    );
  });
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  return aggregation === 'token'
    ? sum(perToken.flat()) / perToken.flat().length
    : sum(perToken.map((values) => sum(values) / values.length)) / perToken.length;
}

async function trainer(): Promise<Trainer> {
  return new Trainer(new Decoder(await createCpuBackend(), tinyWeights(config)));
}

describe('the training batch', () => {
  it.each(['trajectory', 'token'] as const)('has the loss and gradients of eq. 7 (mean over %s)', async (aggregation) => {
    const batch = trainingBatch(lesson, { ...loss, aggregation })!;
    const found = await (await trainer()).gradient(batch);
    const reference = referenceWeights(weights);
    expect(found.loss).toBeCloseTo(equation(reference, aggregation), 4);
    const arrays = referenceParameters(reference);
    const random = new Random(4, 'coordinates');
    const scale = Math.max(...found.gradient.map(Math.abs));
    for (const { name, offset, length } of parameterSlots(weights)) {
      const array = arrays.get(name)!;
      for (const i of [random.int(length), random.int(length), random.int(length)]) {
        const before = array[i]!;
        const at = (value: number) => {
          array[i] = value;
          return equation(reference, aggregation);
        };
        const expected = (at(before + 1e-5) - at(before - 1e-5)) / 2e-5;
        array[i] = before;
        expect(Math.abs(found.gradient[offset + i]! - expected), `${name}[${i}]`).toBeLessThan(2e-4 * scale);
      }
    }
  });

  it('reads what all trajectories begin with once, and leaves out those without advantage', () => {
    const batch = trainingBatch(lesson, loss)!;
    expect(batch.prefix).toEqual(Uint32Array.of(0, 1));
    expect(Array.from(batch.sequenceStarts)).toEqual([0, one.ids.length - 3]);
    expect(batch.tokens).toHaveLength(one.ids.length + two.ids.length - 6);
    const rows = batch.weights.filter((weight) => weight > 0);
    // Seven sampled tokens of one, two of two; idle counts among the three trajectories of the mean.
    expect(rows.slice(0, 7)).toEqual(new Float32Array(7).fill(1 / 21));
    expect(rows.slice(7)).toEqual(new Float32Array(2).fill(1 / 6));
  });

  it('is nothing when nothing has an advantage', () => {
    expect(trainingBatch({ ...lesson, advantages: {}, shaped: [] }, loss)).toBeUndefined();
  });

  it('is the same to the bit whether or not the memory had a say that changed nothing', () => {
    const plain = trainingBatch({ ...lesson, shaped: [] }, loss);
    expect(trainingBatch({ ...lesson, shaped: shaped.map((entry) => ({ ...entry, tokens: [] })) }, loss)).toEqual(plain);
  });
});

describe('an update', () => {
  it('passes over the batch as often as asked, and the clip binds from the second step on', async () => {
    const worker = await trainer();
    const fresh = await worker.gradient({ ...trainingBatch(lesson, loss)! });
    // Behaviour log-probabilities of these very weights, so that r is 1 at the first step.
    const own = (source: Trajectory): Trajectory => ({
      ...source,
      turns: source.turns.map((turn) => ({ ...turn, tokens: { ...turn.tokens, logprobs: turn.tokens.logprobs.map(() => 0) } })),
    });
    expect(fresh.rows).toBe(9);
    const on = await onPolicy(worker, [one, two, idle].map(own));
    const once = await learn(new ParallelTrainer([await trainer()], 2), on, { ...loss, epochs: 1 }, new Random(1));
    expect(once).toMatchObject({ optimiserSteps: 1, clipFraction: 0 });
    const fast = { ...loss, learningRate: 0.05, epochs: 4 };
    const often = await learn(new ParallelTrainer([await trainer()], 2), on, fast, new Random(1));
    expect(often.optimiserSteps).toBe(4);
    expect(often.clipFraction).toBeGreaterThan(0);
    expect(often.clipFraction).toBeLessThan(1);
  });

  it('takes no step when there is nothing to learn from', async () => {
    const worker = await trainer();
    const before = await worker.parameters();
    const report = await learn(new ParallelTrainer([worker], 2), { ...lesson, advantages: {}, shaped: [] }, loss, new Random(1));
    expect(report).toEqual({ loss: 0, clipFraction: 0, gradientNorm: 0, optimiserSteps: 0, trainedTokens: 0 });
    expect(await worker.parameters()).toEqual(before);
  });

  it('deals every trajectory to one minibatch', () => {
    const many = Array.from({ length: 7 }, (_, i) => trajectory(`t${i}`, 0, [{ see: [1], act: [2] }]));
    const parts = minibatches(many, 3, new Random(1));
    expect(parts.map((part) => part.length)).toEqual([3, 3, 1]);
    expect(new Set(parts.flat()).size).toBe(7);
    expect(minibatches(many, 1, new Random(1))).toEqual([many]);
  });
});

/** The lesson with the log-probabilities that the worker's weights give. */
async function onPolicy(worker: Trainer, trajectories: readonly Trajectory[]): Promise<Lesson> {
  const batch = trainingBatch({ ...lesson, trajectories }, loss)!;
  const { logprobs } = await worker.gradient(batch);
  const rows = logprobs.filter((_, row) => batch.weights[row]! > 0);
  let at = 0;
  const exact = trajectories.map((source) => ({
    ...source,
    turns: source.turns.map((turn) => ({
      ...turn,
      tokens: { ...turn.tokens, logprobs: turn.tokens.ids.map(() => (source.id === 'idle' ? 0 : rows[at++]!)) },
    })),
  }));
  return { ...lesson, trajectories: exact };
}
