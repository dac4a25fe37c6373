import { For, Show } from 'solid-js';
import type { ProbeToken } from '../../lab/service.ts';
import { TableActions, type TableData } from '../ui/data-table.tsx';
import { shadeOf, showProbability, showToken } from './token-text.ts';

/** The tokens as chips: shade and figure say how probable each was. One tab stop; arrows move and choose. */
export function TokenChips(props: {
  readonly tokens: readonly ProbeToken[];
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
}) {
  let list!: HTMLDivElement;
  const move = (event: KeyboardEvent) => {
    const last = props.tokens.length - 1;
    const next = { ArrowRight: props.chosen + 1, ArrowLeft: props.chosen - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const index = Math.min(last, Math.max(0, next));
    props.onChoose(index);
    list.querySelector<HTMLElement>(`[data-token="${index}"]`)?.focus();
  };
  const table = (): TableData => ({
    columns: ['place', 'id', 'token', 'probability', 'log probability', 'entropy (nats)'],
    rows: props.tokens.map((token, place) => [
      place,
      token.id,
      token.text,
      token.logprob === undefined ? null : Math.exp(token.logprob),
      token.logprob ?? null,
      token.entropy ?? null,
    ]),
  });
  return (
    <div class="stack">
      <div ref={list} class="chips" role="listbox" aria-label="Tokens" aria-orientation="horizontal" tabindex="-1" onKeyDown={move}>
        <For each={props.tokens}>
          {(token, i) => {
            const probability = () => (token.logprob === undefined ? undefined : Math.exp(token.logprob));
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list box handles the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the tab index is set below, for one option at a time
              <div
                role="option"
                class={`chip shade-${shadeOf(probability())}`}
                data-token={i()}
                aria-selected={props.chosen === i()}
                tabindex={props.chosen === i() ? 0 : -1}
                onClick={() => props.onChoose(i())}
              >
                <span class="mono chip-text">{showToken(token.text)}</span>
                <Show when={token.logprob !== undefined} fallback={<FirstFigure />}>
                  <span class="visually-hidden">, probability </span>
                  <span class="num chip-figure">{showProbability(probability())}</span>
                  <span class="visually-hidden">, entropy {token.entropy?.toFixed(2) ?? 'unknown'} nats</span>
                </Show>
              </div>
            );
          }}
        </For>
      </div>
      <div class="row spread small text-2">
        <span class="row">
          Probability given what stands before:
          <For each={[0, 1, 2, 3, 4] as const}>
            {(shade) => (
              <span class={`chip key shade-${shade}`}>
                <span class="num">{['< .05', '≥ .05', '≥ .2', '≥ .5', '≥ .8'][shade]}</span>
              </span>
            )}
          </For>
        </span>
        <Show when={props.tokens[props.chosen]}>
          {(token) => (
            <span class="num">
              token {props.chosen + 1} of {props.tokens.length} · id {token().id}
              {token().entropy === undefined ? '' : ` · entropy ${token().entropy?.toFixed(2)} nats`}
            </span>
          )}
        </Show>
        <span>
          <TableActions name="tokens" data={table} />
        </span>
      </div>
    </div>
  );
}

function FirstFigure() {
  return (
    <>
      <span class="visually-hidden">, first token</span>
      <span class="num chip-figure" aria-hidden="true">
        –
      </span>
    </>
  );
}
