import type { PlainError } from '../core/errors.ts';
import type { OfferedModel } from '../models/endpoint/list.ts';
import type { RunEvent } from '../textual/types.ts';
import type { ExperimentConfig } from './config.ts';

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
  /** Tokens, probabilities and layer logits of any text under the shipped model. */
  probe(request: ProbeRequest): Promise<ProbeResult>;
}

export type ExportFormat = 'skill' | 'prompt' | 'result' | 'bundle';

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
  readonly kind: 'textual' | 'pearl';
  readonly status: RunStatus;
  readonly createdAt: number;
  readonly seed: number;
  readonly config: ExperimentConfig;
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
  readonly events: readonly RunEvent[];
  readonly status: RunStatus;
  readonly progress: { readonly done: number; readonly total: number; readonly label: string; readonly secondsLeft?: number };
  readonly error?: PlainError;
  readonly readOnly: boolean;
  readonly seconds: number;
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
