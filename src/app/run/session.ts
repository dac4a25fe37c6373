import { type Accessor, batch, createSignal, onCleanup } from 'solid-js';
import { NacreError, type PlainError, toPlainError } from '../../core/errors.ts';
import type { LabService, RunStatus, RunSummary, RunUpdate } from '../../lab/service.ts';
import type { PearlEvent } from '../../pearl/types.ts';
import type { RunEvent } from '../../textual/types.ts';
import { announce } from '../announce.ts';
import { onLongTask } from '../long-tasks.ts';

/** What a run of any kind tells. */
export type LabEvent = RunEvent | PearlEvent;

const PEARL_EVENTS: ReadonlySet<string> = new Set<PearlEvent['type']>([
  'pearl-started',
  'pearl-phase',
  'forest',
  'credit',
  'clusters',
  'update',
  'policy-score',
  'notice',
  'pearl-finished',
]);

export function isPearlEvent(event: LabEvent): event is PearlEvent {
  return PEARL_EVENTS.has(event.type);
}

/** How the events of one kind of run become what its page shows. All pure. */
export interface Fold<View, Event extends LabEvent> {
  readonly empty: View;
  isOwn(event: LabEvent): event is Event;
  reduce(view: View, events: readonly Event[]): View;
  /** Whether the event is new work (true) or told again from the journal (false); undefined where it does not say. */
  isFresh(event: Event): boolean | undefined;
  /** What is spoken at a boundary; nothing for all else. */
  announcement(event: Event): string | undefined;
}

/** A run opened by this page. */
export interface Session {
  readonly summary: Accessor<RunSummary | undefined>;
  readonly status: Accessor<RunStatus>;
  readonly progress: Accessor<RunUpdate['progress'] | undefined>;
  readonly seconds: Accessor<number>;
  readonly readOnly: Accessor<boolean>;
  /** Why the run stopped or could not be opened. */
  readonly error: Accessor<PlainError | undefined>;
  /** Whether the events so far have arrived. */
  readonly ready: Accessor<boolean>;
  reopen(): void;
  /** Folds the run's events, those that came before included, for as long as the calling component lives. One follower at a time. */
  follow<View, Event extends LabEvent>(fold: Fold<View, Event>): Accessor<View>;
}

/** Shortest time between two redraws: fast enough to look live, slow enough to leave the main thread free. */
const REDRAW_MS = 80;
/** Most events folded at once, so that the replay of a long run never blocks. */
const SLICE = 2000;

/** Opens a run for as long as the calling component lives. Updates are gathered and drawn at most every 80 ms. */
export function openSession(lab: LabService, runId: string): Session {
  const [summary, setSummary] = createSignal<RunSummary>();
  const [status, setStatus] = createSignal<RunStatus>('new');
  const [progress, setProgress] = createSignal<RunUpdate['progress']>();
  const [seconds, setSeconds] = createSignal(0);
  const [readOnly, setReadOnly] = createSignal(false);
  const [error, setError] = createSignal<PlainError>();
  const [ready, setReady] = createSignal(false);

  let queue: LabEvent[] = [];
  /** Takes the next events; until the part of the page that draws them is there, they wait. */
  let take: ((events: readonly LabEvent[]) => void) | undefined;
  let latest: RunUpdate | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let live = true;

  const flush = () => {
    timer = undefined;
    const update = latest;
    if (!live || !update) return;
    const events = take ? queue.slice(0, SLICE) : [];
    queue = queue.slice(events.length);
    batch(() => {
      if (events.length > 0) take?.(events);
      setStatus(update.status);
      setProgress(update.progress);
      setSeconds(update.seconds);
      setReadOnly(update.readOnly);
      setError(update.error);
      if (take && queue.length === 0) setReady(true);
    });
    if (take && queue.length > 0) schedule(0);
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
    follow<View, Event extends LabEvent>(fold: Fold<View, Event>): Accessor<View> {
      // Boxed, so that a view is never mistaken for an updater.
      const [view, setView] = createSignal({ of: fold.empty });
      /** A reopened run tells its past first, and that is not spoken again. */
      let fresh = false;
      take = (all) => {
        const events = all.filter(fold.isOwn);
        const first = !ready();
        for (const event of events) fresh = fold.isFresh(event) ?? fresh;
        setView({ of: fold.reduce(view().of, events) });
        if (first || !fresh) return;
        const boundary = events.map(fold.announcement).findLast((text) => text !== undefined);
        if (boundary) announce(boundary);
      };
      if (latest) schedule(0);
      onCleanup(() => {
        take = undefined;
      });
      return () => view().of;
    },
  };
}
