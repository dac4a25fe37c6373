import { HDBSCAN } from 'hdbscan-ts';
import { hdbscanSync } from '../../src/cluster/hdbscan.ts';
import { Random } from '../../src/core/random.ts';
import { compare } from './compare.ts';
import { openPythonHdbscan } from './peers/python-hdbscan.ts';
import type { BenchRow, Work } from './types.ts';

const DIMENSIONS = 18;
const MIN_CLUSTER_SIZE = 10;
const MIN_SAMPLES = 5;
const UNIT = 'points/s';

/**
 * HDBSCAN of unit vectors in eight groups with a tenth of noise, as a memory of decisions looks. Small sizes against the npm
 * package hdbscan-ts, whose time grows with n³; larger ones against Python's hdbscan where it can be imported.
 * @param report told the name of each row before it is measured.
 */
export async function benchHdbscan(report: (line: string) => void): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const n of [100, 200]) {
    report(`hdbscan, n = ${n}, against hdbscan-ts`);
    const points = groups(n);
    rows.push(await compare({ ...contest(n), nacre: ours(points), peerName: 'hdbscan-ts', peer: typescriptPeer(points) }));
  }
  for (const n of [1000, 5000]) {
    report(`hdbscan, n = ${n}, against Python hdbscan`);
    const points = groups(n);
    const python = await openPythonHdbscan(points, MIN_CLUSTER_SIZE, MIN_SAMPLES);
    try {
      const why = 'no Python that can import hdbscan, skipped';
      rows.push(await compare({ ...contest(n), nacre: ours(points), peerName: 'Python hdbscan (prims)', peer: python?.work, why }));
    } finally {
      python?.close();
    }
  }
  return rows;
}

function contest(n: number): { name: string; size: string; unit: string } {
  return { name: 'hdbscan', size: `n=${n}, d=${DIMENSIONS}`, unit: UNIT };
}

function ours(points: number[][]): Work {
  return {
    amount: points.length,
    run: async () => void hdbscanSync(points, { minClusterSize: MIN_CLUSTER_SIZE, minSamples: MIN_SAMPLES }),
  };
}

function typescriptPeer(points: number[][]): Work {
  return {
    amount: points.length,
    run: async () => void new HDBSCAN({ minClusterSize: MIN_CLUSTER_SIZE, minSamples: MIN_SAMPLES }).fit(points),
  };
}

function groups(n: number): number[][] {
  const random = new Random(1, 'groups');
  const vector = (): number[] => Array.from({ length: DIMENSIONS }, () => random.normal());
  const centres = Array.from({ length: 8 }, vector);
  return Array.from({ length: n }, () => {
    const centre = random.chance(0.1) ? vector() : random.pick(centres);
    const point = centre.map((x) => x + 0.3 * random.normal());
    const length = Math.hypot(...point);
    return point.map((x) => x / length);
  });
}
