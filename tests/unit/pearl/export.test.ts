import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportBanks, importBanks } from '../../../src/pearl/export.ts';
import { packFloats, unpackFloats } from '../../../src/pearl/floats.ts';
import { studyReport } from '../../../src/pearl/report.ts';
import { bunch } from './builders.ts';

const banks = { failure: bunch('f', [0.6, 0.8, 0], 3), success: bunch('s', [1, 0, 0], 2, 'success') };

describe('exported banks', () => {
  it('come back as they were', () => {
    const files = exportBanks(banks);
    expect(files.features).toHaveLength(5 * 3 * 8);
    expect(importBanks(files)).toEqual(banks);
    expect(importBanks(files, 3)).toEqual(banks);
    expect(importBanks(exportBanks({ failure: [], success: [] }), 3)).toEqual({ failure: [], success: [] });
  });

  it('are refused with what is wrong and where', () => {
    const files = exportBanks(banks);
    const damaged = files.features.slice();
    new DataView(damaged.buffer).setFloat64(8 * (3 * 3 + 1), Number.NaN, true);
    expect(() => importBanks({ ...files, features: damaged })).toThrow(/number 1 of the feature of point 3 \("s0"\) is NaN/);
    expect(() => importBanks(files, 4)).toThrow(/dimension is 3, but features of this model have 4/);
    expect(() => importBanks({ ...files, features: damaged.slice(8) })).toThrow(/112 bytes; 5 points of 3 numbers take 120/);
    expect(() => importBanks({ ...files, json: '{' })).toThrow(/banks\.json is not JSON/);
    const text = files.json.replace('"update": 1', '"update": -1');
    expect(() => importBanks({ ...files, json: text })).toThrow(/banks\.json: failure\.0\.update/);
  });
});

describe('packed numbers', () => {
  it('come back bit for bit', () => {
    fc.assert(
      fc.property(fc.float32Array({ maxLength: 200 }), (values) => {
        expect(unpackFloats(packFloats(values), 'test')).toEqual(values);
      }),
    );
    const long = Float32Array.from({ length: 50_000 }, (_, i) => Math.sin(i));
    expect(unpackFloats(packFloats(long), 'test')).toEqual(long);
  });

  it('are refused when they are not whole', () => {
    expect(() => unpackFloats('AAAA', 'Stored weights')).toThrow(/Stored weights: 3 bytes/);
    expect(() => unpackFloats('?', 'Stored weights')).toThrow(/Stored weights: .*base64/);
  });
});

describe('the report of a study', () => {
  const runs = (arm: string, finals: readonly number[]) =>
    finals.map((final, i) => ({ arm, seed: i + 1, final, training: final / 2, activeUpdates: 3 }));

  it('says plainly that a difference within the noise is a null result', () => {
    const report = studyReport([...runs('ARPO', [0.9, 0.95, 0.93]), ...runs('PEARL', [0.94, 0.92, 0.95])], 'ARPO', 300);
    const pearl = report.arms[1]!;
    expect(pearl.final.mean).toBeCloseTo(0.93667, 4);
    expect(pearl.difference!.points).toBeCloseTo(1, 10);
    expect(pearl.difference!.verdict).toBe('within seed noise');
    expect(report.sentences.join('\n')).toMatch(/PEARL: 93\.7% .* \+1\.0 points against ARPO: within seed noise/);
    expect(report.sentences.join('\n')).toMatch(/this is a null result/);
    expect(report.sentences.join('\n')).toMatch(/3 seeds resolve large differences only/);
  });

  it('names what stands out, with its margin (Welch)', () => {
    const report = studyReport(
      [...runs('A', [0.5, 0.52, 0.51]), ...runs('B', [0.9, 0.91, 0.92]), ...runs('C', [0.1, 0.1, 0.11])],
      'A',
      300,
    );
    const [, high, low] = report.arms;
    expect([high!.difference!.verdict, low!.difference!.verdict]).toEqual(['above', 'below']);
    // Both standard deviations are 0.01: error √(2·1e-4/3), four degrees of freedom, t = 2.776.
    expect(high!.difference!.margin).toBeCloseTo(100 * Math.sqrt(2e-4 / 3) * 2.776, 6);
    expect(report.sentences.join('\n')).toMatch(/Beyond seed noise: B, C\. 2 comparisons/);
  });

  it('draws no conclusion from one seed, and none from equal scores', () => {
    const [, single] = studyReport([...runs('A', [0.5]), ...runs('B', [0.9])], 'A', 100).arms;
    expect(single!.difference).toEqual({ points: expect.closeTo(40, 8), verdict: 'one seed cannot tell' });
    const [, equal] = studyReport([...runs('A', [1, 1]), ...runs('B', [1, 1])], 'A', 100).arms;
    expect(equal!.difference).toMatchObject({ points: 0, margin: 0, verdict: 'within seed noise' });
  });
});
