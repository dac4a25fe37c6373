import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright';
import { createServer, type Plugin } from 'vite';
import type { BenchRow } from '../../tests/bench/types.ts';
import { sharedPath } from '../../tests/shared.ts';
import { findChromium } from '../chromium.mjs';
import { ROOT } from '../setup.mjs';

type Report = (line: string) => void;

/**
 * Opens a page of tests/bench in a headless Chromium, cross-origin isolated, and works in it; undefined where there is no
 * Chromium.
 * @param file served at `/bench.gguf`
 */
export async function inBenchPage<T>(
  name: string,
  report: Report,
  work: (page: Page) => Promise<T>,
  file?: string,
): Promise<T | undefined> {
  const executablePath = findChromium();
  if (!executablePath) return undefined;
  const server = await createServer({
    root: ROOT,
    cacheDir: join(ROOT, 'node_modules/.vite-bench'),
    logLevel: 'error',
    // Files that change meanwhile must not reload the page, nor packages that are met late.
    server: { port: 0, host: '127.0.0.1', hmr: false, watch: null },
    optimizeDeps: { entries: [`tests/bench/${name}.ts`, 'workers/engine.ts'] },
    plugins: file === undefined ? [] : [serveGguf(file)],
  });
  await server.listen();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--enable-unsafe-webgpu'] });
  try {
    const page = await browser.newPage();
    page.on('console', (message) => message.type() === 'log' && report(message.text()));
    page.on('pageerror', (error) => report(String(error)));
    await page.goto(`${server.resolvedUrls!.local[0]}tests/bench/${name}.html`);
    return await work(page);
  } finally {
    await browser.close();
    await server.close();
  }
}

/** SmolLM2-135M against llama.cpp, both in workers of one page. */
export async function benchSmolLm(report: Report): Promise<BenchRow[]> {
  const file = process.env.NACRE_BENCH_GGUF ?? smolLmBeside();
  if (file === undefined) {
    return [skipped('skipped: no model file; set NACRE_BENCH_GGUF to the path of a GGUF file of SmolLM2-135M-Instruct')];
  }
  if (!existsSync(file)) return [skipped(`skipped: NACRE_BENCH_GGUF names ${file}, which does not exist`)];
  const run = async (page: Page): Promise<BenchRow[]> => {
    await page.waitForFunction(() => 'runSmolLmBench' in window);
    return page.evaluate(() => window.runSmolLmBench());
  };
  const rows = await inBenchPage('smollm-page', report, run, file);
  return rows ?? [skipped('skipped: no Chromium was found; set CHROME_PATH to one')];
}

function skipped(note: string): BenchRow {
  return { name: 'prefill and decode of SmolLM2-135M, CPU', size: '–', nacre: null, peer: null, ratio: null, unit: 'tokens/s', note };
}

/** The model file among the optional data beside the repository. */
function smolLmBeside(): string | undefined {
  const folder = sharedPath('data/models/smollm2-135m-instruct');
  const name = folder && readdirSync(folder).find((entry) => entry.endsWith('.gguf'));
  return name && join(folder, name);
}

function serveGguf(file: string): Plugin {
  const { size } = statSync(file);
  return {
    name: 'bench-gguf',
    configureServer(server) {
      server.middlewares.use('/bench.gguf', (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': size });
        createReadStream(file).pipe(response);
      });
    },
  };
}
