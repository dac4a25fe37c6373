import { NacreError } from '../../src/core/errors.ts';
import { parseChoice } from '../../src/lab/config.ts';
import { webLlmCatalogueFor } from '../../src/lab/models/catalogue.ts';
import { offeredByEndpoint } from '../../src/lab/models/offered.ts';
import { tryScorer } from '../../src/lab/scorer-trial.ts';
import type { LabService, ListedModel, SuiteSummary } from '../../src/lab/service.ts';
import { previewImport } from '../../src/lab/suite-preview.ts';
import { unreachable } from '../../src/models/endpoint/errors.ts';
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
  | 'setEndpointKey'
  | 'endpointModels'
  | 'previewImport'
  | 'tryScorer'
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

const SUITE: ImportedSuite = {
  schema: 'nacre.suite/1',
  id: 'capitals',
  title: 'Capitals of the world',
  origin: { file: 'capitals.csv', note: 'CC BY 4.0, made for tests' },
  scorer: { kind: 'exact' },
  tasks: (['train', 'train', 'val', 'test'] as const).map((split, at) => ({
    id: `row-${at + 1}`,
    split,
    type: 'question',
    input: `What is the capital of country ${at + 1}?`,
    answers: [`City ${at + 1}`],
    fields: {},
  })),
};

/**
 * Models and suites of a lab without either: lists change as one would expect, downloads take a second. Among the flags of
 * `fake-lab.ts`: `models-error`, `endpoint-error`, `download-error` (the first time), `in-use`, `damaged`, `suites`, `slow-chat`.
 */
export function fakeModels(flags: ReadonlySet<string>): ModelsAndSuites {
  const models = new Map(
    [
      listed('nacre-tiny', 'shipped', 'shipped', 0),
      ...(flags.has('empty')
        ? []
        : [
            listed('SmolLM2-135M-Instruct.Q4_1', 'gguf', 'local', 98 * MB),
            { ...listed('Qwen2.5-0.5B-Instruct-q4f16_1-MLC', 'mlc', 'downloaded', 290 * MB), memoryBytes: 945 * MB },
            {
              ...listed('SmolLM2-360M-Instruct.Q8_0', 'gguf', 'downloaded', 120 * MB),
              url: 'https://models.example/SmolLM2-360M-Instruct.Q8_0.gguf',
              totalBytes: 386 * MB,
              complete: false,
            },
          ]),
    ].map((model) => [model.id, model]),
  );
  const keys = new Map<string, string>();
  const failed = new Set<string>();
  let chatting = 0;
  const suites = new Map<string, ImportedSuite>(flags.has('suites') ? [[SUITE.id, SUITE]] : []);
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
    async listModels() {
      if (flags.has('models-error')) throw new NacreError('storage-failed', 'The stored models cannot be read.', 'Reload the page.');
      return [...models.values()];
    },
    async setEndpointKey(baseUrl, key) {
      keys.set(baseUrl, key);
    },
    async endpointModels(baseUrl) {
      if (flags.has('endpoint-error')) throw unreachable(`${baseUrl}/models`, new TypeError('Failed to fetch'), location.origin);
      const offered = [{ id: keys.get(baseUrl) ? 'fake-chat-private' : 'fake-chat', contextLength: 8192 }];
      for (const { id } of offered) {
        const model = offeredByEndpoint(baseUrl, id, []);
        models.set(model.id, model);
      }
      return offered;
    },
    catalogue: async () =>
      webLlmCatalogueFor({ webgpu: true, software: false, f16: true, bufferBytes: 2 ** 30, memoryGiB: 4 }, [...models.keys()]),
    async downloadModel(model, onProgress) {
      cancelled.delete(model);
      for (let part = 0; part <= 10; part++) {
        onProgress({ phase: 'download', loadedBytes: part * 30 * MB, totalBytes: 300 * MB });
        await new Promise((resolve) => setTimeout(resolve, 100));
        if (flags.has('download-error') && part === 4 && !failed.has(model)) {
          failed.add(model);
          throw new NacreError('host-busy', 'models.example limits downloads (HTTP 429).', 'Wait some minutes: what has arrived is kept.');
        }
        if (cancelled.has(model)) throw new NacreError('cancelled', `Downloading ${model} was cancelled.`, 'Load it again.');
      }
      models.set(model, listed(model, model.endsWith('.gguf') ? 'gguf' : 'mlc', 'downloaded', 300 * MB));
    },
    async cancelDownload(model) {
      cancelled.add(model);
    },
    async deleteModel(id) {
      const { bytes } = need(id);
      if (flags.has('in-use')) throw new NacreError('model-in-use', `A run works with ${id}.`, 'Pause or close the run first.');
      models.delete(id);
      return { freedBytes: bytes };
    },
    async verifyModel(id, repair) {
      need(id);
      return { good: 3, missing: [], damaged: flags.has('damaged') && !repair ? ['params_shard_1.bin'] : [] };
    },
    async addLocalModel(name, files) {
      const bytes = files.reduce((sum, { blob }) => sum + blob.size, 0);
      models.set(name, listed(name, name.endsWith('.gguf') ? 'gguf' : 'mlc', 'local', bytes));
      return name;
    },
    async chat(choice, messages, onText) {
      parseChoice(choice);
      chatting += 1;
      const turn = chatting;
      const words = `You said: ${messages.at(-1)?.content ?? ''} That is all I can say about it.`.split(/(?= )/);
      const usage = (outputTokens: number) => ({ calls: 1, inputTokens: 12, outputTokens, textVolume: 20, ms: 400 });
      for (let at = 1; at <= words.length; at++) {
        await new Promise((resolve) => setTimeout(resolve, flags.has('slow-chat') ? 150 : 5));
        const text = words.slice(0, at).join('');
        if (turn !== chatting) return { text, finish: 'cancelled', usage: usage(at) };
        onText(text);
      }
      return { text: words.join(''), finish: 'stop', usage: usage(words.length) };
    },
    async stopChat() {
      chatting += 1;
    },
    async unloadModel(choice) {
      parseChoice(choice);
    },
    previewImport: async (bytes, name, mapping) => previewImport(name, bytes, mapping),
    tryScorer: (spec, trials) =>
      tryScorer(spec, trials, () => ({
        // No script runs here: the page may not evaluate code, and the sandbox has tests of its own.
        async score({ source, input }) {
          const at = source.split('\n').findIndex((line) => line.includes('throw'));
          if (at >= 0) throw new NacreError('scorer-error', `The scorer failed at line ${at + 1}.`, 'Correct that line.');
          const { answer, task } = input as { answer: string; task: { answers: readonly string[] } };
          return task.answers.includes(answer) ? { reward: 1 } : { reward: 0, reason: 'not the same' };
        },
      })),
    async importSuite(value, replace = false) {
      const suite = checkSuite('The suite', value);
      if (suites.has(suite.id) && !replace) {
        throw new NacreError('suite-exists', `There is another suite "${suite.id}" in this browser.`, 'Give the new one another id.');
      }
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
