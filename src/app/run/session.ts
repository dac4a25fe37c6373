import { type Accessor, batch, createSignal, onCleanup } from 'solid-js';
import { NacreError, type PlainError, toPlainError } from '../../core/errors.ts';
import type { LabService, RunStatus, RunSummary, RunUpdate } from '../../lab/service.ts';
import type { RunEvent } from '../../textual/types.ts';
import { announce } from '../announce.ts';
import { onLongTask } from '../long-tasks.ts';
import { EMPTY_RUN, type RunView, reduceRun } from '../run-store.ts';
import { announcementOf } from './derive.ts';

/** A run opened by this page. */
export interface Session {
  readonly summary: Accessor<RunSummary | undefined>;
  readonly view: Accessor<RunView>;
  readonly status: Accessor<RunStatus>;
  readonly progress: Accessor<RunUpdate['progress'] | undefined>;
  readonly seconds: Accessor<number>;
  readonly readOnly: Accessor<boolean>;
  /** Why the run stopped or could not be opened. */
  readonly error: Accessor<PlainError | undefined>;
  /** Whether the events so far have arrived. */
  readonly ready: Accessor<boolean>;
  reopen(): void;
}

/** Shortest time between two redraws: fast enough to look live, slow enough to leave the main thread free. */
const REDRAW_MS = 80;
/** Most events folded at once, so that the replay of a long run never blocks. */
const SLICE = 2000;

/** Opens a run for as long as the calling component lives. Updates are gathered and drawn at most every 80 ms. */
export function openSession(lab: LabService, runId: string): Session {
  const [summary, setSummary] = createSignal<RunSummary>();
  const [view, setView] = createSignal<RunView>(EMPTY_RUN);
  const [status, setStatus] = createSignal<RunStatus>('new');
  const [progress, setProgress] = createSignal<RunUpdate['progress']>();
  const [seconds, setSeconds] = createSignal(0);
  const [readOnly, setReadOnly] = createSignal(false);
  const [error, setError] = createSignal<PlainError>();
  const [ready, setReady] = createSignal(false);

  let queue: RunEvent[] = [];
  let latest: RunUpdate | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let live = true;
  /** Whether the work that is shown is new: a reopened run tells its past first, and that is not spoken again. */
  let fresh = false;

  const flush = () => {
    timer = undefined;
    const update = latest;
    if (!live || !update) return;
    const events = queue.slice(0, SLICE);
    queue = queue.slice(SLICE);
    const first = !ready();
    for (const event of events) if (event.type === 'rollout') fresh = !event.replayed;
    batch(() => {
      if (events.length > 0) setView((before) => reduceRun(before, events));
      setStatus(update.status);
      setProgress(update.progress);
      setSeconds(update.seconds);
      setReadOnly(update.readOnly);
      setError(update.error);
      if (queue.length === 0) setReady(true);
    });
    if (!first && fresh) {
      const boundary = events.map(announcementOf).findLast((text) => text !== undefined);
      if (boundary) announce(boundary);
    }
    if (queue.length > 0) schedule(0);
  };
  const schedule = (delay: number) => {
    timer ??= setTimeout(flush, delay);
  };
  const listener = (update: RunUpdate) => {
    for (const event of update.events) queue.push(event);
    latest = update;
    schedule(ready() ? REDRAW_MS : 0);
  };

  const open = async () => {
    try {
      const opened = await lab.openRun(runId, listener);
      if (!live) return;
      batch(() => {
        setSummary(opened);
        setReadOnly(opened.readOnly);
        if (!latest) {
          setStatus(opened.status);
          setSeconds(opened.seconds);
        }
        setError(opened.error);
      });
    } catch (cause) {
      if (live) setError(toPlainError(cause));
    }
  };
  void open();
  const ignoreBlocks = onLongTask((ms) => {
    if (status() === 'running' && !readOnly()) void lab.noteLongTask(runId, ms);
  });
  onCleanup(() => {
    live = false;
    ignoreBlocks();
    clearTimeout(timer);
    lab.closeRun(runId).catch((cause: unknown) => {
      // Leaving a run that never opened is no fault; anything else is worth a line for whoever looks.
      if (!(cause instanceof NacreError)) console.error('closing the run failed', cause);
    });
  });
  return {
    summary,
    view,
    status,
    progress,
    seconds,
    readOnly,
    error,
    ready,
    reopen() {
      queue = [];
      latest = undefined;
      setReady(false);
      setError(undefined);
      void open();
    },
  };
}
