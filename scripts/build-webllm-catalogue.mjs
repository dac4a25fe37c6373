import { realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isStale, ROOT } from './setup.mjs';

const OUTPUT = 'src/models/webllm/catalogue.generated.ts';

/**
 * Copies the list of models out of the installed @mlc-ai/web-llm, so that the page can show it without loading the package
 * (2 MB compressed). Leaves an output that is newer than the lock file.
 */
export async function buildWebLlmCatalogue() {
  const path = join(ROOT, OUTPUT);
  if (!isStale(path, ['package-lock.json', 'scripts/build-webllm-catalogue.mjs'])) return;
  const { prebuiltAppConfig } = await import('@mlc-ai/web-llm');
  const records = prebuiltAppConfig.model_list.map((record) => `  ${JSON.stringify(record)},\n`).join('');
  const temporary = `${path}.${process.pid}`;
  writeFileSync(
    temporary,
    `// Made by scripts/build-webllm-catalogue.mjs from @mlc-ai/web-llm.
import type { WebLlmRecord } from './catalogue.ts';

export const WEBLLM_RECORDS: readonly WebLlmRecord[] = [
${records}];
`,
  );
  renameSync(temporary, path);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await buildWebLlmCatalogue();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
