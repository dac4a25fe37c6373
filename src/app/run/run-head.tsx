import { useNavigate } from '@solidjs/router';
import { createEffect, createMemo, createSignal, type JSX, on, Show } from 'solid-js';
import { useCommands } from '../commands.ts';
import { formatSeconds } from '../format.ts';
import { useLab } from '../lab.ts';
import { isOpenStatus, StatusBadge } from '../run-status.tsx';
import { CommandButton } from '../ui/command-button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { askToNotify } from './notification.ts';
import type { Session } from './session.ts';

/** What the head of a run page cannot know by itself. */
export interface HeadProps {
  readonly session: Session;
  /** What a run is made of: `step`, `update`. */
  readonly unit: string;
  /** Units recorded so far. */
  readonly recorded: number;
  /** What is being done, or how it ended. */
  readonly words: string;
  /** What stopping early keeps. */
  readonly kept: JSX.Element;
  /** Another run like this one; absent opens its configuration for editing. */
  readonly again?: { readonly title: string; readonly run: () => Promise<void> };
  readonly following: boolean;
  follow(): void;
  /** Shows the unit before (−1) or after (1) the shown one. */
  neighbour(by: 1 | -1): void;
}

/** The head of a run page: what is being done, how much is left, and what can be done about it. */
export function RunHead(props: HeadProps) {
  const session = props.session;
  const lab = useLab();
  const navigate = useNavigate();
  const [stopping, setStopping] = createSignal(false);
  const [error, setError] = createSignal<unknown>();
  const id = () => session.summary()?.id ?? '';
  const act = (work: (id: string) => Promise<void>) => {
    setError(undefined);
    work(id()).catch(setError);
  };
  const mine = () => session.summary() !== undefined && !session.readOnly() && !session.summary()?.recorded;
  const running = () => session.status() === 'running' || session.status() === 'new';
  const editLink = async () => {
    const config = session.summary()?.config;
    if (!config) return;
    const { configToLink } = await import('../config-link.ts');
    navigate(`/new?c=${configToLink(config)}`);
  };
  /** One step: go on until the next step is recorded, then pause. Units that are under way are finished first. */
  const recorded = createMemo(() => props.recorded);
  let stopAfter: number | undefined;
  const oneStep = () => {
    stopAfter = recorded() + 1;
    act((run) => lab.resume(run));
  };
  createEffect(
    on(recorded, (count) => {
      if (stopAfter === undefined || count < stopAfter) return;
      stopAfter = undefined;
      act((run) => lab.pause(run));
    }),
  );

  useCommands([
    {
      id: 'run.pause',
      title: 'Pause',
      group: 'Run',
      keys: ['Space'],
      when: () => mine() && running(),
      run: () => act((run) => lab.pause(run)),
    },
    {
      id: 'run.resume',
      title: 'Resume',
      group: 'Run',
      keys: ['Space'],
      when: () => mine() && session.status() === 'paused',
      run: () => act((run) => lab.resume(run)),
    },
    {
      id: 'run.step',
      title: `One ${props.unit}`,
      group: 'Run',
      keys: ['.'],
      when: () => mine() && session.status() === 'paused',
      run: oneStep,
    },
    {
      id: 'run.stop',
      title: 'Stop …',
      group: 'Run',
      when: () => mine() && isOpenStatus(session.status()),
      run: () => setStopping(true),
    },
    {
      id: 'run.again',
      title: props.again?.title ?? 'New run from this configuration',
      group: 'Run',
      when: () => session.summary() !== undefined,
      run: () => void (props.again ? props.again.run().catch(setError) : editLink()),
    },
    {
      id: 'run.notify',
      title: 'Notify me when the run is done',
      group: 'Run',
      when: () => isOpenStatus(session.status()),
      run: () => void askToNotify(),
    },
    { id: 'step.previous', title: `Previous ${props.unit}`, group: 'View', keys: ['['], run: () => props.neighbour(-1) },
    { id: 'step.next', title: `Next ${props.unit}`, group: 'View', keys: [']'], run: () => props.neighbour(1) },
    {
      id: 'step.live',
      title: 'Follow the run',
      group: 'View',
      keys: ['l'],
      when: () => !props.following,
      run: () => props.follow(),
    },
  ]);

  return (
    <div class="run-head">
      <div class="run-title">
        <div class="row">
          <h1 class="cut">{session.summary()?.name ?? (session.error() ? 'This run could not be opened' : 'Opening the run …')}</h1>
          <Show when={session.summary()}>
            <StatusBadge status={session.status()} />
          </Show>
          <Show when={session.summary()}>{(summary) => <span class="text-2 small num">seed {summary().seed}</span>}</Show>
          <Show when={session.summary()?.recorded}>
            <span class="badge accent">recorded</span>
          </Show>
          <Show when={session.readOnly() && !session.summary()?.recorded}>
            <span class="badge accent">read only: it runs in another tab</span>
          </Show>
        </div>
        <Show when={session.summary() || !session.error()}>
          <Progress session={session} words={props.words} />
        </Show>
      </div>
      <div class="row run-buttons">
        <CommandButton id="run.pause" class="primary" />
        <CommandButton id="run.resume" class="primary" />
        <CommandButton id="run.step" />
        <CommandButton id="run.stop" class="danger" />
        <Show when={!isOpenStatus(session.status())}>
          <CommandButton id="run.again">{props.again?.title ?? 'New run from this'}</CommandButton>
        </Show>
      </div>
      <Show when={error()}>
        <div class="run-error">
          <ErrorNote error={error()} dismiss={() => setError(undefined)} />
        </div>
      </Show>
      <Show when={stopping()}>
        <Confirm
          title="Stop this run?"
          action="Stop the run"
          run={async () => {
            await lab.stop(id());
          }}
          onClose={() => setStopping(false)}
        >
          <p>
            <strong>{session.summary()?.name}</strong> ends after the unit it is at. The {props.unit}s that are left will not be made;{' '}
            {props.kept} To go on later, pause instead.
          </p>
        </Confirm>
      </Show>
    </div>
  );
}

/** The current phase in words, units done, and the time left. Its space is reserved from the start. */
function Progress(props: { readonly session: Session; readonly words: string }) {
  const session = props.session;
  const fraction = () => {
    const progress = session.progress();
    return progress && progress.total > 0 ? progress.done / progress.total : 0;
  };
  const time = () => {
    const left = session.progress()?.secondsLeft;
    const spent = `${formatSeconds(session.seconds())} of work`;
    return isOpenStatus(session.status()) && left !== undefined ? `${spent} · about ${formatSeconds(left)} left` : spent;
  };
  return (
    <div class="run-progress">
      <progress aria-label="Progress of the run" max="1" value={fraction()} />
      <div class="row spread small">
        <span class="cut">{props.words}</span>
        <span class="text-2 num">
          {time()}
          <Show when={session.status() === 'running'}>
            <span class="safe"> · safe to leave: it resumes here</span>
          </Show>
        </span>
      </div>
    </div>
  );
}
