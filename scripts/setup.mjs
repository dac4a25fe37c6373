import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const OLDEST_NODE = [20, 19];

/**
 * Makes the checkout ready to run: dependencies from the lock file, WASM kernels, shader index and WebLLM's
 * list of models.
 * Everything it prints goes to stderr, so that commands keep stdout for their result.
 * @throws {Error} saying what is missing and how to get it.
 */
export function setup() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    throw new Error(
      `Nacre needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}. Get one from https://nodejs.org.`,
    );
  }
  if (dependenciesAreStale()) {
    console.error('Installing dependencies from package-lock.json …');
    step(
      'npm',
      ['ci', '--no-audit', '--no-fund', '--loglevel=error'],
      'npm ci failed: check the network or the registry named in your npm configuration.',
    );
  }
  step(process.execPath, ['scripts/build-wasm.mjs'], 'Compiling the WASM kernels failed.');
  step(process.execPath, ['scripts/build-shaders.mjs'], 'Building the shader index failed.');
  step(process.execPath, ['scripts/build-webllm-catalogue.mjs'], "Reading WebLLM's list of models failed.");
}

/** Builds the page into dist/ unless it is newer than every source. */
export function buildPage() {
  if (!isStale(join(ROOT, 'dist/index.html'), ['src', 'workers', 'shaders', 'public', 'index.html', 'vite.config.ts', 'package-lock.json']))
    return;
  console.error('Building the page …');
  step(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'], 'vite build failed.');
}

/** Runs a command in the repository root; its stdout is sent to stderr. @throws {Error} with `failure` when it fails. */
export function step(command, args, failure) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (status !== 0) throw new Error(error ? `${failure} (${error.message})` : failure);
}

/** Whether `output` is missing or older than any file below `sources` (paths relative to the root). */
export function isStale(output, sources) {
  if (!existsSync(output)) return true;
  const built = statSync(output).mtimeMs;
  return sources.some((source) => newestBelow(join(ROOT, source)) > built);
}

function dependenciesAreStale() {
  const installed = join(ROOT, 'node_modules/.package-lock.json');
  return !existsSync(installed) || statSync(join(ROOT, 'package-lock.json')).mtimeMs > statSync(installed).mtimeMs + 1000;
}

function newestBelow(path) {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestBelow(join(path, name))), 0);
}
