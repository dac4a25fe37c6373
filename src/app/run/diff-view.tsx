import { createMemo, For, Show } from 'solid-js';
import { plural } from '../format.ts';
import { diffCounts, lineDiff } from './diff-lines.ts';

const SIGNS = { same: ' ', added: '+', removed: '−', gap: '⋯' } as const;

/** What changed between two texts, line by line; signs and words carry the meaning, colour only helps. */
export function DiffView(props: { readonly label: string; readonly before: string; readonly after: string }) {
  const lines = createMemo(() => lineDiff(props.before, props.after));
  const counts = createMemo(() => diffCounts(lines()));
  return (
    <figure class="diff" aria-label={props.label}>
      <figcaption class="small text-2">
        {props.label}: {plural(counts().added, 'line')} added, {counts().removed} removed
      </figcaption>
      <div class="diff-lines mono">
        <For each={lines()}>
          {(line) => (
            <div class={`diff-line ${line.kind}`}>
              <span class="sign" aria-hidden="true">
                {SIGNS[line.kind]}
              </span>
              <Show
                when={line.kind !== 'gap'}
                fallback={<span class="text-2">{plural(Number(line.words[0]?.text), 'unchanged line')}</span>}
              >
                <span class="wrap">
                  <Show when={line.kind !== 'same'}>
                    <span class="visually-hidden">{line.kind}: </span>
                  </Show>
                  <For each={line.words}>
                    {(word) => (
                      <Show when={word.changed} fallback={word.text}>
                        <b>{word.text}</b>
                      </Show>
                    )}
                  </For>
                </span>
              </Show>
            </div>
          )}
        </For>
      </div>
    </figure>
  );
}
