import { For, Show } from 'solid-js';
import type { TokenMark } from './derive.ts';

/** The tokens of an action in a line: the first difference framed, the compared region underlined, the multiplier above it. */
export function TokenText(props: { readonly tokens: readonly TokenMark[]; readonly outcome?: 'failure' | 'success' }) {
  const startsMultiplied = (i: number) => {
    const multiplier = props.tokens[i]?.multiplier ?? 1;
    return multiplier !== 1 && props.tokens[i - 1]?.multiplier !== multiplier;
  };
  return (
    <span class={`tokens mono ${props.outcome ?? ''}`}>
      <For each={props.tokens}>
        {(token, i) => (
          <>
            <Show when={token.divergent}>
              <span class="visually-hidden"> first difference: </span>
            </Show>
            <span
              class="token"
              classList={{ divergent: token.divergent, region: token.inRegion, shaped: token.multiplier !== 1 }}
              title={`${token.entropy === undefined ? '' : `entropy ${token.entropy.toFixed(2)} nats`}${
                token.multiplier === 1 ? '' : `, advantage ×${token.multiplier.toFixed(2)}`
              }`}
            >
              {token.text}
              <Show when={startsMultiplied(i())}>
                <span class="multiplier num">
                  <span class="visually-hidden">, advantage multiplied by </span>
                  <span aria-hidden="true">×</span>
                  {token.multiplier.toFixed(2)}
                </span>
              </Show>
            </span>
          </>
        )}
      </For>
    </span>
  );
}
