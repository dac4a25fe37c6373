import { createSignal, For, Show } from 'solid-js';
import { SPLITS } from '../../core/types.ts';
import type { ImportPreview } from '../../lab/service.ts';
import { placeText } from '../../suites/import/faults.ts';
import { cellText } from '../../suites/import/template.ts';
import { formatCount, plural } from '../format.ts';
import { DataTable } from '../ui/data-table.tsx';
import { Empty } from '../ui/panel.tsx';
import { Tabs } from '../ui/tabs.tsx';

const CELL_CHARS = 120;
const INPUT_CHARS = 1200;

/** What a file holds and what it would become: first records, first tasks, what is wrong. */
export function Preview(props: { readonly preview: ImportPreview }) {
  const [view, setView] = createSignal<'tasks' | 'records' | 'problems'>('tasks');
  const problems = () => props.preview.errors + props.preview.warnings;
  return (
    <section class="panel preview" aria-label="Preview">
      <p class="preview-counts small">
        <For each={SPLITS}>
          {(split) => (
            <span>
              {split} <strong class="num">{formatCount(props.preview.counts[split])}</strong>
            </span>
          )}
        </For>
        <span classList={{ failure: props.preview.errors > 0 }} role="status">
          <Show
            when={props.preview.errors > 0}
            fallback={props.preview.warnings > 0 ? plural(props.preview.warnings, 'warning') : 'nothing wrong'}
          >
            <span aria-hidden="true">✕ </span>
            {plural(props.preview.errors, 'error')}
          </Show>
        </span>
      </p>
      <Tabs
        label="Preview"
        selected={view()}
        onSelect={setView}
        tabs={[
          { id: 'tasks', title: 'First tasks', panel: () => <Tasks preview={props.preview} /> },
          ...(props.preview.columns.length > 0
            ? [{ id: 'records' as const, title: 'First records', panel: () => <Records preview={props.preview} /> }]
            : []),
          { id: 'problems', title: 'Problems', count: problems(), panel: () => <Problems preview={props.preview} /> },
        ]}
      />
    </section>
  );
}

function Tasks(props: { readonly preview: ImportPreview }) {
  return (
    <Show when={props.preview.tasks.length > 0} fallback={<Empty>No record becomes a task yet. The tab "Problems" says why.</Empty>}>
      <ol class="stack">
        <For each={props.preview.tasks}>
          {(task) => (
            <li class="preview-task">
              <p class="row small text-2">
                <code>{task.id}</code>
                <span class="badge">{task.split}</span>
                <span>{task.type}</span>
              </p>
              <p class="pre wrap">{cut(task.input, INPUT_CHARS)}</p>
              <p class="small wrap">
                <span class="text-2">accepts </span>
                {task.answers.map((answer) => cut(answer, CELL_CHARS)).join(' · ') || 'whatever the scorer decides'}
              </p>
            </li>
          )}
        </For>
      </ol>
    </Show>
  );
}

function Records(props: { readonly preview: ImportPreview }) {
  const data = () => ({
    columns: props.preview.columns,
    rows: props.preview.sample.map((cells) => props.preview.columns.map((column) => cut(cellText(cells[column] ?? null), CELL_CHARS))),
  });
  return <DataTable caption="The first records of the file" data={data()} />;
}

function Problems(props: { readonly preview: ImportPreview }) {
  const total = () => props.preview.errors + props.preview.warnings;
  return (
    <Show
      when={total() > 0}
      fallback={<Empty>Nothing is wrong. What stands against importing would be listed here, with row and column.</Empty>}
    >
      <ul class="stack problems">
        <For each={props.preview.problems}>
          {(problem) => (
            <li class="wrap">
              <span class={problem.severity === 'error' ? 'failure' : 'mixed'}>
                <span aria-hidden="true">{problem.severity === 'error' ? '✕ ' : '◐ '}</span>
                {problem.severity}
              </span>{' '}
              <Show when={placeText(problem)}>{(place) => <strong>{place()}: </strong>}</Show>
              {problem.message}
            </li>
          )}
        </For>
      </ul>
      <Show when={total() > props.preview.problems.length}>
        <p class="small text-2">And {formatCount(total() - props.preview.problems.length)} more.</p>
      </Show>
    </Show>
  );
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)} …` : text;
}
