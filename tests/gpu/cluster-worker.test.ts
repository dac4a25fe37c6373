import { expect, it } from 'vitest';
import { hdbscanSync } from '../../src/cluster/hdbscan.ts';
import type { ClusterService } from '../../src/cluster/service.ts';
import { Random } from '../../src/core/random.ts';
import { connectService } from '../../src/core/rpc.ts';

it('clusters in a web worker as on this page', async () => {
  const random = new Random(6, 'browser');
  const points = Array.from({ length: 400 }, (_, i) => Array.from({ length: 5 }, (_, c) => (i % 3 === c ? 4 : 0) + random.normal()));
  const worker = new Worker(new URL('../../workers/cluster.ts', import.meta.url), { type: 'module' });
  const connection = connectService<ClusterService>(worker);
  try {
    const seen: number[] = [];
    const fitted = await connection.remote.fit('page', points, {}, ({ done }) => seen.push(done));
    expect(fitted).toEqual(hdbscanSync(points));
    expect(fitted.clusters.length).toBe(3);
    await expect(connection.remote.fit('bad', [[Number.NaN]])).rejects.toMatchObject({ code: 'not-finite' });
  } finally {
    connection.release();
    worker.terminate();
  }
});
