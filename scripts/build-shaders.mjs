import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Every *.wgsl of a folder as [name, text], sorted so that the output is stable. */
function shadersIn(folder) {
  return readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.wgsl'))
    .sort()
    .map((file) => [file.slice(0, -'.wgsl'.length), readFileSync(join(ROOT, folder, file), 'utf8').replaceAll('\r\n', '\n')]);
}

/**
 * Writes shaders/*.wgsl (kernels) and shaders/parts/*.wgsl (shared parts) as one module, so that the same import works in
 * Vite, in workers and in Node. The file is only touched when something changed. Returns its path.
 */
export function buildShaders() {
  const path = join(ROOT, 'src/tensor/webgpu/shaders.generated.ts');
  const table = (name, folder) => {
    const lines = shadersIn(folder).map(([key, text]) => `  ${key}: ${JSON.stringify(text)},`);
    return `export const ${name} = {\n${lines.join('\n')}\n} as const;\n`;
  };
  const text = `// Written by scripts/build-shaders.mjs from shaders/: change those files instead.\n${table('KERNELS', 'shaders')}\n${table('PARTS', 'shaders/parts')}`;
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return path;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) buildShaders();
