import type { PlainError } from '../core/errors.ts';
import type { Json, Message, Split, Usage } from '../core/types.ts';
import type { TransferProgress } from '../models/download.ts';
import type { OfferedModel } from '../models/endpoint/list.ts';
import type { GenerationFinish, ModelCapabilities } from '../models/types.ts';
import type { ListedWebLlmModel } from '../models/webllm/catalogue.ts';
import type { PearlEvent } from '../pearl/types.ts';
import type { Problem } from '../suites/import/faults.ts';
import type { Mapping } from '../suites/import/mapping.ts';
import type { ImportedSuite, ImportedTask } from '../suites/import/suite-file.ts';
import type { ScorerKind } from '../suites/scorers/spec.ts';
import type { RunEvent } from '../textual/types.ts';
import type { AnyConfig } from './any-config.ts';
import type { ModelChoice, Runtime } from './config.ts';
import type { ScorerTrial, ScorerVerdict } from './scorer-trial.ts';

/** What the interface may ask of the lab worker. Everything is plain data; errors cross as `{code, message, hint}`. */
export interface LabService {
  machine(): Promise<MachineState>;
  /** Validates and stores a run; it starts when opened. @throws `config-invalid` naming the field. */
  createRun(config: unknown): Promise<string>;
  listRuns(): Promise<readonly RunSummary[]>;
  /**
   * Subscribes to a run: all its events from the start (replayed from the journal, batched), then live ones. An unfinished
   * run goes on unless it is paused, stopped, or open in another tab (`readOnly`).
   */
  openRun(runId: string, listener: (update: RunUpdate) => void): Promise<RunSummary>;
  closeRun(runId: string): Promise<void>;
  pause(runId: string): Promise<void>;
  resume(runId: string): Promise<void>;
  /** Ends the run after the current unit; what was found so far is tested and exported. */
  stop(runId: string): Promise<void>;
  /** The page tells how long its main thread was blocked; the longest block is part of the result. */
  noteLongTask(runId: string, ms: number): Promise<void>;
  deleteRun(runId: string): Promise<{ readonly freedBytes: number }>;
  exportRun(runId: string, format: ExportFormat): Promise<ExportedFile>;
  importRun(bundle: Uint8Array): Promise<string>;
  /** Remembers the key of an endpoint until the tab closes; empty forgets it. It is never stored, exported or logged. */
  setEndpointKey(baseUrl: string, key: string): Promise<void>;
  /** The models that an OpenAI-compatible server offers. */
  endpointModels(baseUrl: string): Promise<readonly OfferedModel[]>;
  /** Models that can be chosen now: shipped, stored in this browser, and of servers that were asked in this session. */
  listModels(): Promise<readonly ListedModel[]>;
  /** The models that WebLLM lists, what runs on this machine first. */
  catalogue(): Promise<readonly CatalogueModel[]>;
  /**
   * Stores a model of the catalogue, by its id, or the GGUF file at an address. What an interrupted download has brought is kept,
   * and the next one goes on there.
   */
  downloadModel(model: string, onProgress: (progress: TransferProgress) => void): Promise<void>;
  cancelDownload(model: string): Promise<void>;
  /** Deletes a stored model by its listed id. @throws `model-in-use` while a run works with it. */
  deleteModel(id: string): Promise<{ readonly freedBytes: number }>;
  /** Reads a stored model's files and checks them. `repair` deletes what is damaged. */
  verifyModel(id: string, repair?: boolean): Promise<ModelVerification>;
  /** Copies a GGUF file or the files of a folder in MLC format into this browser's storage; the id it is listed by. */
  addLocalModel(name: string, files: readonly LocalModelFile[]): Promise<string>;
  /** One answer of a model, which is loaded if need be; `onText` is told the text so far, `onProgress` how far loading is. */
  chat(
    choice: unknown,
    messages: readonly Message[],
    onText: (text: string) => void,
    onProgress: (progress: TransferProgress) => void,
  ): Promise<ChatReply>;
  /** Breaks off what `chat` is saying. */
  stopChat(): Promise<void>;
  /** Frees the memory of a loaded model. @throws `model-in-use` while a run works with it. */
  unloadModel(choice: unknown): Promise<void>;
  /** What a file would become as a suite; nothing is stored. `mapping` says which columns mean what, for tables. */
  previewImport(bytes: Uint8Array, name: string, mapping?: unknown): Promise<ImportPreview>;
  /** Scores outputs on tasks of a preview as a suite with this scorer would; foreign code runs in the sandbox. */
  tryScorer(scorer: unknown, trials: readonly ScorerTrial[]): Promise<readonly ScorerVerdict[]>;
  /** Stores a suite. @throws `suite-exists` when another one has its id, unless `replace` is set. */
  importSuite(suite: unknown, replace?: boolean): Promise<SuiteSummary>;
  /** Imported suites, newest first. */
  listSuites(): Promise<readonly SuiteSummary[]>;
  /** The suite as a file that can be imported elsewhere. */
  exportSuite(id: string): Promise<ExportedFile>;
  /** Runs keep their own tasks: they can still be shown and resumed. */
  deleteSuite(id: string): Promise<{ readonly freedBytes: number }>;
  /** Tokens, probabilities and layer logits of any text under the shipped model. */
  probe(request: ProbeRequest): Promise<ProbeResult>;
}

/**
 * `skill` and `prompt` are TextualRL's; `weights` (a model in MLC format), `safetensors`, `banks` (zips) and `advantages` (JSON
 * Lines) are PEARL's; `result` and `bundle` every run has.
 */
export type ExportFormat = 'skill' | 'prompt' | 'result' | 'bundle' | 'weights' | 'safetensors' | 'banks' | 'advantages';

export interface ExportedFile {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

export interface MachineState {
  readonly webgpu: { readonly available: boolean; readonly adapter: string; readonly software: boolean; readonly reason?: string };
  readonly backend: { readonly kind: 'cpu' | 'webgpu'; readonly reason: string; readonly workers: number };
  readonly cores: number;
  /** GiB as the browser reports it, or undefined. */
  readonly memoryGiB?: number;
  readonly isolated: boolean;
  readonly storage: { readonly usedBytes: number; readonly quotaBytes: number; readonly persisted: boolean };
}

export type RunStatus = 'new' | 'running' | 'paused' | 'stopped' | 'finished' | 'failed';

export interface RunSummary {
  readonly id: string;
  readonly name: string;
  readonly kind: AnyConfig['kind'];
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly seed: number;
  /** Its `kind` tells which. */
  readonly config: AnyConfig;
  readonly readOnly: boolean;
  /** Seconds of work so far, over all sessions. */
  readonly seconds: number;
  readonly initialRate?: number;
  readonly bestRate?: number;
  readonly testInitial?: number;
  readonly testBest?: number;
  readonly bytes: number;
  readonly error?: PlainError;
  /** A bundle that was imported or shipped: shown as recorded, never continued. */
  readonly recorded: boolean;
}

/** Updates come in batches so that the page is not flooded. */
export interface RunUpdate {
  readonly events: readonly (RunEvent | PearlEvent)[];
  readonly status: RunStatus;
  readonly progress: { readonly done: number; readonly total: number; readonly label: string; readonly secondsLeft?: number };
  readonly error?: PlainError;
  readonly readOnly: boolean;
  readonly seconds: number;
}

/** One way to run a model. */
export interface ModelUse {
  readonly runtime: Runtime | 'endpoint';
  /** What goes into `target` or `critic` of an experiment. */
  readonly choice: ModelChoice;
  /** In memory now, or being loaded. */
  readonly loaded: boolean;
  readonly capabilities: ModelCapabilities;
}

export interface ListedModel {
  /** Names it in configurations, and for deleting and checking. */
  readonly id: string;
  readonly title: string;
  readonly kind: 'shipped' | 'mlc' | 'gguf' | 'endpoint';
  readonly where: 'shipped' | 'downloaded' | 'local' | 'server';
  /** Where it came from, where that is an address. */
  readonly url?: string;
  /** Stored bytes. */
  readonly bytes: number;
  /** Size when complete, where it is known. */
  readonly totalBytes?: number;
  /** Whether every file is there; an incomplete model is completed by `downloadModel` or by loading it. */
  readonly complete: boolean;
  /** GPU memory on WebLLM, where its list says. */
  readonly memoryBytes?: number;
  /** The usual runtime first. */
  readonly uses: readonly ModelUse[];
}

/** A model of WebLLM's list, with whether this machine can run it and whether it is stored. */
export interface CatalogueModel extends Omit<ListedWebLlmModel, 'record'> {
  readonly stored: boolean;
}

export interface ModelVerification {
  /** Files that are right. */
  readonly good: number;
  readonly missing: readonly string[];
  readonly damaged: readonly string[];
}

/** A file that a person picked; in a folder, `path` is relative to it. */
export interface LocalModelFile {
  readonly path: string;
  readonly blob: Blob;
}

export interface ChatReply {
  readonly text: string;
  readonly finish: GenerationFinish;
  readonly usage: Usage;
}

export interface SuiteSummary {
  readonly id: string;
  readonly title: string;
  readonly createdAt: number;
  readonly bytes: number;
  readonly hash: string;
  readonly counts: Readonly<Record<Split, number>>;
  readonly scorer: ScorerKind;
  readonly note?: string;
}

export interface ImportPreview {
  /** What the file was recognised as; only a `table` has a mapping. */
  readonly form: 'suite' | 'passages' | 'word-problems' | 'table';
  readonly formTitle: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** The first records as they stand. */
  readonly sample: readonly Readonly<Record<string, Json>>[];
  /** The mapping used: the given one, or a guess to correct. */
  readonly mapping?: Mapping;
  /** The first tasks as they would be. */
  readonly tasks: readonly ImportedTask[];
  readonly counts: Readonly<Record<Split, number>>;
  /** At most 100; `errors` and `warnings` count all. */
  readonly problems: readonly Problem[];
  readonly errors: number;
  readonly warnings: number;
  /** What `importSuite` takes; absent while there are errors. */
  readonly suite?: ImportedSuite;
}

export interface ProbeRequest {
  readonly text: string;
  /** Render the text as a household context followed by an observation, or take it raw. */
  readonly raw: boolean;
  readonly topTokens: number;
}

export interface ProbeToken {
  readonly id: number;
  readonly text: string;
  /** Natural-log probability given the tokens before it; absent for the first. */
  readonly logprob?: number;
  /** Entropy (nats) of the distribution it was drawn from. */
  readonly entropy?: number;
  /** The likeliest tokens at this place. */
  readonly top: readonly { readonly id: number; readonly text: string; readonly probability: number }[];
  /** Layer logits of this token at the position that predicts it, one per layer. */
  readonly raw: readonly number[];
  readonly normed: readonly number[];
}

export interface ProbeResult {
  readonly model: string;
  readonly layers: number;
  readonly tokens: readonly ProbeToken[];
  /** Distribution of the next token after the text. */
  readonly next: readonly { readonly id: number; readonly text: string; readonly probability: number }[];
  /** max |normed last-layer logit − model's own logit|: the self-check of the probe. */
  readonly selfCheck: number;
}
