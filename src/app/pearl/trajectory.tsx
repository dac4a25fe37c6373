import { For, Show } from 'solid-js';
import { plural } from '../format.ts';
import { OutcomeBadge } from '../ui/mark.tsx';
import { type FoundTrajectory, shortId, tokenMarks } from './derive.ts';
import { usePearl } from './state.ts';
import { TokenText } from './token-text.tsx';

/** One trajectory turn by turn, with what credit its tokens were given. */
export function Trajectory(props: { readonly found: FoundTrajectory }) {
  const { go } = usePearl();
  const one = () => props.found.trajectory;
  const pairs = () => props.found.update.pairs.filter(({ parentId, branchId }) => parentId === one().id || branchId === one().id);
  const decisions = () =>
    props.found.update.pairs.flatMap(({ lower, higher }) => [lower, higher]).filter(({ trajectoryId }) => trajectoryId === one().id);
  const shaped = () => props.found.update.shaped.filter(({ trajectoryId }) => trajectoryId === one().id);
  const advantage = (turn: number) => props.found.update.advantages[one().id]?.[turn];
  const multiplied = () => shaped().reduce((sum, { tokens }) => sum + tokens.length, 0);
  return (
    <div class="stack">
      <div class="row spread">
        <h3 class="wrap">
          <span class="mono">{one().id}</span>
        </h3>
        <button type="button" class="button small" onClick={() => go({ trajectory: undefined })}>
          Back to the pairs
        </button>
      </div>
      <div class="row">
        <OutcomeBadge outcome={one().success ? 'success' : 'failure'}>{`${one().finish}, reward ${one().reward}`}</OutcomeBadge>
        <Show when={one().parentId}>
          {(parent) => (
            <button type="button" class="link small" onClick={() => go({ trajectory: parent() })}>
              branch of {shortId(parent())} at turn {(one().branchTurn ?? 0) + 1}
            </button>
          )}
        </Show>
        <For each={pairs()}>
          {(pair) => (
            <button type="button" class="link small" onClick={() => go({ trajectory: undefined, pair: pair.id })}>
              pair with {shortId(pair.parentId === one().id ? pair.branchId : pair.parentId)}
            </button>
          )}
        </For>
        <Show when={multiplied() > 0}>
          <span class="badge accent">{plural(multiplied(), 'token')} multiplied</span>
        </Show>
      </div>
      <ol class="turns">
        <For each={one().turns}>
          {(turn, i) => (
            <li>
              <p class="observation">{turn.observation}</p>
              <p class="action">
                <span class="visually-hidden">Action: </span>
                <TokenText tokens={tokenMarks(one(), i(), decisions(), shaped())} />
                <span class="text-2 turn-note num small">
                  <Show when={i() < (one().branchTurn ?? 0)}>shared · </Show>
                  <Show when={advantage(i()) !== undefined}>A {signed(advantage(i()) ?? 0)} · </Show>
                  <span title="Mean entropy of the turn's first tokens, as a share of the largest possible">H {turn.probe.toFixed(2)}</span>
                </span>
              </p>
            </li>
          )}
        </For>
        <li>
          <p class="observation">{one().finalObservation}</p>
        </li>
      </ol>
      <p class="small text-2">
        A is the advantage before shaping, H the entropy that decides about branching. Framed: the first token in which a pair differs;
        underlined: the compared region; ×: what the memory multiplied the advantage by.
      </p>
    </div>
  );
}

function signed(value: number): string {
  return `${value > 0 ? '+' : value < 0 ? '−' : '±'}${Math.abs(value).toFixed(2)}`;
}
