import { NacreError, toPlainError } from '../../core/errors.ts';
import { cancelled, type OnTransfer } from '../../models/download.ts';
import { cachedGguf, deleteCachedGguf, openGguf, titleOf, verifyCachedGguf } from '../../models/llamacpp/gguf-store.ts';
import { importGguf } from '../../models/llamacpp/import.ts';
import { SHIPPED_MODELS } from '../../models/own/shipped.ts';
import type { ModelCapabilities } from '../../models/types.ts';
import { type CachedWebLlmModel, cachedModels, deleteCached, verifyCached } from '../../models/webllm/cache.ts';
import { toEntry, type WebLlmRecord } from '../../models/webllm/catalogue.ts';
import { downloadModel } from '../../models/webllm/files.ts';
import { importFolder } from '../../models/webllm/import.ts';
import { webLlmMachine } from '../../models/webllm/machine.ts';
import { isGgufName } from '../../transformer/file-source.ts';
import type { ModelChoice, Runtime } from '../config.ts';
import type { CatalogueModel, ListedModel, LocalModelFile, ModelUse, ModelVerification } from '../service.ts';
import { webLlmCatalogueFor } from './catalogue.ts';
import { planModel, type StoredModels } from './resolve.ts';

/** Files that came from this device lie under an address that no host has. */
const LOCAL = 'https://local.invalid/';
/** Stands for the library of a folder that came without one. */
const NO_LIBRARY = 'no-library.wasm';

export const OWN_CAPABILITIES: ModelCapabilities = { chat: true, json: false, logprobs: true, probe: true, train: false };
const FOREIGN_CAPABILITIES: ModelCapabilities = { chat: true, json: true, logprobs: false, probe: false, train: false };

/** What this browser stores of models: lists, downloads, checks, deletions. Runs in a worker, as downloads of GGUF files must. */
export class ModelLibrary {
  private readonly downloads = new Map<string, AbortController>();

  async stored(): Promise<StoredModels> {
    const [mlc, gguf] = await Promise.all([orNone(cachedModels()), orNone(cachedGguf())]);
    return { mlc, gguf };
  }

  /** Shipped and stored models. @param loaded choices that are in memory */
  async list(loaded: readonly ModelChoice[]): Promise<readonly ListedModel[]> {
    const { mlc, gguf } = await this.stored();
    const shipped = SHIPPED_MODELS.map(
      (id): ListedModel => ({
        id,
        title: id,
        kind: 'shipped',
        where: 'shipped',
        bytes: 0,
        complete: true,
        uses: [{ ...use(id, 'own', loaded), capabilities: { ...OWN_CAPABILITIES, train: true } }],
      }),
    );
    const folders = mlc.map(
      (model): ListedModel => ({
        ...place(model.url),
        id: model.title,
        title: model.record ? toEntry(model.record).title : model.title,
        kind: 'mlc',
        bytes: model.bytes,
        // A folder that came without a library was copied whole.
        complete: model.complete || !hasLibrary(model),
        ...memory(model.record),
        uses: [...(hasLibrary(model) ? [use(model.title, 'webllm', loaded)] : []), use(model.title, 'own', loaded)],
      }),
    );
    const files = gguf.map(
      ({ url, title, bytes, totalBytes, complete }): ListedModel => ({
        ...place(url),
        id: title,
        title,
        kind: 'gguf',
        bytes,
        totalBytes,
        complete,
        uses: [use(title, 'llamacpp', loaded), use(title, 'own', loaded)],
      }),
    );
    return [...shipped, ...folders, ...files];
  }

  /** WebLLM's list, what runs here first. */
  async catalogue(): Promise<readonly CatalogueModel[]> {
    const [machine, { mlc }] = await Promise.all([webLlmMachine(), this.stored()]);
    const complete = mlc.filter((model) => model.complete).map(({ title }) => title);
    return webLlmCatalogueFor(machine, complete);
  }

  /**
   * Stores a listed WebLLM model or the GGUF file at an address. An interrupted download goes on where it stopped.
   * @throws {NacreError} `not-downloadable`, `download-running`, `cancelled`, and what the download says
   */
  async download(model: string, onTransfer: OnTransfer): Promise<void> {
    if (this.downloads.has(model)) {
      throw new NacreError('download-running', `${model} is being downloaded already.`, 'Wait until it has finished, or cancel it.');
    }
    const abort = new AbortController();
    this.downloads.set(model, abort);
    try {
      const plan = planModel({ model, backend: 'auto' }, await this.stored(), await webLlmMachine());
      const access = { signal: abort.signal };
      if (plan.runtime === 'own' && plan.from === 'mlc') await downloadModel(plan.record, onTransfer, access);
      else if (plan.runtime === 'own' && plan.from === 'gguf') await openGguf(plan.url, onTransfer, access);
      else throw notDownloadable(model);
    } finally {
      this.downloads.delete(model);
    }
  }

  cancelDownload(model: string): void {
    this.downloads.get(model)?.abort(cancelled(`Downloading ${model}`));
  }

  /** What configurations may call a stored model: its id and its address. */
  async namesOf(id: string): Promise<readonly string[]> {
    const { url } = await this.find(id);
    return [id, url, url.replace(/\/resolve\/main\/$/, '')];
  }

  /** @returns bytes set free @throws {NacreError} `model-not-stored` */
  async delete(id: string): Promise<number> {
    const found = await this.find(id);
    return found.kind === 'gguf' ? deleteCachedGguf(found.url) : deleteCached(found.url);
  }

  /** @param repair deletes damaged files, so that the next download gets them again @throws {NacreError} `model-not-stored` */
  async verify(id: string, repair: boolean): Promise<ModelVerification> {
    const { kind, url } = await this.find(id);
    if (kind === 'mlc') {
      const { missing, ...rest } = await verifyCached(url, { repair });
      return { ...rest, missing: missing.filter((name) => name !== NO_LIBRARY) };
    }
    const damaged = await verifyCachedGguf(url, { repair });
    return { good: damaged.length === 0 ? 1 : 0, missing: [], damaged };
  }

  /**
   * Copies a GGUF file (or all parts of a split one), or the files of a folder in MLC format, into this browser's storage.
   * @param name what to call it @returns the id it is listed by
   */
  async addLocal(name: string, files: readonly LocalModelFile[]): Promise<string> {
    const gguf = files.filter(({ path }) => isGgufName(path));
    if (gguf.length > 0) return titleOf(await importGguf(LOCAL, gguf));
    try {
      return (await importFolder(name, files)).model_id;
    } catch (thrown) {
      if (toPlainError(thrown).code !== 'library-missing') throw thrown;
      // The own runtime needs no library.
      return (await importFolder(name, files, `${LOCAL}${NO_LIBRARY}`)).model_id;
    }
  }

  private async find(id: string): Promise<{ readonly kind: 'mlc' | 'gguf'; readonly url: string }> {
    const { mlc, gguf } = await this.stored();
    const folder = mlc.find(({ title, url }) => title === id || url === id);
    if (folder) return { kind: 'mlc', url: folder.url };
    const file = gguf.find(({ title, url }) => title === id || url === id);
    if (file) return { kind: 'gguf', url: file.url };
    throw new NacreError('model-not-stored', `No model "${id}" is stored in this browser.`, 'It may have been deleted in another tab.');
  }
}

/** A browser that cannot store models of a kind has none. */
async function orNone<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await list;
  } catch (thrown) {
    const { code } = toPlainError(thrown);
    if (code === 'no-cache-storage' || code === 'no-file-storage') return [];
    throw thrown;
  }
}

function use(model: string, runtime: Runtime, loaded: readonly ModelChoice[]): ModelUse {
  return {
    runtime,
    choice: { model, backend: 'auto', ...(runtime === 'own' ? {} : { runtime }) },
    loaded: loaded.some((choice) => choice.model === model && (choice.runtime ?? 'own') === runtime),
    capabilities: runtime === 'own' ? OWN_CAPABILITIES : FOREIGN_CAPABILITIES,
  };
}

function place(url: string): Pick<ListedModel, 'where' | 'url'> {
  return url.startsWith(LOCAL) ? { where: 'local' } : { where: 'downloaded', url };
}

function memory(record: WebLlmRecord | undefined): Pick<ListedModel, 'memoryBytes'> {
  const bytes = record ? toEntry(record).memoryBytes : 0;
  return bytes > 0 ? { memoryBytes: bytes } : {};
}

function hasLibrary({ record }: CachedWebLlmModel): boolean {
  return record !== undefined && record.model_lib !== `${LOCAL}${NO_LIBRARY}`;
}

function notDownloadable(model: string): NacreError {
  return new NacreError(
    'not-downloadable',
    `"${model}" cannot be stored: it is neither a listed WebLLM model nor the address of a .gguf file.`,
    'Name a model of the list, or give the address of a file that ends in .gguf.',
  );
}
