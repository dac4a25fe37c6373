import * as v from 'valibot';
import { MemoryJournal } from '../../../src/core/journal.ts';
import { connectService, exposeService } from '../../../src/core/rpc.ts';
import type { Message, Suite, Task } from '../../../src/core/types.ts';
import { suiteTarget } from '../../../src/lab/target.ts';
import { asRolloutModel } from '../../../src/models/chat-rollouts.ts';
import type { TransferProgress } from '../../../src/models/download.ts';
import { cachedGguf, deleteCachedGguf, verifyCachedGguf } from '../../../src/models/llamacpp/gguf-store.ts';
import { type GgufSource, type LlamaCppOptions, WllamaModel } from '../../../src/models/llamacpp/model.ts';
import type { ChatModel, GenerateOptions } from '../../../src/models/types.ts';
import { cachedModels, deleteCached, verifyCached } from '../../../src/models/webllm/cache.ts';
import type { WebLlmRecord } from '../../../src/models/webllm/catalogue.ts';
import type { WebLlmEngine, WebLlmOptions } from '../../../src/models/webllm/engine.ts';
import { downloadPlan } from '../../../src/models/webllm/files.ts';
import { WebLlmModel } from '../../../src/models/webllm/model.ts';
import { runTextual } from '../../../src/textual/loop.ts';
import { TextualSettings } from '../../../src/textual/settings.ts';
import type { RunEvent } from '../../../src/textual/types.ts';
import { ScriptedCritic } from '../../unit/textual/scripted-critic.ts';

const task = (id: string, split: 'train' | 'val'): Task => ({ id, split, type: 'colour', input: 'Name a colour.', data: null });

/** One question with answers of two tokens. */
const COLOURS: Suite = {
  id: 'colours',
  title: 'Colours',
  maxTurns: 1,
  maxTokensPerTurn: 2,
  splits: { train: [task('colour', 'train')], val: [task('hue', 'val')], test: [], unseen: [] },
  open: () => ({
    observation: 'Name a colour.',
    act: (answer) => ({ observation: '', reward: Number(/red|blue/.test(answer)), done: true, success: /red|blue/.test(answer) }),
  }),
};

type Watch<T> = (event: T) => void;

/** What the lab's worker does with models, made callable from a test. */
export class ModelService {
  private model: ChatModel | undefined;
  private loading: AbortController | undefined;
  private readonly webllm = connectService<WebLlmEngine>(
    new Worker(new URL('../../../workers/webllm.ts', import.meta.url), { type: 'module', name: 'webllm' }),
  ).remote;

  async loadGguf(source: GgufSource, options: LlamaCppOptions, onTransfer: Watch<TransferProgress>): Promise<unknown> {
    this.loading = new AbortController();
    this.model = await WllamaModel.load(source, options, { onTransfer, signal: this.loading.signal });
    return this.model.info;
  }

  async cancelLoad(): Promise<void> {
    this.loading?.abort(new DOMException('enough', 'AbortError'));
    await this.webllm.cancelLoad();
  }

  async loadWebLlm(record: WebLlmRecord, options: WebLlmOptions, onTransfer: Watch<TransferProgress>): Promise<unknown> {
    const info = await this.webllm.load(record, options, onTransfer);
    this.model = new WebLlmModel(this.webllm, info);
    return info;
  }

  /** @param abortAtText breaks the answer off when it has so many characters. */
  async ask(
    messages: readonly Message[],
    options: GenerateOptions,
    abortAtText: number | undefined,
    onText: Watch<string>,
  ): Promise<unknown> {
    const abort = new AbortController();
    const watch = (text: string): void => {
      onText(text);
      if (abortAtText !== undefined && text.length >= abortAtText) abort.abort(new DOMException('enough', 'AbortError'));
    };
    return this.model!.generate(messages, { ...options, signal: abort.signal, onText: watch });
  }

  /** One step of TextualRL on one task, with the loaded model as target and a critic that always says the same. */
  async textualStep(onEvent: Watch<RunEvent>): Promise<unknown> {
    const model = asRolloutModel(this.model!, { parallel: 1 });
    const edit = { op: 'append', kind: 'corrective', content: 'Answer in one word.', support: ['colour'], sources: ['1'] };
    const critic = new ScriptedCritic(({ kind }) =>
      kind === 'review' ? { reviews: [{ edit_id: '1', verdict: 'retain', reason: 'fine', evidence: [] }] } : { edits: [edit], cards: [] },
    );
    return runTextual({
      settings: v.parse(TextualSettings, { epochs: 1, batchTasks: 1, rolloutsPerTask: 2, trainTemperature: 1, rolloutRetries: 0 }),
      seed: 1,
      tasks: COLOURS.splits,
      target: suiteTarget(COLOURS, async () => model),
      critic,
      journal: new MemoryJournal(),
      initialContext: 'Be brief.',
      emit: onEvent,
      signal: new AbortController().signal,
      control: { checkpoint: async () => 'continue' },
    });
  }

  async close(): Promise<void> {
    await this.model?.close();
  }

  stored(kind: 'gguf' | 'webllm'): Promise<unknown> {
    return kind === 'gguf' ? cachedGguf() : cachedModels();
  }

  remove(kind: 'gguf' | 'webllm', url: string): Promise<number> {
    return kind === 'gguf' ? deleteCachedGguf(url) : deleteCached(url);
  }

  verify(kind: 'gguf' | 'webllm', url: string, repair: boolean): Promise<unknown> {
    return kind === 'gguf' ? verifyCachedGguf(url, { repair }) : verifyCached(url, { repair });
  }

  plan(record: WebLlmRecord): Promise<unknown> {
    return downloadPlan(record);
  }
}

exposeService(new ModelService());
