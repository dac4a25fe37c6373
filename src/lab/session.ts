import { NacreError, type PlainError, toPlainError } from '../core/errors.ts';
import type { TransferProgress } from '../models/download.ts';
import { modelTitle } from '../models/title.ts';
import type { DexieJournal } from '../storage/dexie-journal.ts';
import type { RunEvent } from '../textual/types.ts';
import type { ModelChoice } from './config.ts';
import { RunControl } from './control.ts';
import { type ConnectModel, runExperiment } from './experiment.ts';
import { buildResult, type TextualResult } from './result.ts';
import type { RunRecord, RunStore } from './runs.ts';
import type { RunStatus, RunUpdate } from './service.ts';
import type { SuiteShelf } from './suites.ts';
import { TimeLeft } from './time-left.ts';

/** Updates reach the page at most this often, and at most this many events at a time: more would block its main thread. */
const UPDATE_MS = 60;
const UPDATE_EVENTS = 60;
/** Work time is written down this often. */
const CLOCK_MS = 2000;

export interface SessionInput {
  readonly record: RunRecord;
  readonly runs: RunStore;
  readonly journal: DexieJournal;
  readonly connect: ConnectModel;
  readonly suites: SuiteShelf;
  readonly listener: (update: RunUpdate) => void;
  /** Replay only: another tab works on this run, or it is a recorded one. */
  readonly readOnly: boolean;
}

/** One opened run: replays its journal to the listener, goes on with the work, keeps time and status. */
export class RunSession {
  private readonly input: SessionInput;
  private readonly control = new RunControl();
  private readonly abort = new AbortController();
  private readonly events: RunEvent[] = [];
  private status: RunStatus;
  private progress: RunUpdate['progress'] = { done: 0, total: 1, label: 'Opening the run' };
  private error: PlainError | undefined;
  private readonly secondsBefore: number;
  private worked = 0;
  private workingSince: number | undefined;
  private sending: Promise<void> | undefined;
  private readonly finished: Promise<void>;
  private clock: ReturnType<typeof setInterval> | undefined;
  private longestTaskMs: number;
  private readonly timeLeft: TimeLeft;

  constructor(input: SessionInput) {
    this.input = input;
    this.status = input.record.status === 'new' || input.record.status === 'failed' ? 'running' : input.record.status;
    this.secondsBefore = input.record.seconds;
    this.longestTaskMs = input.record.longestTaskMs;
    this.timeLeft = new TimeLeft(input.record.config);
    if (input.record.status === 'paused') this.control.pause();
    if (input.record.status === 'stopped') this.control.stop();
    this.finished = this.work();
  }

  /** Whether it may ask its models for something now. */
  get working(): boolean {
    return !this.input.readOnly && (this.status === 'running' || this.status === 'stopped');
  }

  pause(): Promise<void> {
    this.control.pause();
    this.timeLeft.interrupt();
    this.stopClock();
    return this.setStatus('paused');
  }

  resume(): Promise<void> {
    this.control.resume();
    return this.setStatus('running');
  }

  stop(): Promise<void> {
    this.control.stop();
    return this.setStatus('stopped');
  }

  /** Leaves the run where it is; what is finished stays in the journal. */
  async close(): Promise<void> {
    this.abort.abort(new NacreError('run-closed', 'The run was closed.', 'Open it again to go on.'));
    await this.finished;
  }

  noteLongTask(ms: number): void {
    this.longestTaskMs = Math.max(this.longestTaskMs, ms);
  }

  private async work(): Promise<void> {
    const { record, runs, journal, suites, readOnly } = this.input;
    const connect: ConnectModel = (choice) => {
      if (readOnly)
        return Promise.reject(
          new NacreError('run-read-only', 'This run is not finished and cannot go on here.', 'Use the tab that works on it.'),
        );
      this.startClock();
      return this.input.connect(choice, (transfer) => this.noteTransfer(choice, transfer));
    };
    try {
      const { findings, model } = await runExperiment({
        config: record.config,
        journal,
        connect,
        suites,
        emit: (event) => this.emit(event),
        control: this.control,
        signal: this.abort.signal,
      });
      this.stopClock();
      if (!readOnly && record.status !== 'finished') {
        const test = (which: 'initial' | 'best') => findings[which].scores.test?.rate;
        await runs.update(record.id, {
          model,
          ...defined({
            initialRate: findings.initial.scores.val?.rate,
            bestRate: findings.best.scores.val?.rate,
            testInitial: test('initial'),
            testBest: test('best'),
          }),
        });
      }
      await this.setStatus('finished');
    } catch (thrown) {
      this.stopClock();
      if (this.abort.signal.aborted) return;
      const plain = toPlainError(thrown);
      if (readOnly && plain.code === 'run-read-only') {
        this.push();
        return;
      }
      this.error = plain;
      await this.setStatus('failed');
    }
  }

  private noteTransfer({ model }: ModelChoice, { phase, loadedBytes, totalBytes }: TransferProgress): void {
    const verb = phase === 'download' ? 'Downloading' : 'Loading';
    const [done, total] = [Math.round(loadedBytes / 1e6), Math.round(totalBytes / 1e6)];
    this.progress = { done, total, label: `${verb} ${modelTitle(model)}${total > 0 ? ` … ${done} of ${total} MB` : ''}` };
    this.push();
  }

  private emit(event: RunEvent): void {
    if (event.type === 'phase') this.progress = { done: event.done, total: event.total, label: event.label };
    if (event.type === 'rollout' && !event.replayed) this.startClock();
    this.timeLeft.observe(event, performance.now());
    this.events.push(event);
    this.push();
  }

  private async setStatus(status: RunStatus): Promise<void> {
    this.status = status;
    if (!this.input.readOnly) {
      const { record, runs } = this.input;
      if (status !== 'failed') await runs.clearError(record.id);
      await runs.update(record.id, {
        status,
        seconds: this.seconds(),
        longestTaskMs: this.longestTaskMs,
        ...(this.error ? { error: this.error } : {}),
      });
    }
    this.push();
  }

  private seconds(): number {
    const now = this.workingSince === undefined ? 0 : performance.now() - this.workingSince;
    return this.secondsBefore + (this.worked + now) / 1000;
  }

  private startClock(): void {
    if (this.workingSince !== undefined || this.control.paused) return;
    this.workingSince = performance.now();
    this.clock = setInterval(() => {
      void this.input.runs.update(this.input.record.id, { seconds: this.seconds() });
    }, CLOCK_MS);
  }

  private stopClock(): void {
    if (this.workingSince !== undefined) this.worked += performance.now() - this.workingSince;
    this.workingSince = undefined;
    clearInterval(this.clock);
  }

  /** Sends what has gathered, in pieces, one piece at a time. */
  private push(): void {
    this.sending ??= this.send().finally(() => {
      this.sending = undefined;
      if (this.events.length > 0) this.push();
    });
  }

  private async send(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, UPDATE_MS));
    const events = this.events.splice(0, UPDATE_EVENTS);
    this.input.listener({
      events,
      status: this.status,
      progress: this.withTimeLeft(),
      ...(this.error ? { error: this.error } : {}),
      readOnly: this.input.readOnly,
      seconds: this.seconds(),
    });
  }

  private withTimeLeft(): RunUpdate['progress'] {
    const secondsLeft = this.timeLeft.seconds();
    return secondsLeft === undefined ? this.progress : { ...this.progress, secondsLeft };
  }
}

/** The result of a finished run, rebuilt from its journal. */
export async function resultOf(record: RunRecord, journal: DexieJournal, suites: SuiteShelf): Promise<TextualResult> {
  const control = new RunControl();
  if (record.status === 'stopped') control.stop();
  const { findings, model } = await runExperiment({
    config: record.config,
    journal,
    connect: () =>
      Promise.reject(
        new NacreError('run-unfinished', 'This run has no result yet.', 'Let it finish, or stop it: then what was found so far is tested.'),
      ),
    suites,
    emit: () => undefined,
    control,
    signal: new AbortController().signal,
  });
  return buildResult({ config: record.config, findings, model, seconds: record.seconds, longestTaskMs: record.longestTaskMs });
}

function defined<T extends object>(record: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
