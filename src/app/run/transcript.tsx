import { createMemo, For, onMount, Show } from 'solid-js';
import type { Rollout } from '../../core/types.ts';
import type { VerifiedCard } from '../../textual/types.ts';
import { formatCount, plural } from '../format.ts';
import type { StepView } from '../run-store.ts';
import { Dialog } from '../ui/dialog.tsx';
import { MARKS, Mark, OutcomeBadge } from '../ui/mark.tsx';
import { findRollout, outcomeOf, ROUTE_WORDS, routeOutcome } from './derive.ts';
import { cutAt } from './highlight.ts';
import { useRun } from './state.ts';

/** The transcript of the rollout that the address names, in a panel at the side. */
export function Transcript() {
  const { view, url, go, session } = useRun();
  const found = createMemo(() => {
    const id = url().cell;
    return id === undefined ? undefined : findRollout(view(), id);
  });
  const close = () => go({ cell: undefined, card: undefined });
  return (
    <Show when={url().cell !== undefined}>
      <Dialog title="Transcript" class="side" onClose={close}>
        <Show
          when={found()}
          fallback={
            <p class="dialog-body">
              {session.ready() ? `This run has no rollout "${url().cell}". The link may belong to another run.` : 'Reading the run …'}
            </p>
          }
        >
          {(one) => <Body rollout={one().rollout} step={one().step} />}
        </Show>
      </Dialog>
    </Show>
  );
}

function Body(props: { readonly rollout: Rollout; readonly step: StepView | undefined }) {
  const { view, url, go } = useRun();
  const task = () => view().tasks.get(props.rollout.taskId);
  const siblings = createMemo(() =>
    [...(props.step?.rollouts.values() ?? [])].filter(({ taskId }) => taskId === props.rollout.taskId).sort((a, b) => a.index - b.index),
  );
  const isTraining = () => siblings().some(({ id }) => id === props.rollout.id);
  const route = () => (isTraining() ? props.step?.routeOf?.[props.rollout.taskId] : undefined);
  const cards = createMemo(() => props.step?.cards.filter(({ rolloutId }) => rolloutId === props.rollout.id) ?? []);
  const usage = () => props.rollout.usage;
  return (
    <div class="dialog-body stack transcript">
      <div>
        <h3>{task()?.input ?? props.rollout.taskId}</h3>
        <p class="small text-2 wrap">
          <span class="mono">{props.rollout.taskId}</span> · {task()?.type} · {task()?.split} split · seed{' '}
          <span class="num">{props.rollout.seed}</span>
        </p>
      </div>
      <div class="row">
        <OutcomeBadge
          outcome={outcomeOf(props.rollout)}
        >{`${MARKS[outcomeOf(props.rollout)].word}, reward ${props.rollout.reward}`}</OutcomeBadge>
        <span class="badge">{props.rollout.finish}</span>
        <Show when={route()}>
          {(name) => <OutcomeBadge outcome={routeOutcome(name())}>{`group: ${ROUTE_WORDS[name()].toLowerCase()}`}</OutcomeBadge>}
        </Show>
        <span class="small text-2 num">
          {plural(props.rollout.turns.length, 'turn')} · {formatCount(usage().inputTokens)} tokens in, {formatCount(usage().outputTokens)}{' '}
          out
        </span>
      </div>
      <Show when={isTraining() && siblings().length > 1}>
        <nav class="row" aria-label="Tries of the same task">
          <span class="small text-2">Tries</span>
          <For each={siblings()}>
            {(sibling) => (
              <button
                type="button"
                class={`cell ${outcomeOf(sibling)}`}
                aria-current={sibling.id === props.rollout.id ? 'true' : undefined}
                aria-label={`Try ${sibling.index + 1}: ${MARKS[outcomeOf(sibling)].word}`}
                onClick={() => go({ cell: sibling.id, card: undefined }, true)}
              >
                <span aria-hidden="true">{MARKS[outcomeOf(sibling)].mark}</span>
              </button>
            )}
          </For>
        </nav>
      </Show>
      <Show when={props.rollout.error}>{(error) => <p class="wrap failure">Could not run: {error()}</p>}</Show>
      <For each={cards()}>
        {(card) => (
          <p class="small card-note">
            <strong>{card.condition}</strong> {card.behavior} {card.observedEffect}
          </p>
        )}
      </For>
      <ol class="turns">
        <For each={props.rollout.turns}>
          {(turn, i) => (
            <li>
              <p class="observation">
                <Quoted text={turn.observation} turn={i()} field="observation" cards={cards()} card={url().card} />
              </p>
              <p class="action mono">
                <span class="visually-hidden">Action: </span>
                <span aria-hidden="true">› </span>
                <Quoted text={turn.action} turn={i()} field="action" cards={cards()} card={url().card} />
                <span class="text-2 turn-note">
                  {turn.reward === 0 ? '' : `reward ${turn.reward} `}
                  {turn.tokens ? plural(turn.tokens.ids.length, 'token') : ''}
                </span>
              </p>
            </li>
          )}
        </For>
        <li>
          <p class="observation">
            <Quoted
              text={props.rollout.finalObservation}
              turn={props.rollout.turns.length}
              field="observation"
              cards={cards()}
              card={url().card}
            />
            <span class="visually-hidden"> Outcome: </span> <Mark outcome={outcomeOf(props.rollout)} />
          </p>
        </li>
      </ol>
    </div>
  );
}

/** Text in which the quotes of evidence cards are marked; the card that the address names is brought into sight. */
function Quoted(props: {
  readonly text: string;
  readonly turn: number;
  readonly field: 'observation' | 'action';
  readonly cards: readonly VerifiedCard[];
  readonly card: string | undefined;
}) {
  const pieces = createMemo(() =>
    cutAt(
      props.text,
      props.cards
        .filter(({ location }) => location.turn === props.turn && location.field === props.field)
        .map(({ id, location }) => ({ id, start: location.start, end: location.end })),
    ),
  );
  return (
    <For each={pieces()}>
      {(piece) => (
        <Show when={piece.id} fallback={piece.text}>
          <Highlight text={piece.text} chosen={piece.id === props.card} />
        </Show>
      )}
    </For>
  );
}

function Highlight(props: { readonly text: string; readonly chosen: boolean }) {
  let element!: HTMLElement;
  onMount(() => {
    if (props.chosen) element.scrollIntoView({ block: 'center' });
  });
  return (
    <mark ref={element} classList={{ chosen: props.chosen }}>
      {props.text}
    </mark>
  );
}
