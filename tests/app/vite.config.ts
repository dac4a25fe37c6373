import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vite';
import solid from 'vite-plugin-solid';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The page with the lab replaced by `fake-lab.ts`, for tests of the interface alone. Built into build/app-fake/. */
export default mergeConfig(
  {
    root: here('../../'),
    base: './',
    plugins: [
      solid(),
      {
        name: 'fake-lab',
        enforce: 'pre' as const,
        resolveId(source: string) {
          return source.endsWith('lab-client.ts') ? here('./fake-lab.ts') : null;
        },
      },
    ],
  },
  defineConfig({ build: { target: 'es2023', outDir: here('../../build/app-fake'), emptyOutDir: true, chunkSizeWarningLimit: 2500 } }),
);
