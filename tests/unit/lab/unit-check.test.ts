import { describe, expect, it } from 'vitest';
import { unitProblem } from '../../../src/lab/unit-check.ts';

const usage = { calls: 1, inputTokens: 3, outputTokens: 2, textVolume: 5, ms: 1.5 };
const rollout = {
  id: 'e1/b1/t1/k1',
  taskId: 'train/heat-0001',
  index: 0,
  contextHash: 'abc',
  turns: [{ observation: 'You see a door.', action: 'open door', reward: 0 }],
  finalObservation: 'Done.',
  answer: 'done',
  reward: 1,
  success: true,
  finish: 'done',
  usage,
  seed: 7,
};

describe('unitProblem', () => {
  it.each([
    ['rollout e1/b1/t1/k1', rollout],
    ['rollout e1/b1/t1/k1', { ...rollout, finish: 'error', error: 'offline', usage: { ...usage, estimatedCalls: 1 } }],
    ['critique e1/b1/mixed/0', { status: 'answered', value: { divergence: 'x', edits: [], cards: [] }, usage, unusable: 0 }],
    ['rank e1/b1', { status: 'unusable', problem: 'not JSON', usage, unusable: 3 }],
    ['step e1/b1', { seconds: 0.5 }],
    ['model', { id: 'm', parameters: 1, backend: 'cpu', adapter: 'WASM' }],
    ['seconds', 3],
    ['something else', 'anything'],
  ])('finds nothing wrong with %s', (key, value) => {
    expect(unitProblem(key, value)).toBeUndefined();
  });

  it.each([
    ['rollout x', 42, /Object/],
    ['rollout x', { ...rollout, turns: undefined }, /turns/],
    ['validate x', { ...rollout, turns: [{ action: 'a', observation: 3, reward: 0 }] }, /turns\.0\.observation/],
    ['test x', { ...rollout, usage: { ...usage, inputTokens: -1 } }, /usage\.inputTokens/],
    ['test x', { ...rollout, reward: Number.NaN }, /reward/],
    ['merge x', { status: 'answered', value: {}, usage, unusable: 0 }, /value\.edits/],
    ['critique x', { status: 'perhaps', usage, unusable: 0 }, /status/],
    ['step e1/b1', { seconds: '3' }, /seconds/],
    ['stopped', { step: 1, reason: 'stopped', tokens: {} }, /tokens/],
  ])('tells what is wrong with %s', (key, value, message) => {
    expect(unitProblem(key, value)).toMatch(message);
  });
});
