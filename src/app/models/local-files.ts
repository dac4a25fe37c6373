import { NacreError } from '../../core/errors.ts';
import type { LocalModelFile } from '../../lab/service.ts';

/** What people picked, as the lab takes it: a name to list it by, and files with their paths. */
export interface LocalModel {
  readonly name: string;
  readonly files: readonly LocalModelFile[];
}

/** A GGUF file, or all parts of a split one. @throws {NacreError} `not-gguf` naming the first other file. */
export function ggufFiles(files: readonly File[]): LocalModel {
  const other = files.find(({ name }) => !/\.gguf$/i.test(name));
  if (other || !files[0]) {
    throw new NacreError(
      'not-gguf',
      `"${other?.name ?? ''}" is no GGUF file.`,
      'Choose a file that ends in .gguf, or all parts of a split one at once.',
    );
  }
  return { name: files[0].name.replace(/\.gguf$/i, ''), files: files.map((file) => ({ path: file.name, blob: file })) };
}

/**
 * A folder in MLC format; the name is the folder's, paths are relative to it.
 * @throws {NacreError} `not-mlc` where its configuration is missing.
 */
export function folderFiles(files: readonly File[]): LocalModel {
  const placed = files.map((file) => {
    const [folder = '', ...rest] = file.webkitRelativePath.split('/');
    return { folder, path: rest.join('/') || file.name, blob: file };
  });
  if (!placed.some(({ path }) => path === 'mlc-chat-config.json')) {
    throw new NacreError(
      'not-mlc',
      `The folder "${placed[0]?.folder ?? ''}" holds no mlc-chat-config.json.`,
      'Choose the folder with the weights in MLC format: mlc-chat-config.json, the tokenizer and the params_shard files.',
    );
  }
  return { name: placed[0]?.folder || 'model', files: placed.map(({ path, blob }) => ({ path, blob })) };
}

/**
 * The address of a GGUF file, from a link as people copy it: the page that shows a file on Hugging Face becomes the file.
 * @throws {NacreError} `not-gguf-link`
 */
export function ggufLink(text: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text.trim());
  } catch {
    // Handled below, with the same words.
  }
  if (!url || !/^https?:$/.test(url.protocol) || !/\.gguf$/i.test(url.pathname)) {
    throw new NacreError(
      'not-gguf-link',
      `"${text.trim().slice(0, 200)}" is no link to a GGUF file.`,
      'Give the whole address, beginning with https:// and ending in .gguf.',
    );
  }
  if (url.hostname === 'huggingface.co') url.pathname = url.pathname.replace('/blob/', '/resolve/');
  url.hash = '';
  return url.href;
}
