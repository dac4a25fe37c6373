import { createMemo, createSignal, For, lazy, Show, Suspense } from 'solid-js';
import type { ExportFormat } from '../../lab/service.ts';
import { notify } from '../announce.ts';
import { useCommands } from '../commands.ts';
import { copyText, saveFile } from '../files.ts';
import { formatCount } from '../format.ts';
import { useLab } from '../lab.ts';
import { isOpenStatus } from '../run-status.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Empty, Panel } from '../ui/panel.tsx';
import { Segmented } from '../ui/segmented.tsx';
import { contextParts } from './context-parts.ts';
import { bestContext, currentContext } from './derive.ts';
import { DiffView } from './diff-view.tsx';
import { useRun } from './state.ts';

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }));

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
        <Exports />
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

const EXPORTS: readonly { readonly format: ExportFormat; readonly title: string; readonly needsEnd: boolean }[] = [
  { format: 'skill', title: 'SKILL.md', needsEnd: true },
  { format: 'prompt', title: 'Prompt', needsEnd: true },
  { format: 'result', title: 'JSON', needsEnd: true },
  { format: 'bundle', title: 'Bundle', needsEnd: true },
];

function Exports() {
  const { session } = useRun();
  const lab = useLab();
  const [error, setError] = createSignal<unknown>();
  const ready = (needsEnd: boolean) => session.summary() !== undefined && !(needsEnd && isOpenStatus(session.status()));
  const save = async (format: ExportFormat) => {
    setError(undefined);
    try {
      const file = await lab.exportRun(session.summary()?.id ?? '', format);
      saveFile(file.name, file.mime, file.bytes);
      notify(`"${file.name}" was saved.`);
    } catch (cause) {
      setError(cause);
    }
  };
  useCommands(
    EXPORTS.map(({ format, title, needsEnd }) => ({
      id: `export.${format}`,
      title: `Export: ${title}`,
      group: 'File' as const,
      when: () => ready(needsEnd),
      run: () => void save(format),
    })),
  );
  return (
    <div class="stack">
      <div class="row exports">
        <span class="small text-2">Export</span>
        <For each={EXPORTS}>
          {({ format, title, needsEnd }) => (
            <button
              type="button"
              class="button small"
              aria-label={`Export ${title}`}
              disabled={!ready(needsEnd)}
              title={ready(needsEnd) ? undefined : 'Ready when the run has ended'}
              onClick={() => void save(format)}
            >
              {title}
            </button>
          )}
        </For>
      </div>
      <Show when={error()}>
        <ErrorNote error={error()} dismiss={() => setError(undefined)} />
      </Show>
    </div>
  );
}
