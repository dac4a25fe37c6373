/** The npm package `webgpu` (Dawn): more than 100 MB, so it is installed only by those who want it. */
const PACKAGE = 'webgpu';

/**
 * A GPU for Node from the npm package `webgpu`, or undefined when that is not installed (`npm install --no-save webgpu`). `options` are
 * Dawn's, such as `backend=vulkan`. Hand it to `createBackend(choice, { gpu })`.
 */
export async function nodeGpu(options: readonly string[] = []): Promise<GPU | undefined> {
  try {
    const name: string = PACKAGE;
    const dawn: { create(options: readonly string[]): GPU } = await import(/* @vite-ignore */ name);
    return dawn.create(options);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw thrown;
  }
}
