import { createWebGpuBackend } from '../../src/tensor/webgpu/backend.ts';
import { benchGpu, type GpuPeer } from './gpu.ts';
import type { BenchRow } from './types.ts';

declare global {
  interface Window {
    runGpuBench(): Promise<BenchRow[]>;
  }
}

async function openPeer(): Promise<GpuPeer> {
  const name = '@jax-js/jax (webgpu)';
  try {
    const jax = await import('./peers/jax.ts');
    await jax.openJax('webgpu');
    return { name, jax };
  } catch (thrown) {
    return { name, why: `skipped (${thrown instanceof Error ? thrown.message : String(thrown)})` };
  }
}

/** Called by the bench command in its headless Chromium. */
window.runGpuBench = async () => benchGpu(await createWebGpuBackend(), await openPeer(), (line) => console.log(line));
