import { NacreError } from '../core/errors.ts';
import type { Message } from '../core/types.ts';
import type { RolloutModel } from '../models/chat-rollouts.ts';
import { cancelled, type OnTransfer, type TransferProgress } from '../models/download.ts';
import { connectEndpoint } from '../models/endpoint/connect.ts';
import { KeyRing } from '../models/endpoint/keys.ts';
import type { OfferedModel } from '../models/endpoint/list.ts';
import { listModels } from '../models/endpoint/model.ts';
import { EndpointSettings } from '../models/endpoint/settings.ts';
import type { LoadedModel } from '../models/own/source.ts';
import type { NacreDatabase } from '../storage/database.ts';
import type { OpenSandbox } from '../suites/scorers/scorer.ts';
import { type AnyConfig, parseAnyConfig } from './any-config.ts';
import { criticChoice, ENDPOINT, type ModelChoice, parseChoice, parseWith } from './config.ts';
import { exportRun } from './exports.ts';
import { importAny } from './imports.ts';
import type { ModelLibrary } from './models/library.ts';
import { offeredByEndpoint } from './models/offered.ts';
import { ModelPool, type StartModel } from './models/pool.ts';
import { RunStore } from './runs.ts';
import type { ScorerTrial, ScorerVerdict } from './scorer-trial.ts';
import type {
  CatalogueModel,
  ChatReply,
  ExportedFile,
  ExportFormat,
  ImportPreview,
  LabService,
  ListedModel,
  LocalModelFile,
  MachineState,
  ModelVerification,
  ProbeRequest,
  ProbeResult,
  RunSummary,
  RunUpdate,
  SuiteSummary,
} from './service.ts';
import { RunSession } from './session.ts';
import { SuiteStore } from './suite-store.ts';
import { pinSuite, type SuiteShelf } from './suites.ts';
import type { ConnectPolicy } from './work.ts';

/** What the lab needs from where it runs. */
export interface LabPlatform {
  machine(): Promise<MachineState>;
  /** Loads a model that is no server. */
  connect: StartModel;
  probe(request: ProbeRequest): Promise<ProbeResult>;
  /** The right to work on a run; undefined when another tab has it. The function gives it back. */
  lock(runId: string): Promise<(() => void) | undefined>;
  readonly connectPolicy: ConnectPolicy;
  /** A model of the own runtime with its tokenizer, not put on any backend. */
  loadModel(model: string): Promise<LoadedModel>;
  readonly openSandbox: OpenSandbox;
  /** The models stored here; its code is loaded when first needed. */
  library(): Promise<ModelLibrary>;
}

interface OpenRun {
  readonly session: RunSession;
  readonly unlock: () => void;
  /** The models it may ask for. */
  readonly choices: readonly ModelChoice[];
}

/** Sampling and length of a try-out in the list of models. */
const TRY_OUT = { temperature: 0.7, topP: 0.95, maxTokens: 512 };

/** The lab behind the page: runs, their sessions, exports. */
export class Lab implements LabService {
  private readonly runs: RunStore;
  private readonly open = new Map<string, OpenRun>();
  /** In memory only: a key never reaches the database, an export or a log. */
  private readonly keys = new KeyRing();
  private readonly pool: ModelPool;
  private readonly suites: SuiteStore;
  private readonly shelf: SuiteShelf;
  /** What servers offered when they were asked, by base URL. */
  private readonly offered = new Map<string, readonly OfferedModel[]>();
  private chatting = new AbortController();

  constructor(
    database: Promise<NacreDatabase>,
    private readonly platform: LabPlatform,
  ) {
    this.runs = new RunStore(database);
    this.suites = new SuiteStore(database);
    this.shelf = { find: (id) => this.suites.find(id), openSandbox: platform.openSandbox };
    this.pool = new ModelPool((choice, onTransfer) => this.start(choice, onTransfer));
  }

  machine(): Promise<MachineState> {
    return this.platform.machine();
  }

  async createRun(config: unknown): Promise<string> {
    return (await this.runs.create(await this.pinned(parseAnyConfig(config)))).id;
  }

  listRuns(): Promise<readonly RunSummary[]> {
    return this.runs.list();
  }

  private async pinned(config: AnyConfig): Promise<AnyConfig> {
    return config.kind === 'pearl' ? config : pinSuite(config, this.shelf);
  }

  async openRun(runId: string, listener: (update: RunUpdate) => void): Promise<RunSummary> {
    await this.closeRun(runId);
    const record = await this.runs.get(runId);
    const unlock = await this.platform.lock(runId);
    const readOnly = record.recorded || unlock === undefined;
    const session = new RunSession({
      record,
      suites: this.shelf,
      runs: this.runs,
      journal: await this.runs.journal(runId),
      connect: (choice, onTransfer) => this.pool.connect(choice, this.choicesInUse(), onTransfer),
      connectPolicy: (target) => this.platform.connectPolicy(target),
      listener,
      readOnly,
    });
    this.open.set(runId, { session, unlock: unlock ?? (() => undefined), choices: choicesOf(record.config) });
    return this.runs.summary(record, readOnly);
  }

  async closeRun(runId: string): Promise<void> {
    const run = this.open.get(runId);
    if (!run) return;
    this.open.delete(runId);
    await run.session.close();
    run.unlock();
  }

  pause(runId: string): Promise<void> {
    return this.session(runId).pause();
  }

  resume(runId: string): Promise<void> {
    return this.session(runId).resume();
  }

  stop(runId: string): Promise<void> {
    return this.session(runId).stop();
  }

  async noteLongTask(runId: string, ms: number): Promise<void> {
    this.open.get(runId)?.session.noteLongTask(ms);
  }

  async deleteRun(runId: string): Promise<{ freedBytes: number }> {
    await this.closeRun(runId);
    return { freedBytes: await this.runs.delete(runId) };
  }

  async exportRun(runId: string, format: ExportFormat): Promise<ExportedFile> {
    const record = await this.runs.get(runId);
    const journal = await this.runs.journal(runId);
    return exportRun({ record, journal, suites: this.shelf, loadModel: (model) => this.platform.loadModel(model) }, format);
  }

  async importRun(bundle: Uint8Array): Promise<string> {
    const { config, seconds, units } = await importAny(bundle);
    const record = await this.runs.create(config, true);
    await this.runs.fill(record.id, units);
    await this.runs.update(record.id, { seconds });
    return record.id;
  }

  probe(request: ProbeRequest): Promise<ProbeResult> {
    return this.platform.probe(request);
  }

  async setEndpointKey(baseUrl: string, key: string): Promise<void> {
    this.keys.set(parseWith(EndpointSettings, { baseUrl }, 'The endpoint').baseUrl, key);
  }

  async endpointModels(baseUrl: string): Promise<readonly OfferedModel[]> {
    const settings = parseWith(EndpointSettings, { baseUrl, retries: 1, timeoutSeconds: 20 }, 'The endpoint');
    const offered = await listModels(settings, { key: () => this.keys.get(settings.baseUrl) });
    this.offered.set(settings.baseUrl, offered);
    return offered;
  }

  async listModels(): Promise<readonly ListedModel[]> {
    const loaded = this.pool.loaded();
    const stored = await (await this.platform.library()).list(loaded);
    const servers = [...this.offered].flatMap(([baseUrl, models]) => models.map(({ id }) => offeredByEndpoint(baseUrl, id, loaded)));
    return [...stored, ...servers];
  }

  async catalogue(): Promise<readonly CatalogueModel[]> {
    return (await this.platform.library()).catalogue();
  }

  async downloadModel(model: string, onProgress: (progress: TransferProgress) => void): Promise<void> {
    await (await this.platform.library()).download(model, onProgress);
  }

  async cancelDownload(model: string): Promise<void> {
    (await this.platform.library()).cancelDownload(model);
  }

  async deleteModel(id: string): Promise<{ freedBytes: number }> {
    const library = await this.platform.library();
    const names = await library.namesOf(id);
    await this.unload(({ model }) => names.includes(model));
    return { freedBytes: await library.delete(id) };
  }

  async verifyModel(id: string, repair = false): Promise<ModelVerification> {
    return (await this.platform.library()).verify(id, repair);
  }

  async addLocalModel(name: string, files: readonly LocalModelFile[]): Promise<string> {
    return (await this.platform.library()).addLocal(name, files);
  }

  async chat(
    choice: unknown,
    messages: readonly Message[],
    onText: (text: string) => void,
    onProgress: (progress: TransferProgress) => void,
  ): Promise<ChatReply> {
    const { signal } = this.chatting;
    const model = await this.pool.connect(parseChoice(choice), this.choicesInUse(), onProgress);
    const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
    const { text, finish, usage } = await model.generate(messages, { ...TRY_OUT, seed, signal, onText });
    return { text, finish, usage };
  }

  async stopChat(): Promise<void> {
    this.chatting.abort(cancelled('The answer'));
    this.chatting = new AbortController();
  }

  async unloadModel(choice: unknown): Promise<void> {
    const { model, runtime = 'own', endpoint } = parseChoice(choice);
    await this.unload(
      (other) => other.model === model && (other.runtime ?? 'own') === runtime && other.endpoint?.baseUrl === endpoint?.baseUrl,
    );
  }

  /** The code that reads files is loaded when a file is chosen. */
  async previewImport(bytes: Uint8Array, name: string, mapping?: unknown): Promise<ImportPreview> {
    const { previewImport } = await import('./suite-preview.ts');
    return previewImport(name, bytes, mapping);
  }

  async tryScorer(scorer: unknown, trials: readonly ScorerTrial[]): Promise<readonly ScorerVerdict[]> {
    const { tryScorer } = await import('./scorer-trial.ts');
    return tryScorer(scorer, trials, this.platform.openSandbox);
  }

  importSuite(suite: unknown, replace = false): Promise<SuiteSummary> {
    return this.suites.put(suite, replace);
  }

  listSuites(): Promise<readonly SuiteSummary[]> {
    return this.suites.list();
  }

  exportSuite(id: string): Promise<ExportedFile> {
    return this.suites.export(id);
  }

  async deleteSuite(id: string): Promise<{ freedBytes: number }> {
    return { freedBytes: await this.suites.delete(id) };
  }

  private start(choice: ModelChoice, onTransfer: OnTransfer): Promise<RolloutModel> {
    if (choice.model === ENDPOINT && choice.endpoint) return connectEndpoint(choice.endpoint, this.keys);
    return this.platform.connect(choice, onTransfer);
  }

  private choicesInUse(): readonly ModelChoice[] {
    return [...this.open.values()].flatMap(({ session, choices }) => (session.working ? choices : []));
  }

  private async unload(doomed: (choice: ModelChoice) => boolean): Promise<void> {
    const used = this.choicesInUse().find(doomed);
    if (used) {
      throw new NacreError('model-in-use', `A run works with ${used.model}.`, 'Pause or close the run first: it loads the model again.');
    }
    await this.pool.unload(doomed);
  }

  private session(runId: string): RunSession {
    const run = this.open.get(runId);
    if (!run) throw new NacreError('run-not-open', `The run "${runId}" is not open.`, 'Open it first.');
    return run.session;
  }
}

/** The models a run may ask the pool for. A policy that is trained is its run's own. */
function choicesOf(config: AnyConfig): readonly ModelChoice[] {
  if (config.kind === 'pearl') return [];
  const critic = criticChoice(config);
  return critic ? [config.target, critic] : [config.target];
}
