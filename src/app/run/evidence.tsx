import { createMemo, For, Show } from 'solid-js';
import type { RejectedCard, VerifiedCard } from '../../textual/types.ts';
import { plural } from '../format.ts';
import type { StepView } from '../run-store.ts';
import { MARKS, OutcomeBadge } from '../ui/mark.tsx';
import { Empty } from '../ui/panel.tsx';
import { findRollout, outcomeOf, ROUTE_WORDS, routeOutcome } from './derive.ts';
import { useRun } from './state.ts';

/** The evidence of a step: cards whose quotes were found in their transcripts, and those that were refused, with the reason. */
export function Evidence(props: { readonly step: StepView }) {
  const sorted = createMemo(() => {
    const order = { mixed: 0, 'all-failure': 1, 'all-success': 2 } as const;
    return [...props.step.cards].sort((a, b) => order[a.route] - order[b.route]);
  });
  const refused = createMemo(() => {
    const byReason = new Map<string, RejectedCard[]>();
    for (const card of props.step.rejected) byReason.set(card.reason, [...(byReason.get(card.reason) ?? []), card]);
    return [...byReason];
  });
  return (
    <div class="stack">
      <Show
        when={sorted().length > 0}
        fallback={
          <Empty>
            {props.step.record
              ? 'No card of this step survived the check of its quote.'
              : 'Evidence cards will appear here once the rollouts are contrasted. Each must quote its transcript.'}
          </Empty>
        }
      >
        <ul class="stack">
          <For each={sorted()}>{(card) => <Card card={card} />}</For>
        </ul>
      </Show>
      <Show when={refused().length > 0}>
        <details class="refused">
          <summary>{plural(props.step.rejected.length, 'card')} refused</summary>
          <For each={refused()}>
            {([reason, cards]) => (
              <div class="stack">
                <h4>
                  {reason.replaceAll('-', ' ')} <span class="text-2 num">{cards.length}</span>
                </h4>
                <ul class="stack">
                  <For each={cards}>
                    {({ card, callId }) => (
                      <li class="small wrap">
                        <q class="mono">{card.quote || '(no quote)'}</q> <span class="text-2">{card.behavior}</span>{' '}
                        <span class="text-2 mono">
                          {card.rolloutId ?? 'no rollout'} · call {callId}
                        </span>
                      </li>
                    )}
                  </For>
                </ul>
              </div>
            )}
          </For>
        </details>
      </Show>
    </div>
  );
}

function Card(props: { readonly card: VerifiedCard }) {
  const { view, go } = useRun();
  const card = () => props.card;
  const outcome = () => outcomeOf(findRollout(view(), card().rolloutId)?.rollout);
  return (
    <li class="evidence">
      <button
        type="button"
        class="quote mono"
        onClick={() => go({ cell: card().rolloutId, card: card().id })}
        aria-label={`Open the transcript at: ${card().quote}`}
      >
        <span class="wrap">“{card().quote}”</span>
      </button>
      <p class="wrap">
        <span class="text-2">When</span> {card().condition} <span class="text-2">What</span> {card().behavior}{' '}
        <span class="text-2">So</span> {card().observedEffect}
      </p>
      <div class="row small text-2">
        <OutcomeBadge outcome={outcome()}>{`this try: ${MARKS[outcome()].word}`}</OutcomeBadge>
        <OutcomeBadge outcome={routeOutcome(card().route)}>{`group: ${ROUTE_WORDS[card().route].toLowerCase()}`}</OutcomeBadge>
        <span class="mono">{card().taskId}</span>
        <Show when={card().multiplicity > 1}>
          <span>stands for {card().multiplicity} equal cards</span>
        </Show>
        <Show when={card().elided}>{(text) => <span class="wrap">left out: “{text()}”</span>}</Show>
      </div>
    </li>
  );
}
