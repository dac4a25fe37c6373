import { readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isStale, ROOT } from './setup.mjs';

const MODULES = [
  { entry: 'assembly/index.ts', output: 'src/tensor/cpu/kernels.generated.ts', name: 'KERNELS_BASE64' },
  { entry: 'assembly/cluster/distances.ts', output: 'src/cluster/distances.generated.ts', name: 'DISTANCES_BASE64' },
];

/**
 * Compiles assembly/ to WASM and writes it as TypeScript modules that export the bytes in base64, so that Node, pages and
 * workers load the same file in the same way, with no request of its own. Leaves outputs that are newer than the sources.
 * @throws {Error} with the compiler's messages.
 */
export async function buildWasm() {
  for (const module of MODULES) if (isStale(join(ROOT, module.output), ['assembly', 'scripts/build-wasm.mjs'])) await compile(module);
}

async function compile({ entry, output, name }) {
  const { default: asc } = await import('assemblyscript/asc');
  const files = new Map();
  const { error, stderr } = await asc.main(
    [
      entry,
      ...['--baseDir', ROOT, '--outFile', 'kernels.wasm', '--bindings', 'none'],
      ...['-O3', '--noAssert', '--runtime', 'stub', '--importMemory', '--enable', 'simd', '--enable', 'bulk-memory'],
    ],
    { writeFile: (name, contents) => files.set(name, contents), readFile },
  );
  if (error) throw new Error(`asc: ${error.message}\n${stderr.toString()}`);
  const base64 = Buffer.from(files.get('kernels.wasm')).toString('base64');
  // Written beside and renamed, so that a reader never sees half a file.
  const path = join(ROOT, output);
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `// Made by scripts/build-wasm.mjs from assembly/.\nexport const ${name} =\n  '${base64}';\n`);
  renameSync(temporary, path);
}

function readFile(name, baseDir) {
  try {
    return readFileSync(join(baseDir, name), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await buildWasm();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
