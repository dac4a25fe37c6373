import { describe, expect, it } from 'vitest';
import { trainedWeights } from '../../src/pearl/export.ts';
import { runPearl } from '../../src/pearl/loop.ts';
import { createCpuBackend } from '../../src/tensor/cpu/backend.ts';
import { createWebGpuBackend } from '../../src/tensor/webgpu/backend.ts';
import { toyPolicy, toyRun } from '../unit/pearl/toy.ts';

const farthest = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((top, value, i) => Math.max(top, Math.abs(value - b[i]!)), 0);

describe('PEARL on WebGPU', () => {
  it('plays, compares, remembers and learns as it does on the CPU', async () => {
    const finish = async (createBackend: typeof createCpuBackend) => {
      // One update: later ones start from weights that differ by rounding.
      const run = toyRun({ connect: () => toyPolicy(1, createBackend) }, { updates: 1, loss: { learningRate: 1e-3, epochs: 2 } });
      const outcome = await runPearl(run);
      return { outcome, weights: (await trainedWeights(run.journal))!.parameters, events: run.events };
    };
    const [gpu, cpu] = [await finish(createWebGpuBackend), await finish(createCpuBackend)];
    const told = (events: typeof gpu.events) =>
      events.flatMap((event) =>
        event.type === 'forest' ? event.trajectories.map(({ id, turns }) => [id, turns.map(({ action }) => action)]) : [],
      );
    expect(told(gpu.events)).toEqual(told(cpu.events));
    const [a, b] = [gpu.outcome, cpu.outcome];
    expect(a.banks.failure.length).toBeGreaterThan(0);
    expect(a.banks.failure.map(({ id }) => id)).toEqual(b.banks.failure.map(({ id }) => id));
    a.banks.failure.forEach(({ feature }, i) => {
      expect(farthest(feature, b.banks.failure[i]!.feature)).toBeLessThan(1e-3);
    });
    expect(a.updates[0]!.gradientNorm).toBeCloseTo(b.updates[0]!.gradientNorm, 3);
    // Adam moves a weight whose gradient is rounding noise by its full rate either way, so the mean is compared.
    const apart = gpu.weights.reduce((sum, weight, i) => sum + Math.abs(weight - cpu.weights[i]!), 0) / cpu.weights.length;
    expect(apart).toBeLessThan(1e-4);
  }, 120_000);
});
