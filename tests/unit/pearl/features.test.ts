import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import {
  decisionFeature,
  featureLength,
  featureProbe,
  l2Normalise,
  trajectoryFeature,
  trajectoryProbe,
} from '../../../src/pearl/features.ts';
import { FEATURES } from '../../../src/pearl/settings.ts';
import type { Decision } from '../../../src/pearl/types.ts';
import { createCpuBackend } from '../../../src/tensor/cpu/backend.ts';
import { Decoder } from '../../../src/transformer/decoder.ts';
import { probeLayers } from '../../../src/transformer/probe.ts';
import { randomTokens, tinyConfig, tinyWeights } from '../../transformer/models.ts';
import { norm, referenceForward, referenceWeights } from '../../transformer/reference.ts';

const config = tinyConfig('qwen3', { layers: 5 });
const weights = tinyWeights(config);
const reference = referenceWeights(weights);
const ids = randomTokens(14, config.vocab, 'features');
/** The divergent token stands at position 8; its action ends before position 11. */
const decision: Decision = { trajectoryId: 't', turn: 1, token: 2, position: 8, end: 11, tokenId: ids[8]!, tokenText: '' };
const { residuals } = referenceForward(config, reference, ids);

const unit = (x: readonly number[]) => x.map((value) => value / Math.hypot(...x));
const mean = (rows: readonly (readonly number[])[]) => rows[0]!.map((_, c) => rows.reduce((sum, row) => sum + row[c]!, 0) / rows.length);
/** z_l of token y predicted at position p, layer by layer (eq. 2). */
const logits = (p: number, y: number) =>
  residuals.map((layer) => layer[p]!.reduce((sum, x, c) => sum + x * reference.unembed[y * config.hidden + c]!, 0));
const finalState = (p: number) => norm(residuals.at(-1)![p]!, reference.finalNorm, config.normEps);

const EXPECTED: Record<(typeof FEATURES)[number], number[]> = {
  // L = 5: layers 2, 3, 4.
  'late-logits': unit(logits(7, ids[8]!).slice(2)),
  'all-logits': unit(logits(7, ids[8]!)),
  'token-state': unit(finalState(8)),
  'pooled-state': unit(mean([8, 9, 10].map(finalState))),
};

async function decoder(): Promise<Decoder> {
  return new Decoder(await createCpuBackend(), weights);
}

describe('features of a decision', () => {
  it.each(FEATURES)('%s agrees with a float64 computation and has unit length', async (feature) => {
    const { ids: read, points } = featureProbe(ids, decision, feature);
    const found = decisionFeature(await probeLayers(await decoder(), read, points), feature);
    expect(found).toHaveLength(featureLength(feature, config.layers, config.hidden));
    EXPECTED[feature].forEach((value, i) => {
      expect(found[i]).toBeCloseTo(value, 4);
    });
    expect(Math.hypot(...found)).toBeCloseTo(1, 6);
  });

  it('read no further than they need', () => {
    expect(featureProbe(ids, decision, 'late-logits').ids).toEqual(ids.slice(0, 8));
    expect(featureProbe(ids, decision, 'token-state').ids).toEqual(ids.slice(0, 9));
    expect(featureProbe(ids, decision, 'pooled-state').ids).toEqual(ids.slice(0, 11));
  });

  it('do not depend on what stands behind the decision', async () => {
    const other = [...ids.slice(0, 11), ...randomTokens(3, config.vocab, 'other')];
    for (const feature of FEATURES) {
      const read = async (text: readonly number[]) => {
        const probe = featureProbe(text, decision, feature);
        return decisionFeature(await probeLayers(await decoder(), probe.ids, probe.points), feature);
      };
      expect(await read(other)).toEqual(await read(ids));
    }
  });
});

it('the feature of a trajectory is the mean late half over all its sampled tokens', async () => {
  const turns = [{ span: { start: 3, end: 5 } }, { span: { start: 9, end: 11 } }];
  const { ids: read, points } = trajectoryProbe({ ids, turns });
  expect(points.map(({ position }) => position)).toEqual([2, 3, 8, 9]);
  const found = trajectoryFeature(await probeLayers(await decoder(), read, points));
  const expected = unit(mean([3, 4, 9, 10].map((d) => logits(d - 1, ids[d]!))).slice(2));
  expected.forEach((value, i) => {
    expect(found[i]).toBeCloseTo(value, 4);
  });
});

describe('L2 normalisation', () => {
  it('gives unit length at any scale and leaves zeros', () => {
    const random = new Random(1, 'l2');
    for (const scale of [1e-30, 1, 1e30]) {
      const vector = Array.from({ length: 7 }, () => scale * random.normal());
      expect(Math.hypot(...l2Normalise(vector))).toBeCloseTo(1, 12);
    }
    expect(l2Normalise([0, 0])).toEqual(Float64Array.of(0, 0));
    expect(l2Normalise([3, -4])).toEqual(Float64Array.of(0.6, -0.8));
  });
});
