import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MemoryJournal } from '../../../src/core/journal.ts';
import { parsePearlConfig, studyArms } from '../../../src/lab/pearl-config.ts';
import { ScopedJournal } from '../../../src/lab/scoped-journal.ts';

const config = (pearl: object, rest: object = {}) => ({
  schema: 'nacre.experiment/1',
  kind: 'pearl',
  name: 'test',
  suite: { id: 'household' },
  pearl,
  ...rest,
});
const example = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../public/examples/${name}.json`, import.meta.url), 'utf8')) as object;

describe('settings', () => {
  it('default to the preset of the shipped model', () => {
    const { pearl, suite } = parsePearlConfig(config({}));
    expect(suite).toEqual({ id: 'household', train: 192, val: 192, test: 0, unseen: 0 });
    expect(pearl).toMatchObject({
      optimiser: 'pearl',
      base: 'arpo',
      prompts: 4,
      rollouts: { group: 16, roots: 8, temperature: 1, topP: 1 },
      branching: { rule: 'deterministic', alpha: 0.5, beta: 0.2, threshold: 0.5, probeTokens: 20, probeTopK: 128 },
      loss: { epochs: 2, clip: 0.2, learningRate: 2e-4, beta1: 0.9, beta2: 0.98, weightDecay: 0.1, gradientClip: 1 },
      memory: { window: 25, refitEvery: 3, minClusterSize: 5, minSamples: 3, veto: true, direction: 'failure', location: 'pattern' },
    });
  });

  it.each<[string, object, RegExp]>([
    ['a cluster size of 1', { memory: { minClusterSize: 1 } }, /pearl\.memory\.minClusterSize/],
    ['refits rarer than the window', { memory: { window: 5, refitEvery: 6 } }, /pearl\.memory\.refitEvery: .*window/],
    ['more roots than trajectories', { rollouts: { group: 8, roots: 9 } }, /pearl\.rollouts\.roots: .*group/],
    ['an unknown optimiser', { optimiser: 'ppo' }, /pearl\.optimiser/],
    ['PEARL on an optimiser that does not branch', { base: 'grpo' }, /pearl\.base/],
    ['an unknown feature', { memory: { feature: 'logits' } }, /pearl\.memory\.feature/],
    ['a rate that is no number', { loss: { learningRate: 'fast' } }, /pearl\.loss\.learningRate/],
    ['a rate that is not finite', { loss: { learningRate: Number.POSITIVE_INFINITY } }, /pearl\.loss\.learningRate/],
    ['half an update', { updates: 1.5 }, /pearl\.updates/],
    ['an unknown field', { memory: { windows: 3 } }, /pearl\.memory\.windows/],
  ])('refuse %s and name the field', (_, pearl, message) => {
    expect(() => parsePearlConfig(config(pearl))).toThrow(message);
  });

  it('allow any refit interval with unlimited history', () => {
    expect(parsePearlConfig(config({ memory: { window: 'unlimited', refitEvery: 500 } })).pearl.memory.refitEvery).toBe(500);
  });

  it('of the shipped examples are valid', () => {
    expect(parsePearlConfig(example('pearl-quick')).suite.val).toBe(192);
    const study = parsePearlConfig(example('pearl-study'));
    expect(study.study!.seeds).toHaveLength(3);
    expect(studyArms(study).map(({ settings }) => settings.optimiser)).toEqual([
      'pearl',
      'arpo',
      'grpo',
      'pearl',
      'pearl',
      'pearl',
      'pearl',
    ]);
  });
});

describe('a study', () => {
  const study = (variants: readonly object[], reference = 'A') => config({ updates: 7 }, { study: { seeds: [1], reference, variants } });

  it('puts each variant’s fields on top of the experiment’s', () => {
    const arms = studyArms(parsePearlConfig(study([{ name: 'A' }, { name: 'B', pearl: { updates: 9, memory: { veto: false } } }])));
    expect(arms.map(({ settings }) => [settings.updates, settings.memory.veto, settings.memory.window])).toEqual([
      [7, true, 25],
      [9, false, 25],
    ]);
  });

  it('is refused with the variant and field at fault', () => {
    expect(() => parsePearlConfig(study([{ name: 'A', pearl: { memory: { minClusterSize: 1 } } }]))).toThrow(
      /study\.variants\.0\.pearl \("A"\).*memory\.minClusterSize/,
    );
    expect(() => parsePearlConfig(study([{ name: 'A' }, { name: 'A' }]))).toThrow(/two are called "A"/);
    expect(() => parsePearlConfig(study([{ name: 'A' }], 'B'))).toThrow(/study\.reference/);
  });

  it('keeps its arms apart in one journal', async () => {
    const whole = new MemoryJournal();
    const part = new ScopedJournal(whole, 'A/1');
    await part.once('update 1', async () => 1);
    await part.onceEach<number>(['x', 'y'], async (missing, store) => missing.forEach((key, i) => void store(key, i)));
    expect(whole.keys()).toEqual(['A/1/update 1', 'A/1/x', 'A/1/y']);
    expect(await part.onceEach<number>(['y', 'x'], async () => undefined)).toEqual([1, 0]);
    expect(await part.peek('update 1')).toBe(1);
    expect(await new ScopedJournal(whole, 'A/2').peek('update 1')).toBeUndefined();
  });
});
