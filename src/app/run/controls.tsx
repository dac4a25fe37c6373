import { useNavigate } from '@solidjs/router';
import { createEffect, createMemo, createSignal, on, Show } from 'solid-js';
import { useCommands } from '../commands.ts';
import { formatCount, formatSeconds } from '../format.ts';
import { useLab } from '../lab.ts';
import { isOpenStatus, StatusBadge } from '../run-status.tsx';
import { CommandButton } from '../ui/command-button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { useRun } from './state.ts';

/** The head of the run page: what is being done, how much is left, and what can be done about it. */
export function Controls(props: { readonly onNotify: () => Promise<void> }) {
  const { session, view, url, go } = useRun();
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
  const recorded = createMemo(() => [...view().steps.values()].filter(({ record }) => record).length);
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
  const neighbour = (by: number) => {
    const numbers = [...view().steps.keys()];
    const current = url().step;
    const at = typeof current === 'number' ? numbers.indexOf(current) : numbers.length - (current === 'result' ? 0 : 1);
    const next = numbers[Math.max(0, at + by)];
    if (next !== undefined) go({ step: next, cell: undefined, card: undefined });
    else if (view().finished) go({ step: 'result', cell: undefined, card: undefined });
  };

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
      title: 'One step',
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
      title: 'New run from this configuration',
      group: 'Run',
      when: () => session.summary() !== undefined,
      run: () => void editLink(),
    },
    {
      id: 'run.notify',
      title: 'Notify me when the run is done',
      group: 'Run',
      when: () => isOpenStatus(session.status()),
      run: () => void props.onNotify(),
    },
    { id: 'step.previous', title: 'Previous step', group: 'View', keys: ['['], run: () => neighbour(-1) },
    { id: 'step.next', title: 'Next step', group: 'View', keys: [']'], run: () => neighbour(1) },
    {
      id: 'step.live',
      title: 'Follow the run',
      group: 'View',
      keys: ['l'],
      when: () => url().step !== 'live',
      run: () => go({ step: 'live', cell: undefined, card: undefined }),
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
          <Progress />
        </Show>
      </div>
      <div class="row run-buttons">
        <CommandButton id="run.pause" class="primary" />
        <CommandButton id="run.resume" class="primary" />
        <CommandButton id="run.step" />
        <CommandButton id="run.stop" class="danger" />
        <Show when={!isOpenStatus(session.status())}>
          <CommandButton id="run.again">New run from this</CommandButton>
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
            <strong>{session.summary()?.name}</strong> ends after the unit it is at. The steps that are left will not be made; the best
            context so far is tested and can be exported. To go on later, pause instead.
          </p>
        </Confirm>
      </Show>
    </div>
  );
}

/** The current phase in words, units done, and the time left. Its space is reserved from the start. */
function Progress() {
  const { session, view } = useRun();
  const fraction = () => {
    const progress = session.progress();
    return progress && progress.total > 0 ? progress.done / progress.total : 0;
  };
  const words = () => {
    const phase = view().phase;
    switch (session.status()) {
      case 'finished':
        return view().finished ? `Finished after ${view().totalSteps} steps` : 'Finished';
      case 'stopped':
        return 'Stopped early; the best context so far was kept';
      case 'failed':
        return 'Stopped by an error; what was done is kept';
      default:
        if (!phase) return 'Starting the engine …';
    }
    const where = phase.step > 0 && phase.phase !== 'test' ? `Step ${phase.step} of ${view().totalSteps} · ` : '';
    const count = phase.total > 1 ? ` · ${formatCount(Math.min(phase.done + 1, phase.total))} of ${formatCount(phase.total)}` : '';
    return `${where}${phase.label}${count}`;
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
        <span class="cut">{words()}</span>
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
