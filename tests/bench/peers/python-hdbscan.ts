import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Work } from '../types.ts';

/** Reads the points once, then fits them at every further line. The exact algorithm, as ours is; the approximate one is no peer. */
const SCRIPT = `
import json, sys
try:
    import numpy, hdbscan
except ImportError:
    print("missing", flush=True)
    sys.exit()
print("ready " + getattr(hdbscan, "__version__", ""), flush=True)
given = json.loads(sys.stdin.readline())
points = numpy.array(given["points"])
for _ in sys.stdin:
    hdbscan.HDBSCAN(min_cluster_size=given["minClusterSize"], min_samples=given["minSamples"], algorithm="prims_kdtree").fit(points)
    print("done", flush=True)
`;

export interface PythonHdbscan {
  readonly work: Work;
  close(): void;
}

/**
 * The reference implementation in a Python process that stays open, so that only its fits are timed.
 * @param python the interpreter. @returns undefined when it is absent or cannot import hdbscan.
 */
export async function openPythonHdbscan(
  points: number[][],
  minClusterSize: number,
  minSamples: number,
  python = process.env.NACRE_PYTHON ?? 'python3',
): Promise<PythonHdbscan | undefined> {
  const child = spawn(python, ['-c', SCRIPT], { stdio: ['pipe', 'pipe', 'ignore'] });
  const absent = new Promise<undefined>((resolve) => child.once('error', () => resolve(undefined)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await Promise.race([absent, lines.next()]);
  if (first === undefined || first.done || !first.value.startsWith('ready')) return undefined;
  child.stdin.write(`${JSON.stringify({ points, minClusterSize, minSamples })}\n`);
  return {
    work: {
      amount: points.length,
      async run() {
        child.stdin.write('\n');
        const answer = await lines.next();
        if (answer.done) throw new Error('The Python process of the bench ended early.');
      },
    },
    close: () => child.stdin.end(),
  };
}
