import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { build } from 'vite';
import { ensureChromium } from '../../../scripts/chromium.mjs';
import { serve } from '../../../scripts/server.mjs';
import { fromPlainError } from '../../../src/core/errors.ts';
import type { LabService, RunUpdate } from '../../../src/lab/service.ts';
import type { Answer } from './main.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ARGS = ['--no-sandbox', '--enable-unsafe-webgpu', '--enable-features=Vulkan', '--use-webgpu-adapter=swiftshader', '--no-first-run'];

export interface LabPage {
  /** @throws {NacreError} what the lab throws */
  call<T>(method: keyof LabService, ...args: unknown[]): Promise<T>;
  addFiles(name: string, urls: readonly string[]): Promise<string>;
  play(runId: string): Promise<RunUpdate>;
  /** What was told since the last look. */
  told<T>(): Promise<T[]>;
  reload(): Promise<void>;
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** The lab of the real page, with its workers and its page policy, without the interface. */
export async function openLabPage(): Promise<LabPage> {
  const outDir = join(ROOT, 'build/lab-page');
  await build({
    configFile: false,
    root: join(ROOT, 'tests/e2e/lab-page'),
    base: './',
    publicDir: join(ROOT, 'public'),
    logLevel: 'error',
    worker: { format: 'es' },
    build: { outDir, emptyOutDir: true, target: 'es2023', minify: false },
    plugins: [{ name: 'policy', transformIndexHtml: (html) => html.replace('<!-- policy -->', policy()) }],
  });
  const server = await serve(outDir, 0);
  const browser = await chromium.launch({ executablePath: ensureChromium(), args: ARGS });
  const page = await (await browser.newContext()).newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  const load = async (): Promise<void> => {
    await page.goto(server.url);
    await page.waitForFunction(() => typeof globalThis.callLab === 'function');
  };
  await load();
  const unpack = <T>(answer: Answer): T => {
    if ('error' in answer) throw fromPlainError(answer.error);
    return answer.result as T;
  };
  return {
    complaints,
    call: async <T>(method: keyof LabService, ...args: unknown[]) =>
      unpack<T>(await page.evaluate(([name, values]) => globalThis.callLab(name, values), [method, args] as const)),
    addFiles: async (name, urls) =>
      unpack<string>(await page.evaluate(([as, from]) => globalThis.addFiles(as, from), [name, urls] as const)),
    play: (id) => page.evaluate((run) => globalThis.playRun(run), id),
    told: <T>() => page.evaluate(() => globalThis.told.splice(0)) as Promise<T[]>,
    reload: load,
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/** The page policy of the real page, so that the test fails with it. */
function policy(): string {
  const found = /<meta\s+http-equiv="Content-Security-Policy"[^>]*>/.exec(readFileSync(join(ROOT, 'index.html'), 'utf8'));
  if (!found) throw new Error('index.html has no Content-Security-Policy.');
  return found[0];
}
