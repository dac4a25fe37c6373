import { createMemo, createSignal, For, lazy, Show, Suspense } from 'solid-js';
import { notify } from '../announce.ts';
import { copyText } from '../files.ts';
import { formatCount } from '../format.ts';
import { Empty, Panel } from '../ui/panel.tsx';
import { Segmented } from '../ui/segmented.tsx';
import { contextParts } from './context-parts.ts';
import { bestContext, currentContext } from './derive.ts';
import { DiffView } from './diff-view.tsx';
import { type ExportOffer, Exports } from './exports.tsx';
import { useRun } from './state.ts';

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }));

const EXPORTS: readonly ExportOffer[] = [
  { format: 'skill', title: 'SKILL.md' },
  { format: 'prompt', title: 'Prompt' },
  { format: 'result', title: 'JSON' },
  { format: 'bundle', title: 'Bundle' },
];

const WHICH = [
  { id: 'best', title: 'Best' },
  { id: 'now', title: 'Now' },
  { id: 'initial', title: 'Initial' },
] as const;
const HOW = [
  { id: 'rendered', title: 'Read' },
  { id: 'source', title: 'Source' },
  { id: 'diff', title: 'Changes' },
] as const;

/** The text the model reads: the best so far, the one at work now, or the initial one. */
export function ContextPanel() {
  const { view, session } = useRun();
  const [which, setWhich] = createSignal<(typeof WHICH)[number]['id']>('best');
  const [how, setHow] = createSignal<(typeof HOW)[number]['id']>('rendered');
  const text = createMemo(() => {
    if (which() === 'initial') return view().initialContext;
    return which() === 'now' ? currentContext(view()) : bestContext(view());
  });
  const limit = () => {
    const config = session.summary()?.config;
    return config?.kind === 'textual' ? config.textual.maxContextChars : undefined;
  };
  const copy = async () => {
    await copyText(text());
    notify('Context copied.');
  };
  const choices = () => (view().finished ? WHICH.filter(({ id }) => id !== 'now') : WHICH);
  return (
    <Panel
      title="Context"
      class="context-panel"
      actions={<Segmented label="Which context" options={choices()} selected={which()} onSelect={setWhich} />}
    >
      <div class="stack context-stack">
        <div class="row spread">
          <Segmented label="How the context is shown" options={HOW} selected={how()} onSelect={setHow} />
          <button type="button" class="button quiet small" disabled={text() === ''} onClick={() => void copy()}>
            Copy
          </button>
        </div>
        <div class="context-text grow" tabindex="0">
          <Show
            when={text().trim() !== ''}
            fallback={
              <Empty>{view().started ? 'This context is empty: the model reads only its task.' : 'The context will appear here.'}</Empty>
            }
          >
            <Suspense fallback={<pre class="wrap">{text()}</pre>}>
              <Show when={how() === 'diff'} fallback={<Parts text={text()} source={how() === 'source'} />}>
                <DiffView label="Against the initial context" before={view().initialContext} after={text()} />
              </Show>
            </Suspense>
          </Show>
        </div>
        <p class="small text-2 num">
          {formatCount(text().length)}
          {limit() === undefined ? '' : ` of at most ${formatCount(limit() ?? 0)}`} characters
          {which() === 'best' && view().bestStep > 0 ? ` · from step ${view().bestStep}` : ''}
        </p>
        <Exports session={session} offers={EXPORTS} />
      </div>
    </Panel>
  );
}

function Parts(props: { readonly text: string; readonly source: boolean }) {
  return (
    <For each={contextParts(props.text)}>
      {(part) => (
        <Show when={part.protectedName !== undefined} fallback={<PartText text={part.text} source={props.source} />}>
          <section class="protected" aria-label={`Protected region ${part.protectedName}`}>
            <p class="small text-2">
              <span aria-hidden="true">▣</span> protected: {part.protectedName}
            </p>
            <PartText text={part.text} source={props.source} />
          </section>
        </Show>
      )}
    </For>
  );
}

function PartText(props: { readonly text: string; readonly source: boolean }) {
  return (
    <Show when={props.source} fallback={<Markdown text={props.text} />}>
      <pre class="wrap">{props.text.replace(/^\n+|\n+$/g, '')}</pre>
    </Show>
  );
}
