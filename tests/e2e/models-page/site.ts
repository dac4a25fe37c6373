import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { build } from 'vite';
import { ensureChromium } from '../../../scripts/chromium.mjs';
import { serve } from '../../../scripts/server.mjs';
import { fromPlainError } from '../../../src/core/errors.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ARGS = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--enable-features=Vulkan',
  '--use-webgpu-adapter=swiftshader',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface ModelsPage {
  readonly page: Page;
  /** Errors of the page's console, refused scripts and connections among them. */
  readonly complaints: readonly string[];
  /** Calls the worker. @throws {NacreError} what it throws */
  call<T>(method: string, ...args: unknown[]): Promise<T>;
  /** Ends the browser's GPU process: every device is lost. */
  crashGpu(): Promise<void>;
  /** What was reported since the last look. */
  seen<T>(): Promise<T[]>;
  close(): Promise<void>;
}

/**
 * A page with the models' code under the page policy and the headers of the real one.
 * @param webLlm the package that runs WebLLM models, where it is not today's
 */
export async function openModelsPage(webLlm?: string): Promise<ModelsPage> {
  const folder = join(ROOT, 'build', webLlm ? `models-page-${webLlm}` : 'models-page');
  await build({
    configFile: false,
    root: join(ROOT, 'tests/e2e/models-page'),
    base: './',
    logLevel: 'error',
    resolve: { alias: webLlm ? { '@mlc-ai/web-llm': webLlm } : {} },
    worker: { format: 'es' },
    build: { outDir: folder, emptyOutDir: true, target: 'es2023', minify: false },
    plugins: [{ name: 'policy', transformIndexHtml: (html) => html.replace('<!-- policy -->', policy()) }],
  });
  const server = await serve(folder, 0);
  const browser: Browser = await chromium.launch({ executablePath: ensureChromium(), args: ARGS });
  const page = await (await browser.newContext()).newPage();
  const complaints: string[] = [];
  page.on(
    'console',
    (message) => message.type() === 'error' && !message.location().url.endsWith('favicon.ico') && complaints.push(message.text()),
  );
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(server.url);
  await page.waitForFunction(() => typeof globalThis.callModels === 'function');
  return {
    page,
    complaints,
    async call<T>(method: string, ...args: unknown[]) {
      const answer = await page.evaluate(([name, values]) => globalThis.callModels(name, values), [method, args] as const);
      if ('error' in answer) throw fromPlainError(answer.error);
      return answer.result as T;
    },
    async crashGpu() {
      const session = await browser.newBrowserCDPSession();
      await session.send('Browser.crashGpuProcess');
    },
    seen: <T>() => page.evaluate(() => globalThis.seen.splice(0)) as Promise<T[]>,
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

export interface FileServer {
  readonly url: string;
  /** Paths asked for, with the range. */
  readonly asked: string[];
  close(): Promise<void>;
}

/**
 * Serves files to other origins, like a host of models: `resolve/main/` in an address means nothing, ranges are understood.
 * @param files by their paths below the root @param faults status to answer with, or bytes after which to hang up, by path
 */
export async function serveFiles(
  files: ReadonlyMap<string, string>,
  faults: Map<string, { status?: number; cutAt?: number }> = new Map(),
): Promise<FileServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://local').pathname.replace(/.*resolve.main./, '/').slice(1));
    const { range } = request.headers;
    asked.push(range ? `${path} ${range}` : path);
    const headers = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };
    const file = files.get(path);
    const fault = faults.get(path);
    if (fault?.status || !file || !existsSync(file)) {
      response.writeHead(fault?.status ?? 404, headers).end();
      return;
    }
    const size = statSync(file).size;
    const begin = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    response.writeHead(begin > 0 ? 206 : 200, { ...headers, 'Content-Type': 'application/octet-stream', 'Content-Length': size - begin });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const cut = fault?.cutAt;
    const stream = createReadStream(file, { start: begin, ...(cut === undefined ? {} : { end: cut - 1 }) });
    stream.pipe(response, { end: cut === undefined });
    if (cut !== undefined) stream.on('end', () => setTimeout(() => response.destroy(), 200));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
