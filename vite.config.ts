import { playwright } from '@vitest/browser-playwright';
import solid from 'vite-plugin-solid';
import { defineConfig } from 'vitest/config';
import { buildShaders } from './scripts/build-shaders.mjs';
import { buildWasm } from './scripts/build-wasm.mjs';
import { buildWebLlmCatalogue } from './scripts/build-webllm-catalogue.mjs';
import { findChromium } from './scripts/chromium.mjs';

/** Headers that make the page cross-origin isolated, so that threads and shared memory work. */
const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'credentialless',
};

const chromiumPath = findChromium();
buildShaders();
await buildWasm();
await buildWebLlmCatalogue();

export default defineConfig({
  base: './',
  plugins: [solid()],
  worker: { format: 'es', rolldownOptions: { checks: { pluginTimings: false } } },
  server: { headers: isolation },
  preview: { headers: isolation },
  build: {
    target: 'es2023',
    sourcemap: false,
    chunkSizeWarningLimit: 2500,
    // How long plugins take is nothing that somebody who starts the page can act on.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  test: {
    // vite-plugin-solid turns vitest to jsdom unless the root names another environment.
    environment: 'node',
    projects: [
      {
        extends: true,
        test: { name: 'unit', environment: 'node', include: ['tests/unit/**/*.test.ts'], testTimeout: 60_000 },
      },
      {
        extends: true,
        test: {
          name: 'gpu',
          include: ['tests/gpu/**/*.test.ts'],
          testTimeout: 120_000,
          fileParallelism: false,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: {
                ...(chromiumPath ? { executablePath: chromiumPath } : {}),
                args: [
                  '--no-sandbox',
                  '--enable-unsafe-webgpu',
                  '--use-webgpu-adapter=swiftshader',
                  '--disable-quic',
                  '--no-first-run',
                  '--disable-background-networking',
                  '--disable-component-update',
                  '--disable-sync',
                ],
              },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          environment: 'node',
          include: ['tests/e2e/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
