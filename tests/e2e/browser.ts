import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright';
import { build } from 'vite';
import { ensureChromium } from '../../scripts/chromium.mjs';
import { serve } from '../../scripts/server.mjs';
import { buildPage } from '../../scripts/setup.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Chromium as the tests need it: offline, with software WebGPU. */
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

export const DESKTOP = { width: 1280, height: 800 } as const;
export const PHONE = { width: 390, height: 844 } as const;

export interface Site {
  readonly url: string;
  readonly browser: Browser;
  readonly chromiumPath: string;
  /** A fresh profile, so that tests do not see each other's storage. */
  open(path: string, options?: BrowserContextOptions): Promise<Visit>;
  close(): Promise<void>;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Everything the page complained about: console errors, uncaught errors, refused resources. */
  readonly complaints: readonly string[];
}

/** Builds `dist/` when it is stale, serves it as `npm start` does, and starts Chromium. */
export async function openSite(): Promise<Site> {
  buildPage();
  return start(join(ROOT, 'dist'));
}

/** The same page with the lab replaced by a fake one: for tests of the interface alone. */
export async function openFakeSite(): Promise<Site> {
  await build({ configFile: join(ROOT, 'tests/app/vite.config.ts'), logLevel: 'warn' });
  return start(join(ROOT, 'build/app-fake'));
}

async function start(folder: string): Promise<Site> {
  const chromiumPath = ensureChromium();
  const server = await serve(folder, 0);
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ARGS });
  return {
    url: server.url,
    browser,
    chromiumPath,
    async open(path, options = {}) {
      const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...options });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('requestfailed', (request) => complaints.push(`${request.url()} failed: ${request.failure()?.errorText ?? ''}`));
      await page.goto(server.url + path);
      return { page, context, complaints };
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
