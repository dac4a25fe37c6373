import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright';
import { build } from 'vite';
import { fromPlainError, NacreError } from '../../src/core/errors.ts';
import type { ModelTask } from '../../src/models/own/commands.ts';
import type { EngineHandle } from '../../src/models/own/engine.ts';
import { isFileMissing } from '../../src/transformer/file-source.ts';
import { ensureChromium } from '../chromium.mjs';
import type { ModelFolder } from './node-files.ts';
import type { PageAnswer } from './page-task.ts';

const FLAGS = [
  '--enable-unsafe-webgpu',
  '--enable-features=Vulkan',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** Chromium refuses to run as root inside its sandbox. */
const ROOT_FLAGS = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
/** The adapter that runs on the CPU, for machines without a GPU: right but slow. */
const SOFTWARE_FLAG = '--use-webgpu-adapter=swiftshader';

export interface ModelPage {
  readonly page: Page;
  close(): Promise<void>;
}

/**
 * Headless Chromium on a page that holds nothing but the model code; the model's files are served from this process. A
 * machine without a GPU gets Chromium's software adapter, and stderr says so.
 * @throws {NacreError} `browser-missing`.
 */
export async function openModelPage(model: ModelFolder, signal?: AbortSignal): Promise<ModelPage> {
  const executablePath = findBrowser();
  const server = await servePage(model, await bundlePage());
  const { port } = server.address() as { port: number };
  const launch = (more: readonly string[]): Promise<Browser> =>
    chromium.launch({ executablePath, args: [...FLAGS, ...ROOT_FLAGS, ...more] });
  let browser = await launch([]);
  const close = async (): Promise<void> => {
    await browser.close();
    server.close();
    server.closeAllConnections();
  };
  try {
    signal?.throwIfAborted();
    let page = await openPage(browser, port);
    if (!(await hasAdapter(page))) {
      process.stderr.write('No GPU found: WebGPU runs on the software adapter, which is slow.\n');
      await browser.close();
      browser = await launch([SOFTWARE_FLAG]);
      page = await openPage(browser, port);
    }
    return { page, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/**
 * Runs a task in headless Chromium.
 * @throws {NacreError} `browser-missing`, `webgpu-unavailable`, and whatever the task throws.
 */
export async function runInChromium(model: ModelFolder, task: ModelTask, signal?: AbortSignal): Promise<unknown> {
  const { page, close } = await openModelPage(model, signal);
  try {
    return opened(
      await orAborted(
        page.evaluate(([id, path, work]) => globalThis.nacreTask(id, path, work), [model.id, modelPath(model), task] as const),
        signal,
      ),
    );
  } finally {
    await close();
  }
}

/** An engine on WebGPU in headless Chromium. Plain data and typed arrays cross. @param trainable unpack the weights so that they can be updated */
export async function connectChromiumEngine(
  model: ModelFolder,
  signal?: AbortSignal,
  trainable = false,
): Promise<{ engine: EngineHandle; close(): Promise<void> }> {
  const { page, close } = await openModelPage(model, signal);
  const call = async (method: string, args: readonly unknown[]): Promise<unknown> =>
    opened(await page.evaluate(([name, values]) => globalThis.nacreEngine(name, values), [method, args] as const));
  try {
    await call('load', [{ kind: 'url', url: new URL(modelPath(model), page.url()).href }, page.url(), { backend: 'webgpu', trainable }]);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  const engine = new Proxy({} as EngineHandle, {
    get: (_, method) => (typeof method === 'string' && method !== 'then' ? (...args: unknown[]) => call(method, args) : undefined),
  });
  return { engine, close };
}

/** Where the page finds the model. */
function modelPath({ gguf }: ModelFolder): string {
  return gguf === undefined ? '/model/' : `/model/${encodeURIComponent(gguf)}`;
}

function opened(answer: PageAnswer): unknown {
  if ('error' in answer) throw fromPlainError(answer.error);
  return answer.result;
}

function findBrowser(): string {
  try {
    return ensureChromium();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('browser-missing', message, 'Or use --backend cpu, which needs no browser.', { cause });
  }
}

/** The page's code as one module, built in memory. */
async function bundlePage(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      target: 'es2023',
      lib: { entry: fileURLToPath(new URL('./page-task.ts', import.meta.url)), formats: ['es'], fileName: 'page' },
    },
  });
  const outputs = Array.isArray(built) ? built : [built];
  const chunks = outputs.flatMap((output) => ('output' in output ? output.output : [])).filter((chunk) => chunk.type === 'chunk');
  if (chunks.length !== 1) throw new Error(`expected the page to be one module, got ${chunks.length}`);
  return chunks[0].code;
}

function servePage(model: ModelFolder, code: string): Promise<Server> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://local').pathname);
    const send = (status: number, type: string, body: string | Uint8Array): void => {
      response.writeHead(status, { 'Content-Type': type }).end(body);
    };
    if (path === '/') send(200, 'text/html', '<!doctype html><meta charset="utf-8"><script type="module" src="/page.js"></script>');
    else if (path === '/page.js') send(200, 'text/javascript', code);
    else if (!path.startsWith('/model/')) send(404, 'text/plain', '');
    else {
      model.source.read(path.slice('/model/'.length)).then(
        (bytes) => send(200, 'application/octet-stream', bytes),
        (error: unknown) => send(isFileMissing(error) ? 404 : 500, 'text/plain', String(error)),
      );
    }
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

async function openPage(browser: Browser, port: number): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.waitForFunction(() => typeof globalThis.nacreTask === 'function');
  return page;
}

function hasAdapter(page: Page): Promise<boolean> {
  return page.evaluate(async () => ((await navigator.gpu?.requestAdapter()) ?? null) !== null);
}

/** The task's answer, or the signal's reason as soon as it is aborted; closing the browser then ends the task. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
