import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseArgs } from '../../../scripts/cli/args.ts';
import { run } from '../../../scripts/cli/cluster.ts';
import expected from '../../fixtures/cluster/two-groups.expected.json' with { type: 'json' };

const fixture = fileURLToPath(new URL('../../fixtures/cluster/two-groups.json', import.meta.url));
const command = (...args: string[]): Promise<unknown> => run(parseArgs(['cluster', ...args]));

/** The last bits may differ between engines. */
function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, x: unknown) => (typeof x === 'number' ? Number(x.toPrecision(12)) : x)));
}

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nacre-cluster-'));
});
afterAll(() => rm(folder, { recursive: true }));
async function file(text: string): Promise<string> {
  const path = join(folder, 'points.json');
  await writeFile(path, text);
  return path;
}

describe('the command cluster', () => {
  it('reports the clustering of a file', async () => {
    expect(rounded(await command(fixture, '--min-cluster-size', '4', '--min-samples', '2'))).toEqual(rounded(expected));
  });

  it('leaves predict out without queries, and takes a byte-order mark', async () => {
    const report = await command(await file('\uFEFF{"points": []}'));
    expect(report).toMatchObject({ labels: [], numClusters: 0, minClusterSize: 10, minSamples: 5 });
    expect(report).not.toHaveProperty('predict');
  });

  it.each([
    ['{"points": [[1, NaN]]}', 'not-a-number', 'points: row 0, column 1 is "NaN"'],
    ['{"points": [[1, 2], [1, 1e999]]}', 'not-finite', 'points: row 1, column 1 is Infinity'],
    ['{"points": [[1, "2"]]}', 'not-a-number', 'points: row 0, column 1 is "2"'],
    ['{"points": [[1, null]]}', 'not-a-number', 'points: row 0, column 1 is null'],
    ['{"points": [[1, 2], [3]]}', 'bad-shape', 'points: row 1 has 1 numbers'],
    ['{"points": [[1, 2]], "queries": [[3]]}', 'bad-shape', 'queries: row 0 has 1 numbers'],
    ['{"points": [[1, 2]], "queries": [[3, NaN]]}', 'not-a-number', 'queries: row 0, column 1'],
    ['{"points": [[1, 2], 3]}', 'bad-field', 'points: row 1 is not a list'],
    ['{"points": {}}', 'bad-field', 'points is not a list'],
    ['{}', 'bad-field', 'points is missing'],
    ['[[1, 2]]', 'bad-field', 'holds no object'],
    ['{"points": [[1,', 'bad-json', 'is not JSON'],
    ['{"points": [[1]], "note": NaN}', 'bad-json', 'is not JSON'],
  ])('refuses %s', async (text, code, says) => {
    const path = await file(text);
    await expect(command(path)).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
    await expect(command(path)).rejects.toThrow('points.json');
  });

  it('refuses settings out of range, folders and files that do not exist', async () => {
    await expect(command(fixture, '--min-cluster-size', '1')).rejects.toMatchObject({ code: 'bad-usage' });
    await expect(command(fixture, '--min-samples', '0')).rejects.toMatchObject({ code: 'bad-usage' });
    await expect(command(folder)).rejects.toMatchObject({ code: 'file-missing', message: expect.stringContaining('is a folder') });
    await expect(command(join(folder, 'none.json'))).rejects.toMatchObject({ code: 'file-missing' });
  });
});
