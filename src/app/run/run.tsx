import { useParams } from '@solidjs/router';
import { createEffect, createMemo, lazy, Match, Show, Suspense, Switch } from 'solid-js';
import { formatRate } from '../format.ts';
import { useLab } from '../lab.ts';
import { Page } from '../shell/page.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Panel } from '../ui/panel.tsx';
import { ContextPanel } from './context-panel.tsx';
import { Controls } from './controls.tsx';
import { askToNotify, notifyWhenDone } from './notification.ts';
import { Result } from './result.tsx';
import { openSession } from './session.ts';
import { createRunState, RunContext } from './state.ts';
import { StepPanel } from './step-panel.tsx';
import { StepStrip } from './step-strip.tsx';
import { Transcript } from './transcript.tsx';
import './run.css';

/** Parts below the steps come as pieces of their own, so that none of them makes the page wait. */
const ConfigPanel = lazy(async () => ({ default: (await import('./config-panel.tsx')).ConfigPanel }));
const Curves = lazy(async () => ({ default: (await import('./curves.tsx')).Curves }));

export function Run() {
  const params = useParams<{ id: string }>();
  // A new run page for a new run: nothing of one run may leak into the next.
  return (
    <Show when={params.id} keyed>
      {(id) => <RunPage id={id} />}
    </Show>
  );
}

function RunPage(props: { readonly id: string }) {
  const session = openSession(useLab(), props.id);
  const state = createRunState(session);
  const name = () => session.summary()?.name ?? 'Run';
  const title = createMemo(() => {
    const progress = session.progress();
    const status = session.status();
    if (status === 'finished') {
      const score = state.view().scores.best.test ?? state.view().scores.best.val;
      return `Done${score ? ` ${formatRate(score.rate)}` : ''} · ${name()}`;
    }
    if (status === 'failed' || status === 'stopped') return `${status === 'failed' ? 'Failed' : 'Stopped'} · ${name()}`;
    const percent = progress && progress.total > 0 ? `${Math.floor((100 * progress.done) / progress.total)}% · ` : '';
    return `${status === 'paused' ? 'Paused · ' : ''}${percent}${name()}`;
  });
  createEffect(() => notifyWhenDone(session.status(), name()));

  return (
    <RunContext.Provider value={state}>
      <Page title={title()} class="run">
        <Controls onNotify={askToNotify} />
        <Show when={session.error()}>
          {(error) => (
            <div class="run-error">
              <ErrorNote error={error()} retry={() => session.reopen()} />
            </div>
          )}
        </Show>
        <Show when={session.summary() || !session.error()}>
          <div class="workbench">
            <div class="area-config">
              <Suspense fallback={<Panel title="Configuration">Reading the run …</Panel>}>
                <ConfigPanel />
              </Suspense>
            </div>
            <section class="panel area-steps" aria-label="Steps">
              <StepStrip />
              <Switch fallback={<p class="empty waiting">{waiting(session.status())}</p>}>
                <Match when={state.shown() === 'result'}>
                  <Result />
                </Match>
                <Match when={state.shown() !== undefined}>
                  <StepPanel />
                </Match>
              </Switch>
            </section>
            <div class="area-context">
              <ContextPanel />
            </div>
            <Panel title="Curves" hideTitle class="area-curves" loading="Drawing the curves …">
              <Curves />
            </Panel>
          </div>
        </Show>
        <Transcript />
      </Page>
    </RunContext.Provider>
  );
}

function waiting(status: string): string {
  if (status === 'failed') return 'This run failed before its first step. The remedy is above.';
  return 'The steps will appear here as they happen: first the initial context is validated, then every step tries, contrasts, edits and judges.';
}
