import { For, Show } from 'solid-js';
import type { Edit, EditReport, MergeNode, ReviewDecision } from '../../textual/types.ts';
import { plural } from '../format.ts';
import type { StepView } from '../run-store.ts';
import { type Outcome, OutcomeBadge } from '../ui/mark.tsx';
import { Empty } from '../ui/panel.tsx';
import { DiffView } from './diff-view.tsx';
import { useRun } from './state.ts';

const VERDICTS: Readonly<Record<ReviewDecision['verdict'], { readonly outcome: Outcome; readonly word: string }>> = {
  retain: { outcome: 'success', word: 'retained' },
  narrow: { outcome: 'mixed', word: 'narrowed' },
  revise: { outcome: 'mixed', word: 'revised' },
  insufficient_evidence: { outcome: 'failure', word: 'not enough evidence' },
};

/** What became of the edits of a step: proposed, dropped, merged, reviewed, applied; and the patch on the context. */
export function Edits(props: { readonly step: StepView }) {
  const record = () => props.step.record;
  const patch = () => {
    const { context, candidate } = props.step;
    return candidate === undefined || candidate === context ? undefined : { context, candidate };
  };
  return (
    <div class="stack">
      <Show when={patch()} fallback={<NoPatch done={record() !== undefined} reason={record()?.reason} />}>
        {(texts) => <DiffView label="The patch on the context" before={texts().context} after={texts().candidate} />}
      </Show>
      <Show when={record()}>
        {(done) => (
          <>
            <ol class="funnel" aria-label="What became of the edits">
              <Stage count={done().edits.proposed.length} word="proposed" />
              <Stage count={done().edits.dropped.length} word="dropped" />
              <Stage
                count={done().merges.find(({ branch }) => branch === 'combined')?.edits.length ?? done().merges.at(-1)?.edits.length ?? 0}
                word="merged"
              />
              <Stage count={done().edits.reviewed.filter(({ after }) => after).length} word="kept by review" />
              <Stage count={done().edits.applied.filter(({ status }) => status === 'applied').length} word="applied" />
            </ol>
            <Show when={done().edits.reviewed.length > 0}>
              <Section title="Review across groups">
                <For each={done().edits.reviewed}>{(decision) => <Review decision={decision} />}</For>
              </Section>
            </Show>
            <Section title="Applied">
              <For each={done().edits.applied} fallback={<li class="text-2">Nothing was applied.</li>}>
                {(report) => <Applied report={report} />}
              </For>
            </Section>
            <Section title="Proposed">
              <For each={done().edits.proposed} fallback={<li class="text-2">The critic proposed no edit.</li>}>
                {(edit) => <EditItem edit={edit} dropped={done().edits.dropped.find((drop) => drop.edit.id === edit.id)?.reason} />}
              </For>
            </Section>
            <Show when={done().merges.length > 0}>
              <MergeTree merges={done().merges} />
            </Show>
          </>
        )}
      </Show>
    </div>
  );
}

function NoPatch(props: { readonly done: boolean; readonly reason: string | undefined }) {
  return (
    <Empty>
      {props.done ? `No patch in this step. ${props.reason ?? ''}` : 'The patch will appear here, as a difference on the context.'}
    </Empty>
  );
}

function Stage(props: { readonly count: number; readonly word: string }) {
  return (
    <li>
      <strong class="num">{props.count}</strong> {props.word}
    </li>
  );
}

function Section(props: { readonly title: string; readonly children: import('solid-js').JSX.Element }) {
  return (
    <section class="stack">
      <h3>{props.title}</h3>
      <ul class="stack">{props.children}</ul>
    </section>
  );
}

function EditText(props: { readonly edit: Edit }) {
  return (
    <>
      <p class="small text-2 row">
        <code>{props.edit.op}</code>
        <span>{props.edit.kind}</span>
        <span>supported by {plural(props.edit.support.length, 'task')}</span>
      </p>
      <Show when={props.edit.target}>{(target) => <p class="mono wrap text-2">at “{target()}”</p>}</Show>
      <Show when={props.edit.content}>{(content) => <p class="mono wrap">{content()}</p>}</Show>
    </>
  );
}

function EditItem(props: { readonly edit: Edit; readonly dropped: string | undefined }) {
  return (
    <li class="edit">
      <EditText edit={props.edit} />
      <Show when={props.dropped}>{(reason) => <OutcomeBadge outcome="failure">{`dropped: ${reason()}`}</OutcomeBadge>}</Show>
    </li>
  );
}

function Applied(props: { readonly report: EditReport }) {
  const ok = () => props.report.status === 'applied';
  return (
    <li class="edit">
      <EditText edit={props.report.edit} />
      <OutcomeBadge outcome={ok() ? 'success' : 'failure'}>{props.report.status.replaceAll('-', ' ')}</OutcomeBadge>
    </li>
  );
}

function Review(props: { readonly decision: ReviewDecision }) {
  const { go } = useRun();
  const decision = () => props.decision;
  const changed = () => {
    const after = decision().after;
    return after && after.content !== decision().before.content ? after : undefined;
  };
  return (
    <li class="edit">
      <Show when={changed()} fallback={<EditText edit={decision().before} />}>
        {(after) => <DiffView label="Edit" before={decision().before.content ?? ''} after={after().content ?? ''} />}
      </Show>
      <p>
        <OutcomeBadge outcome={VERDICTS[decision().verdict].outcome}>{VERDICTS[decision().verdict].word}</OutcomeBadge> {decision().reason}
      </p>
      <ul class="small">
        <For each={decision().evidence}>
          {(item) => (
            <li>
              <span class="text-2">{item.relation}:</span>{' '}
              <button type="button" class="link mono" onClick={() => go({ cell: item.rolloutId })}>
                {item.rolloutId}
              </button>{' '}
              {item.reason}
            </li>
          )}
        </For>
      </ul>
    </li>
  );
}

/** The merge calls by level: each node says what it took in and what it gave. */
function MergeTree(props: { readonly merges: readonly MergeNode[] }) {
  const levels = () => [...new Set(props.merges.map(({ level }) => level))].sort((a, b) => a - b);
  return (
    <details>
      <summary>Merge tree, {plural(props.merges.length, 'node')}</summary>
      <ol class="merge-levels">
        <For each={levels()}>
          {(level) => (
            <li>
              <h4 class="text-2">Level {level}</h4>
              <ul class="merge-nodes">
                <For each={props.merges.filter((node) => node.level === level)}>
                  {(node) => (
                    <li class="edit small">
                      <p>
                        <strong>{node.branch}</strong> <span class="mono text-2">{node.id}</span>{' '}
                        {node.fallback ? (
                          <span class="badge mixed">◐ fallback</span>
                        ) : node.call ? (
                          ''
                        ) : (
                          <span class="text-2">passed up</span>
                        )}
                      </p>
                      <p class="text-2 wrap">
                        from <span class="mono">{node.inputs.join(', ')}</span> → {plural(node.edits.length, 'edit')}
                      </p>
                    </li>
                  )}
                </For>
              </ul>
            </li>
          )}
        </For>
      </ol>
    </details>
  );
}
