import { createWebGpuBackend } from '../../src/tensor/webgpu/backend.ts';
import { benchDecoding, benchProducts, benchTraining } from '../../tests/bench/cpu.ts';
import { benchGpu } from '../../tests/bench/gpu.ts';
import { benchHdbscan } from '../../tests/bench/hdbscan.ts';
import type { BenchRow } from '../../tests/bench/types.ts';
import { type ParsedArgs, textOption, usage } from './args.ts';
import { benchSmolLm, inBenchPage } from './bench-browser.ts';
import { nodeGpu } from './node-gpu.ts';

type Bench = (report: (line: string) => void) => Promise<BenchRow[]>;

const BENCHES: Readonly<Record<string, Bench>> = {
  products: benchProducts,
  training: benchTraining,
  decoding: benchDecoding,
  hdbscan: benchHdbscan,
  smollm: benchSmolLm,
  webgpu: benchWebGpu,
};

/** `bench`: speed against named peers in the same run. Never fails on speed. @throws {NacreError} `bad-usage`. */
export async function run(args: ParsedArgs): Promise<readonly BenchRow[] | { readonly text: string }> {
  const only = textOption(args, 'only');
  if (only !== undefined && !Object.hasOwn(BENCHES, only)) {
    throw usage(`--only: there is no benchmark "${only}".`, `Choose one of: ${Object.keys(BENCHES).join(', ')}.`);
  }
  const rows: BenchRow[] = [];
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (only === undefined || only === name) rows.push(...(await bench((line) => process.stderr.write(`${line}\n`))));
  }
  return args.options.json === true ? rows : { text: table(rows) };
}

/** On the npm package `webgpu` where that is installed, otherwise in a headless Chromium. */
async function benchWebGpu(report: (line: string) => void): Promise<BenchRow[]> {
  const gpu = await nodeGpu();
  if (gpu) {
    const backend = await createWebGpuBackend({ gpu });
    return benchGpu(backend, { name: '@jax-js/jax (webgpu)', why: 'skipped (it has no WebGPU in Node)' }, report);
  }
  const rows = await inBenchPage('page', report, async (page) => {
    await page.waitForFunction(() => 'runGpuBench' in window);
    return page.evaluate(() => window.runGpuBench());
  });
  if (!rows) report('webgpu: skipped, neither the npm package webgpu nor a Chromium was found');
  return rows ?? [];
}

function table(rows: readonly BenchRow[]): string {
  const number = (x: number) => (x >= 100 ? x.toFixed(0) : x.toPrecision(3));
  const cells = rows.map(({ name, size, nacre, peer, ratio, unit, note }) => [
    name,
    size,
    nacre === null ? '–' : `${number(nacre)} ${unit}`,
    peer ? `${peer.name} ${number(peer.value)}` : '–',
    ratio ? `${ratio.min.toFixed(2)} / ${ratio.median.toFixed(2)} / ${ratio.max.toFixed(2)}` : '–',
    note ?? '',
  ]);
  const all = [['work', 'size', 'nacre', 'peer', 'ratio min / median / max', 'note'], ...cells];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
