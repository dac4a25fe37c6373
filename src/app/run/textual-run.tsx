import { createMemo, lazy, Match, Show, Suspense, Switch } from 'solid-js';
import type { RunEvent } from '../../textual/types.ts';
import { formatRate } from '../format.ts';
import { EMPTY_RUN, type RunView, reduceRun } from '../run-store.ts';
import { Page } from '../shell/page.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Panel } from '../ui/panel.tsx';
import { ContextPanel } from './context-panel.tsx';
import { Controls } from './controls.tsx';
import { announcementOf } from './derive.ts';
import { Result } from './result.tsx';
import { type Fold, isPearlEvent, type Session } from './session.ts';
import { createRunState, RunContext } from './state.ts';
import { StepPanel } from './step-panel.tsx';
import { StepStrip } from './step-strip.tsx';
import { Transcript } from './transcript.tsx';

/** Parts below the steps come as pieces of their own, so that none of them makes the page wait. */
const ConfigPanel = lazy(async () => {
  const [{ ConfigPanel }, { parseConfig }] = await Promise.all([import('./config-panel.tsx'), import('../../lab/config.ts')]);
  const defaults = parseConfig({ schema: 'nacre.experiment/1', kind: 'textual', name: 'Defaults', suite: { id: 'household' } });
  return {
    default: (props: { readonly session: Session }) => (
      <ConfigPanel session={props.session} defaults={defaults} again="Edit as a new run" />
    ),
  };
});
const Curves = lazy(async () => ({ default: (await import('./curves.tsx')).Curves }));

const FOLD: Fold<RunView, RunEvent> = {
  empty: EMPTY_RUN,
  isOwn: (event): event is RunEvent => !isPearlEvent(event),
  reduce: reduceRun,
  isFresh: (event) => (event.type === 'rollout' ? !event.replayed : undefined),
  announcement: announcementOf,
};

/** A TextualRL run: configuration, steps, context, curves. */
export function TextualRun(props: { readonly session: Session }) {
  const { session } = props;
  const state = createRunState(session, session.follow(FOLD));
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

  return (
    <RunContext.Provider value={state}>
      <Page title={title()} class="run">
        <Controls />
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
                <ConfigPanel session={session} />
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
