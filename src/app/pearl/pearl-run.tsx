import { createMemo, lazy, Show, Suspense } from 'solid-js';
import type { PearlEvent } from '../../pearl/types.ts';
import { formatRate } from '../format.ts';
import { type Fold, isPearlEvent, type Session } from '../run/session.ts';
import { Page } from '../shell/page.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Panel } from '../ui/panel.tsx';
import { type Tab, Tabs } from '../ui/tabs.tsx';
import { isFreshPearl, pearlAnnouncement } from './derive.ts';
import { Overview } from './overview.tsx';
import { PearlHead } from './pearl-head.tsx';
import { EMPTY_PEARL, type PearlView, reducePearl } from './pearl-store.ts';
import { createPearlState, PearlContext } from './state.ts';
import type { PearlTab } from './url.ts';
import './pearl.css';

const ConfigPanel = lazy(async () => {
  const [{ ConfigPanel }, { parsePearlConfig }] = await Promise.all([
    import('../run/config-panel.tsx'),
    import('../../lab/pearl-config.ts'),
  ]);
  const defaults = parsePearlConfig({ schema: 'nacre.experiment/1', kind: 'pearl', name: 'Defaults', suite: { id: 'household' } });
  return { default: (props: { readonly session: Session }) => <ConfigPanel session={props.session} defaults={defaults} /> };
});
const Inspector = lazy(async () => ({ default: (await import('./inspector.tsx')).Inspector }));
const Memory = lazy(async () => ({ default: (await import('./memory.tsx')).Memory }));
const Fits = lazy(async () => ({ default: (await import('./fits.tsx')).Fits }));
const Cases = lazy(async () => ({ default: (await import('./cases.tsx')).Cases }));

const FOLD: Fold<PearlView, PearlEvent> = {
  empty: EMPTY_PEARL,
  isOwn: isPearlEvent,
  reduce: reducePearl,
  isFresh: isFreshPearl,
  announcement: pearlAnnouncement,
};

/** A run that trains a policy: PEARL or one of the optimisers it is compared with. */
export function PearlRun(props: { readonly session: Session }) {
  const { session } = props;
  const state = createPearlState(session, session.follow(FOLD));
  const { view, url, go } = state;
  const name = () => session.summary()?.name ?? 'Run';
  const title = createMemo(() => {
    const progress = session.progress();
    const status = session.status();
    if (status === 'finished') {
      const score = view().scores.final.test ?? view().scores.final.val;
      return `Done${score ? ` ${formatRate(score.rate)}` : ''} · ${name()}`;
    }
    if (status === 'failed' || status === 'stopped') return `${status === 'failed' ? 'Failed' : 'Stopped'} · ${name()}`;
    const percent = progress && progress.total > 0 ? `${Math.floor((100 * progress.done) / progress.total)}% · ` : '';
    return `${status === 'paused' ? 'Paused · ' : ''}${percent}${name()}`;
  });

  // Counts are getters, so that a new count changes its figure and not the row of tabs.
  const tabs: readonly Tab<PearlTab>[] = [
    { id: 'overview', title: 'Overview', panel: () => <Overview /> },
    {
      id: 'update',
      title: 'Updates',
      get count() {
        return view().records.length;
      },
      panel: () => <Inspector />,
    },
    {
      id: 'memory',
      title: 'Memory',
      get count() {
        return view().banks.failure.size + view().banks.success.size;
      },
      panel: () => <Memory />,
    },
    {
      id: 'fits',
      title: 'Fits',
      get count() {
        return view().snapshots.length;
      },
      panel: () => <Fits />,
    },
    { id: 'cases', title: 'Cases', panel: () => <Cases /> },
  ];

  return (
    <PearlContext.Provider value={state}>
      <Page title={title()} class="run pearl">
        <PearlHead />
        <Show when={session.error()}>
          {(error) => (
            <div class="run-error">
              <ErrorNote error={error()} retry={() => session.reopen()} />
            </div>
          )}
        </Show>
        <div class="workbench pearl-bench">
          <div class="area-config">
            <Suspense fallback={<Panel title="Configuration">Reading the run …</Panel>}>
              <ConfigPanel session={session} />
            </Suspense>
          </div>
          <section class="panel area-steps" aria-label="Training">
            <Suspense fallback={<p class="tab-panel text-2">Loading this view …</p>}>
              <Tabs label="Views of the run" selected={url().tab} onSelect={(tab) => go({ tab })} tabs={tabs} />
            </Suspense>
          </section>
        </div>
      </Page>
    </PearlContext.Provider>
  );
}
