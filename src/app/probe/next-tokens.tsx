import { createMemo, createSignal, For, Show } from 'solid-js';
import type { ProbeResult } from '../../lab/service.ts';
import { TableActions, type TableData } from '../ui/data-table.tsx';
import { Empty } from '../ui/panel.tsx';
import { Segmented } from '../ui/segmented.tsx';
import { showProbability, showToken } from './token-text.ts';

const PLACES = [
  { id: 'here', title: 'At the chosen token' },
  { id: 'next', title: 'After the text' },
] as const;

/** The likeliest tokens at a place, as bars. */
export function NextTokens(props: { readonly result: ProbeResult; readonly index: number }) {
  const [place, setPlace] = createSignal<(typeof PLACES)[number]['id']>('next');
  const token = () => props.result.tokens[props.index];
  const shown = createMemo(() => (place() === 'next' ? props.result.next : (token()?.top ?? [])));
  const table = (): TableData => ({
    columns: ['id', 'token', 'probability'],
    rows: shown().map(({ id, text, probability }) => [id, text, probability]),
  });
  return (
    <figure class="chart" aria-label="Likeliest tokens">
      <div class="chart-head">
        <h3>Likeliest tokens</h3>
        <div class="chart-tools">
          <TableActions name="next-tokens" data={table} />
        </div>
      </div>
      <Segmented label="Place" options={PLACES} selected={place()} onSelect={setPlace} />
      <Show when={shown().length > 0} fallback={<Empty>Nothing stands before the first token, so nothing predicts it.</Empty>}>
        <ol class="bars">
          <For each={shown()}>
            {(one) => (
              <li classList={{ actual: place() === 'here' && one.id === token()?.id }}>
                <span class="mono cut">{showToken(one.text)}</span>
                <svg height="12" aria-hidden="true">
                  <rect class="track" width="100%" height="12" rx="2" />
                  <rect class="fill" width={`${(one.probability * 100).toFixed(2)}%`} height="12" rx="2" />
                </svg>
                <span class="num">{showProbability(one.probability)}</span>
              </li>
            )}
          </For>
        </ol>
      </Show>
      <figcaption class="small text-2">
        {place() === 'next'
          ? `The ${shown().length} likeliest tokens after the whole text.`
          : `The ${shown().length} likeliest tokens where “${showToken(token()?.text ?? '')}” stands; it is marked where it is among them.`}
      </figcaption>
    </figure>
  );
}
