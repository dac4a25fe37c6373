import { createMemo, For, Show } from 'solid-js';
import { showToken } from '../probe/token-text.ts';
import { Mark, OutcomeBadge } from '../ui/mark.tsx';
import { Empty } from '../ui/panel.tsx';
import { clusterName, findPair, neighbours, type PlacedPoint } from './derive.ts';
import { pointKey } from './pearl-store.ts';
import { usePearl } from './state.ts';

/** The decision behind a point: what was seen, said and answered, how it ended, and what lies near it. */
export function DecisionPanel(props: { readonly placed: readonly PlacedPoint[]; readonly opened: PlacedPoint | undefined }) {
  const { view, go } = usePearl();
  const near = createMemo(() => (props.opened ? neighbours(props.placed, props.opened.point, 6) : []));
  return (
    <section class="decision" aria-label="Decision">
      <Show
        when={props.opened}
        fallback={<Empty>Choose a point to read the decision behind it, its outcome and the decisions nearest to it.</Empty>}
      >
        {(one) => (
          <div class="stack">
            <div class="row">
              <OutcomeBadge outcome={one().point.outcome}>{one().point.outcome}</OutcomeBadge>
              <span class="badge">
                {clusterName(one().point.outcome, one().cluster)}
                {one().cluster >= 0 ? ` · ${one().probability.toFixed(2)}` : ''}
              </span>
            </div>
            <DecisionText placed={one()} />
            <Show when={findPair(view(), one().point.pairId)}>
              {(found) => (
                <button
                  type="button"
                  class="button small"
                  onClick={() =>
                    go({
                      tab: 'update',
                      update: found().update.update,
                      pair: found().pair.id,
                      task: found().pair.taskId,
                      trajectory: undefined,
                    })
                  }
                >
                  See it beside its pair
                </button>
              )}
            </Show>
            <div>
              <h3>Nearest decisions</h3>
              <ul class="near">
                <For each={near()}>
                  {({ placed, cosine }) => (
                    <li>
                      <Mark outcome={placed.point.outcome} />
                      <button
                        type="button"
                        class="link small"
                        onClick={() => go({ point: pointKey(placed.point.outcome, placed.point.id) }, true)}
                      >
                        {placed.point.action || showToken(placed.point.tokenText)}
                      </button>
                      <span class="num small text-2">
                        {clusterName(placed.point.outcome, placed.cluster)} {cosine.toFixed(3)}
                      </span>
                    </li>
                  )}
                </For>
              </ul>
            </div>
          </div>
        )}
      </Show>
    </section>
  );
}

/** What was asked, seen, said and answered. */
export function DecisionText(props: { readonly placed: PlacedPoint }) {
  const point = () => props.placed.point;
  return (
    <div class="decision-text">
      <p class="small text-2 wrap">
        {point().taskInput} · update {point().update}, turn {point().turn + 1} · <span class="mono">{point().trajectoryId}</span>
      </p>
      <p class="observation small">{point().observation}</p>
      <p class="action mono">
        {point().action}
        <span class="text-2 turn-note">
          parts at <strong>{showToken(point().tokenText)}</strong>
        </span>
      </p>
      <p class="observation small">{point().reply}</p>
      <p class="small text-2">
        The rollout ended with {point().finish}, reward {point().reward}.
      </p>
    </div>
  );
}
