import { NacreError } from '../../src/core/errors.ts';
import { parseChoice } from '../../src/lab/config.ts';
import { webLlmCatalogueFor } from '../../src/lab/models/catalogue.ts';
import type { LabService, ListedModel, SuiteSummary } from '../../src/lab/service.ts';
import { previewImport } from '../../src/lab/suite-preview.ts';
import { checkSuite, formatSuiteFile, type ImportedSuite, suiteHash } from '../../src/suites/import/suite-file.ts';

type ModelsAndSuites = Pick<
  LabService,
  | 'listModels'
  | 'catalogue'
  | 'downloadModel'
  | 'cancelDownload'
  | 'deleteModel'
  | 'verifyModel'
  | 'addLocalModel'
  | 'chat'
  | 'stopChat'
  | 'unloadModel'
  | 'previewImport'
  | 'importSuite'
  | 'listSuites'
  | 'exportSuite'
  | 'deleteSuite'
>;

const MB = 1e6;

function listed(id: string, kind: ListedModel['kind'], where: ListedModel['where'], bytes: number): ListedModel {
  const json = kind !== 'shipped';
  const runtimes = ({ shipped: ['own'], mlc: ['webllm', 'own'], gguf: ['llamacpp', 'own'], endpoint: ['endpoint'] } as const)[kind];
  return {
    id,
    title: id,
    kind,
    where,
    bytes,
    complete: true,
    uses: runtimes.map((runtime) => ({
      runtime,
      choice: { model: id, backend: 'auto', ...(runtime === 'own' || runtime === 'endpoint' ? {} : { runtime }) },
      loaded: kind === 'shipped',
      capabilities: { chat: true, json, logprobs: !json, probe: !json, train: kind === 'shipped' },
    })),
  };
}

/** Models and suites of a lab without either: lists change as one would expect, downloads take a second. */
export function fakeModels(): ModelsAndSuites {
  const models = new Map(
    [
      listed('nacre-tiny', 'shipped', 'shipped', 0),
      listed('SmolLM2-135M-Instruct.Q4_1', 'gguf', 'local', 98 * MB),
      listed('Qwen2.5-0.5B-Instruct-q4f16_1-MLC', 'mlc', 'downloaded', 290 * MB),
    ].map((model) => [model.id, model]),
  );
  const suites = new Map<string, ImportedSuite>();
  const cancelled = new Set<string>();
  const need = (id: string): ListedModel => {
    const model = models.get(id);
    if (!model) throw new NacreError('model-not-stored', `No model "${id}" is stored in this browser.`, 'It may have been deleted.');
    return model;
  };
  const summary = (suite: ImportedSuite): SuiteSummary => {
    const counts = { train: 0, val: 0, test: 0, unseen: 0 };
    for (const { split } of suite.tasks) counts[split]++;
    const { id, title, scorer } = suite;
    return {
      id,
      title,
      createdAt: 1_760_000_000_000,
      bytes: JSON.stringify(suite).length,
      hash: suiteHash(suite),
      counts,
      scorer: scorer.kind,
    };
  };
  const needSuite = (id: string): ImportedSuite => {
    const suite = suites.get(id);
    if (!suite) throw new NacreError('suite-missing', `There is no imported suite "${id}".`, 'It may have been deleted.');
    return suite;
  };
  return {
    listModels: async () => [...models.values()],
    catalogue: async () =>
      webLlmCatalogueFor({ webgpu: true, software: false, f16: true, bufferBytes: 2 ** 30, memoryGiB: 8 }, [...models.keys()]),
    async downloadModel(model, onProgress) {
      cancelled.delete(model);
      for (let part = 0; part <= 10; part++) {
        onProgress({ phase: 'download', loadedBytes: part * 30 * MB, totalBytes: 300 * MB });
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (cancelled.has(model)) throw new NacreError('cancelled', `Downloading ${model} was cancelled.`, 'Load it again.');
      }
      models.set(model, listed(model, model.endsWith('.gguf') ? 'gguf' : 'mlc', 'downloaded', 300 * MB));
    },
    async cancelDownload(model) {
      cancelled.add(model);
    },
    async deleteModel(id) {
      const { bytes } = need(id);
      models.delete(id);
      return { freedBytes: bytes };
    },
    async verifyModel(id) {
      need(id);
      return { good: 3, missing: [], damaged: [] };
    },
    async addLocalModel(name, files) {
      const bytes = files.reduce((sum, { blob }) => sum + blob.size, 0);
      models.set(name, listed(name, name.endsWith('.gguf') ? 'gguf' : 'mlc', 'local', bytes));
      return name;
    },
    async chat(choice, messages, onText) {
      parseChoice(choice);
      const text = `You said: ${messages.at(-1)?.content ?? ''}`;
      onText(text.slice(0, 9));
      onText(text);
      return { text, finish: 'stop', usage: { calls: 1, inputTokens: 12, outputTokens: 8, textVolume: 20, ms: 400 } };
    },
    async stopChat() {
      // The fake answers at once.
    },
    async unloadModel(choice) {
      parseChoice(choice);
    },
    previewImport: async (bytes, name, mapping) => previewImport(name, bytes, mapping),
    async importSuite(value) {
      const suite = checkSuite('The suite', value);
      suites.set(suite.id, suite);
      return summary(suite);
    },
    listSuites: async () => [...suites.values()].map(summary),
    async exportSuite(id) {
      const bytes = new TextEncoder().encode(formatSuiteFile(needSuite(id)));
      return { name: `${id}.suite.json`, mime: 'application/json', bytes };
    },
    async deleteSuite(id) {
      const { bytes } = summary(needSuite(id));
      suites.delete(id);
      return { freedBytes: bytes };
    },
  };
}
