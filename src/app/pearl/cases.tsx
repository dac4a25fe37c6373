import { createMemo, For, Show } from 'solid-js';
import { plural } from '../format.ts';
import { OutcomeBadge } from '../ui/mark.tsx';
import { Empty } from '../ui/panel.tsx';
import { DecisionText } from './decision.tsx';
import { clusterMultiplier, clusterName, members, type PlacedPoint, placedPoints, verbsText } from './derive.ts';
import { FitChoice, shownFit } from './fit-choice.tsx';
import { pointKey } from './pearl-store.ts';
import { usePearl } from './state.ts';

/** How many decisions of a side are read. */
const SHOWN = 2;

/** What a cluster means in words: its surest failures beside the successes that vetoed it, or beside the nearest successes. */
export function Cases() {
  const { view, url, go } = usePearl();
  const snapshots = createMemo(() => view().snapshots);
  const chosen = createMemo(() => shownFit(snapshots(), url().fit));
  const placed = createMemo(() => {
    const one = chosen();
    return one ? placedPoints(view(), one) : [];
  });
  const clusters = () => chosen()?.failure.clusters ?? [];
  const cluster = createMemo(() => clusters().find(({ label }) => label === url().cluster) ?? clusters()[0]);
  const failures = createMemo(() => {
    const one = cluster();
    return one ? members(placed(), 'failure', one.label).slice(0, SHOWN) : [];
  });
  const successes = createMemo((): readonly PlacedPoint[] => {
    const one = cluster();
    if (!one) return [];
    if (one.vetoedBy !== undefined) return members(placed(), 'success', one.vetoedBy).slice(0, SHOWN);
    // Nothing vetoed it: the successes nearest to its centroid say how far away they are.
    const similarity = ({ point }: PlacedPoint) => point.feature.reduce((sum, value, i) => sum + value * (one.centroid[i] ?? 0), 0);
    return placed()
      .filter(({ point }) => point.outcome === 'success')
      .sort((a, b) => similarity(b) - similarity(a))
      .slice(0, SHOWN);
  });
  const verdict = () => {
    const one = cluster();
    if (!one) return '';
    const temperature = view().started?.settings.memory.temperature ?? 1;
    return one.kept
      ? `Kept: no success cluster holds its centroid. It holds ${one.share.toFixed(2)} of the kept failures, so negative advantages in it grow ×${clusterMultiplier(one, temperature).toFixed(2)}.`
      : `Vetoed by ${clusterName('success', one.vetoedBy ?? -1)} with strength ${(one.vetoStrength ?? 0).toFixed(2)}: successes begin the same way, so nothing is sharpened here.`;
  };
  return (
    <Show
      when={cluster()}
      fallback={
        <Empty>
          Once failure clusters have been found, two failures of each will be shown here beside the successes that vetoed it, or beside the
          nearest successes where it was kept.
        </Empty>
      }
    >
      {(one) => (
        <div class="stack">
          <div class="row spread">
            <FitChoice />
            <label class="row">
              <span>Failure cluster</span>
              <select
                class="input small-select"
                value={one().label}
                onChange={(event) => go({ cluster: Number(event.currentTarget.value) }, true)}
              >
                <For each={clusters()}>
                  {(option) => (
                    <option value={option.label} selected={option.label === one().label}>
                      {clusterName('failure', option.label)}, {option.kept ? 'kept' : 'vetoed'}, {option.size} entries
                    </option>
                  )}
                </For>
              </select>
            </label>
          </div>
          <p>
            <strong>{clusterName('failure', one().label)}</strong>, {plural(one().size, 'failure')} ({verbsText(one())}). {verdict()}
          </p>
          <div class="pair-sides">
            <Column title="Failures, surest members first" outcome="failure" cases={failures()} />
            <Column
              title={
                one().kept
                  ? 'Nearest successes (they did not veto)'
                  : `Successes of ${clusterName('success', one().vetoedBy ?? -1)}, which vetoed it`
              }
              outcome="success"
              cases={successes()}
            />
          </div>
        </div>
      )}
    </Show>
  );
}

function Column(props: { readonly title: string; readonly outcome: 'failure' | 'success'; readonly cases: readonly PlacedPoint[] }) {
  const { go } = usePearl();
  return (
    <section class="stack" aria-label={props.title}>
      <h3>{props.title}</h3>
      <For each={props.cases} fallback={<p class="text-2">There is none.</p>}>
        {(placed) => (
          <article class={`pair-side ${props.outcome}-side`}>
            <div class="row spread">
              <OutcomeBadge
                outcome={props.outcome}
              >{`${clusterName(props.outcome, placed.cluster)} · ${placed.probability.toFixed(2)}`}</OutcomeBadge>
              <button
                type="button"
                class="link small"
                onClick={() => go({ tab: 'memory', point: pointKey(placed.point.outcome, placed.point.id) })}
              >
                Show it in the picture
              </button>
            </div>
            <DecisionText placed={placed} />
          </article>
        )}
      </For>
    </section>
  );
}
