import { createMemo, createSignal, For, Show } from 'solid-js';
import { project } from '../../cluster/projection.ts';
import type { BankSnapshot, ClusterSnapshot, Outcome } from '../../pearl/types.ts';
import { ChartFigure } from '../chart/chart-figure.tsx';
import { formatRate, plural } from '../format.ts';
import type { TableData } from '../ui/data-table.tsx';
import { Empty } from '../ui/panel.tsx';
import { ClusterTable } from './cluster-table.tsx';
import { DecisionPanel } from './decision.tsx';
import { clusterName, newerEntries, placedPoints } from './derive.ts';
import { FitChoice, shownFit } from './fit-choice.tsx';
import { type PearlView, pointKey } from './pearl-store.ts';
import { Scatter, type ScatterApi } from './scatter.tsx';
import { usePearl } from './state.ts';

/** Largest dimension of a feature whose principal components the page works out itself, which takes a few milliseconds. */
const MAX_DIMENSION = 64;

/** The memory as a picture: every decision in it, its clusters, which were kept and which success vetoed. */
export function Memory() {
  const { view, url, go } = usePearl();
  const banks = createMemo(() => view().banks);
  const snapshots = createMemo(() => view().snapshots);
  const chosen = createMemo(() => shownFit(snapshots(), url().fit));
  const snapshot = createMemo(() => {
    banks();
    return chosen() ?? unfitted(view());
  });
  const placed = createMemo(() => {
    const one = snapshot();
    return one ? placedPoints(view(), one) : [];
  });
  const opened = createMemo(() => placed().find(({ point }) => pointKey(point.outcome, point.id) === url().point));
  const [api, setApi] = createSignal<ScatterApi>();
  const isPearl = () => view().started === undefined || view().started?.optimiser === 'pearl';
  const caption = () => {
    const one = chosen();
    if (!one) return `${plural(placed().length, 'decision')}, not clustered yet: the first fit comes after update ${refitEvery(view())}.`;
    const kept = one.failure.clusters.filter((cluster) => cluster.kept).length;
    const newer = one === snapshots().at(-1) ? newerEntries(view(), one) : 0;
    return `Fit after update ${one.update}: ${plural(one.failure.clusters.length, 'failure cluster')}, ${kept} kept; ${formatRate(one.failure.noise)} of the failures are noise.${
      newer > 0 ? ` ${plural(newer, 'newer entry', 'newer entries')} will be placed at the next fit.` : ''
    }`;
  };
  const table = (): TableData => ({
    columns: ['bank', 'cluster', 'probability', 'component 1', 'component 2', 'update', 'task', 'rollout', 'turn', 'token', 'action'],
    rows: placed().map(({ point, x, y, cluster, probability }) => [
      point.outcome,
      clusterName(point.outcome, cluster),
      round(probability),
      round(x),
      round(y),
      point.update,
      point.taskId,
      point.trajectoryId,
      point.turn + 1,
      point.tokenText,
      point.action,
    ]),
  });
  return (
    <Show
      when={isPearl()}
      fallback={
        <Empty>{`${view().started?.optimiser.toUpperCase()} keeps no memory of decisions. Choose the optimiser "pearl" in a new run.`}</Empty>
      }
    >
      <Show
        when={snapshot()}
        fallback={
          <Empty>
            Decisions in which a branch and its parent part with different outcomes will be drawn here: failures ✕ and successes ●. The
            first arrive with the first update that has a discordant pair.
          </Empty>
        }
      >
        {(one) => (
          <div class="stack memory">
            <div class="memory-pair">
              <div>
                <FitChoice />
                <ChartFigure
                  title="Decisions by their layer logits"
                  caption={caption()}
                  name={`pearl-memory-${one().update}`}
                  table={table}
                  picture={() => api()?.picture() ?? Promise.reject(new Error('The picture is not drawn yet.'))}
                >
                  <Scatter
                    placed={placed()}
                    snapshot={one()}
                    fitted={chosen() !== undefined}
                    opened={opened()}
                    onOpen={({ point }) => go({ point: pointKey(point.outcome, point.id) }, true)}
                    api={setApi}
                  />
                </ChartFigure>
              </div>
              <DecisionPanel placed={placed()} opened={opened()} />
            </div>
            <For each={chosen() ? [chosen() as ClusterSnapshot] : []}>{(fitted) => <ClusterTable snapshot={fitted} />}</For>
          </div>
        )}
      </Show>
    </Show>
  );
}

function refitEvery(view: PearlView): number {
  return view.started?.settings.memory.refitEvery ?? 0;
}

function round(value: number): number {
  return Number(value.toFixed(4));
}

/** The banks as they are, placed but not clustered; undefined while they are empty or their features too long to place here. */
function unfitted(view: PearlView): ClusterSnapshot | undefined {
  const of = (outcome: Outcome) =>
    [...view.banks[outcome]].flatMap((id) => {
      const point = view.points.get(pointKey(outcome, id));
      return point ? [point] : [];
    });
  const failure = of('failure');
  const success = of('success');
  const all = [...failure, ...success];
  if (all.length === 0 || (all[0]?.feature.length ?? 0) > MAX_DIMENSION) return undefined;
  const { coordinates, explained } = project(all.map(({ feature }) => feature));
  const bank = (points: typeof failure, from: number): BankSnapshot<never> => ({
    pointIds: points.map(({ id }) => id),
    labels: points.map(() => -1),
    probabilities: points.map(() => 0),
    plane: points.map((_, i) => [coordinates.data[2 * (from + i)] ?? 0, coordinates.data[2 * (from + i) + 1] ?? 0]),
    clusters: [],
    centres: [],
    noise: 0,
  });
  return {
    update: view.records.at(-1)?.update ?? 0,
    failure: bank(failure, 0),
    success: bank(success, failure.length),
    keptEntries: 0,
    largestShare: 0,
    explained,
  };
}
