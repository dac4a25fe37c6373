import { NacreError, type PlainError, toPlainError } from '../core/errors.ts';
import type { TransferProgress } from '../models/download.ts';
import { modelTitle } from '../models/title.ts';
import type { PearlEvent } from '../pearl/types.ts';
import type { DexieJournal } from '../storage/dexie-journal.ts';
import type { RunEvent } from '../textual/types.ts';
import type { ModelChoice } from './config.ts';
import { RunControl } from './control.ts';
import type { ConnectModel } from './experiment.ts';
import { PearlTimeLeft } from './pearl-time-left.ts';
import type { RunRecord, RunStore } from './runs.ts';
import type { RunStatus, RunUpdate } from './service.ts';
import type { SuiteShelf } from './suites.ts';
import { type Clock, TimeLeft } from './time-left.ts';
import { type ConnectPolicy, workOn } from './work.ts';

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
  readonly connectPolicy: ConnectPolicy;
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
  private readonly events: (RunEvent | PearlEvent)[] = [];
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
  private readonly timeLeft: Clock<RunEvent | PearlEvent>;

  constructor(input: SessionInput) {
    this.input = input;
    this.status = input.record.status === 'new' || input.record.status === 'failed' ? 'running' : input.record.status;
    this.secondsBefore = input.record.seconds;
    this.longestTaskMs = input.record.longestTaskMs;
    this.timeLeft = clockOf(input.record);
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
    const mayWork = (): void => {
      if (readOnly)
        throw new NacreError('run-read-only', 'This run is not finished and cannot go on here.', 'Use the tab that works on it.');
      this.startClock();
    };
    const connect: ConnectModel = async (choice) => {
      mayWork();
      return this.input.connect(choice, (transfer) => this.noteTransfer(choice, transfer));
    };
    const connectPolicy: ConnectPolicy = async (target) => {
      mayWork();
      return this.input.connectPolicy(target);
    };
    try {
      const entry = await workOn({
        record,
        journal,
        connect,
        connectPolicy,
        suites,
        emit: (event) => this.emit(event),
        control: this.control,
        signal: this.abort.signal,
      });
      this.stopClock();
      if (!readOnly && record.status !== 'finished') await runs.update(record.id, entry);
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
    // What is stored already counts as downloaded at once.
    if (phase === 'download' && loadedBytes === totalBytes) return;
    const verb = phase === 'download' ? 'Downloading' : 'Loading';
    const [done, total] = [Math.round(loadedBytes / 1e6), Math.round(totalBytes / 1e6)];
    this.progress = { done, total, label: `${verb} ${modelTitle(model)}${total > 0 ? ` … ${done} of ${total} MB` : ''}` };
    this.push();
  }

  private emit(event: RunEvent | PearlEvent): void {
    if (event.type === 'phase' || event.type === 'pearl-phase')
      this.progress = { done: event.done, total: event.total, label: event.label };
    if ((event.type === 'rollout' || event.type === 'forest') && !event.replayed) this.startClock();
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

function clockOf({ config }: RunRecord): Clock<RunEvent | PearlEvent> {
  if (config.kind === 'pearl') {
    const clock = new PearlTimeLeft(config);
    return pick(clock, (event): event is PearlEvent => event.type === 'update');
  }
  const clock = new TimeLeft(config);
  return pick(clock, (event): event is RunEvent => event.type !== 'update');
}

/** A clock that hears only the events of its kind of run. */
function pick<Event extends RunEvent | PearlEvent>(
  clock: Clock<Event>,
  isOwn: (event: RunEvent | PearlEvent) => event is Event,
): Clock<RunEvent | PearlEvent> {
  return {
    observe: (event, now) => {
      if (isOwn(event)) clock.observe(event, now);
    },
    interrupt: () => clock.interrupt(),
    seconds: () => clock.seconds(),
  };
}
