import { readFile } from 'node:fs/promises';
import { hdbscan } from '../../src/cluster/hdbscan.ts';
import { type Points, toMatrix } from '../../src/cluster/matrix.ts';
import { predict } from '../../src/cluster/predict.ts';
import { type ClusteringReport, reportOf } from '../../src/cluster/report.ts';
import type { FitProgress } from '../../src/cluster/types.ts';
import { NacreError } from '../../src/core/errors.ts';
import { numberOption, type ParsedArgs } from './args.ts';
import { userPath } from './node-files.ts';

/** `cluster FILE.json`: HDBSCAN of `{points: [[…]], queries?: [[…]]}`. */
export async function run(args: ParsedArgs, signal?: AbortSignal): Promise<ClusteringReport> {
  const whole = { max: Number.POSITIVE_INFINITY, integer: true };
  const minClusterSize = numberOption(args, 'min-cluster-size', { default: 10, min: 2, ...whole });
  const minSamples = numberOption(args, 'min-samples', { default: 5, min: 1, ...whole });
  const path = args.positional[0]!;
  const file = parseFile(await readText(path), path);
  const points = inFile(path, () => toMatrix(file.points, 'points'));
  const clustering = await hdbscan(points, {
    minClusterSize,
    minSamples,
    onProgress: progressLine(),
    ...(signal === undefined ? {} : { signal }),
  });
  const { queries } = file;
  return reportOf(clustering, queries === undefined ? undefined : inFile(path, () => predict(clustering, queries)));
}

interface PointsFile {
  readonly points: Points;
  readonly queries?: Points;
}

/** @throws {NacreError} `file-missing`. */
async function readText(path: string): Promise<string> {
  try {
    return await readFile(userPath(path), 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code !== 'ENOENT' && code !== 'EISDIR') throw cause;
    const what = code === 'EISDIR' ? 'is a folder' : 'does not exist';
    throw new NacreError('file-missing', `${path} ${what}.`, 'Give a JSON file with points.', { cause });
  }
}

/** The points file's content. Rows are checked later, when they become a matrix. @throws {NacreError} `bad-json` or `bad-field`. */
function parseFile(text: string, path: string): PointsFile {
  try {
    return fieldsOf(JSON.parse(text.replace(/^\uFEFF/, '')), path);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    locateNonNumber(text, path);
    const reason = cause.message.replace(/\s+/g, ' ');
    throw new NacreError('bad-json', `${path} is not JSON: ${reason}.`, 'Give a JSON document such as {"points": [[0.1, 0.2], …]}.', {
      cause,
    });
  }
}

/** Python writes NaN and Infinity into its JSON. If that is all that is wrong, throws the error that names the row and column. */
function locateNonNumber(text: string, path: string): void {
  let document: unknown;
  try {
    document = JSON.parse(text.replace(/-?\b(NaN|Infinity)\b/g, '"$&"'));
  } catch (error) {
    if (error instanceof SyntaxError) return;
    throw error;
  }
  const { points, queries } = fieldsOf(document, path);
  inFile(path, () => toMatrix(points, 'points'));
  if (queries !== undefined) inFile(path, () => toMatrix(queries, 'queries'));
}

function fieldsOf(document: unknown, path: string): PointsFile {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new NacreError(
      'bad-field',
      `${path} holds no object.`,
      'Give {"points": [[…], …], "queries": [[…], …]}; queries may be left out.',
    );
  }
  const fields = document as { points?: unknown; queries?: unknown };
  const points = rowsOf(fields.points, 'points', path);
  return fields.queries === undefined ? { points } : { points, queries: rowsOf(fields.queries, 'queries', path) };
}

function rowsOf(value: unknown, name: string, path: string): readonly number[][] {
  const hint = `${name} is a list of rows, each a list of numbers: [[0.1, 0.2], …].`;
  if (!Array.isArray(value)) {
    throw new NacreError('bad-field', `${path}: ${name} is ${value === undefined ? 'missing' : 'not a list'}.`, hint);
  }
  const bad = value.findIndex((row) => !Array.isArray(row));
  if (bad >= 0) throw new NacreError('bad-field', `${path}: ${name}: row ${bad} is not a list.`, hint);
  return value as number[][];
}

/** Puts the file's name before the errors about its rows. */
function inFile<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof NacreError)) throw thrown;
    throw new NacreError(thrown.code, `${path}: ${thrown.message}`, thrown.hint, { cause: thrown });
  }
}

/** A line on stderr that counts up; silent where stderr is no terminal. */
function progressLine(): (progress: FitProgress) => void {
  let shown = -1;
  return ({ done }) => {
    const percent = Math.floor(100 * done);
    if (!process.stderr.isTTY || percent === shown) return;
    shown = percent;
    process.stderr.write(`\rClustering: ${percent} %${percent === 100 ? '\n' : ''}`);
  };
}
