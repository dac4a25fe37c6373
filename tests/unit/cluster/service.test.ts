import { afterAll, describe, expect, it } from 'vitest';
import { startNodeWorker } from '../../../scripts/node-worker.ts';
import { hdbscanSync } from '../../../src/cluster/hdbscan.ts';
import { predict } from '../../../src/cluster/predict.ts';
import { type ClusterService, createClusterService } from '../../../src/cluster/service.ts';
import type { FitProgress } from '../../../src/cluster/types.ts';
import { Random } from '../../../src/core/random.ts';

const random = new Random(4, 'service');
const points = Array.from({ length: 1500 }, (_, i) => Array.from({ length: 6 }, (_, c) => (i % 4 === c ? 5 : 0) + random.normal()));

describe('the service', () => {
  it('cancels a running fit by its name, once', async () => {
    const service = createClusterService();
    const cancelled = service.fit('a', points);
    const other = service.fit('b', points.slice(0, 40));
    await expect(service.fit('a', points)).rejects.toMatchObject({ code: 'job-running' });
    expect(service.cancel('a')).toBe(true);
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
    expect((await other).labels.length).toBe(40);
    expect(service.cancel('a')).toBe(false);
    expect((await service.fit('a', points.slice(0, 5))).labels.length).toBe(5);
  });
});

describe('the worker', () => {
  const worker = startNodeWorker<ClusterService>('cluster');
  afterAll(() => worker.close());

  it('fits, predicts and projects as this thread does, reports progress and names errors', async () => {
    const seen: FitProgress[] = [];
    const fitted = await worker.remote.fit('job', points, { minClusterSize: 8 }, (progress) => seen.push(progress));
    const here = hdbscanSync(points, { minClusterSize: 8 });
    expect(fitted).toEqual(here);
    expect(seen.length).toBeGreaterThan(0);
    expect(await worker.remote.predict(fitted, points.slice(0, 9))).toEqual(predict(here, points.slice(0, 9)));
    expect((await worker.remote.project(points)).coordinates.rows).toBe(points.length);
    await expect(worker.remote.fit('bad', [[Number.NaN]])).rejects.toMatchObject({
      code: 'not-finite',
      hint: 'Remove or repair that row.',
    });
  });

  it('is cancelled from outside', async () => {
    const many = Array.from({ length: 20 }, () => points)
      .flat()
      .slice(0, 12_000);
    const fit = worker.remote.fit('long', many);
    const outcome = expect(fit).rejects.toMatchObject({ code: 'cancelled' });
    expect(await worker.remote.cancel('long')).toBe(true);
    await outcome;
  });
});
