import { createMemo, For, Show } from 'solid-js';
import { formatP, formatScore, plural } from '../format.ts';
import type { StepView } from '../run-store.ts';
import { OutcomeBadge } from '../ui/mark.tsx';
import { Empty } from '../ui/panel.tsx';
import { DECISION_SHOWN, referenceScore, validationOf } from './derive.ts';
import { ScoreBar } from './score-bar.tsx';
import { useRun } from './state.ts';
import { ValidationGrid } from './validation-grid.tsx';

/** Above this p the difference could well be chance; the gate accepts a strict gain all the same, so the page says it. */
const DOUBTFUL_P = 0.05;

/** The gate of a step: old score, new score, tasks gained and lost, the decision and its reason. */
export function Gate(props: { readonly step: StepView }) {
  const { view } = useRun();
  const record = () => props.step.record;
  const reference = createMemo(() => referenceScore(view(), props.step.step));
  const candidate = () => record()?.candidateScore;
  return (
    <div class="stack">
      <Show when={record()}>
        {(done) => (
          <p class="gate-decision">
            <OutcomeBadge outcome={DECISION_SHOWN[done().decision].outcome}>{DECISION_SHOWN[done().decision].word}</OutcomeBadge>{' '}
            {done().reason}
          </p>
        )}
      </Show>
      <Show
        when={candidate() ?? reference()}
        fallback={
          <Empty>The candidate will be judged here on the whole validation split: a strict gain is accepted, all else rejected.</Empty>
        }
      >
        <div class="score-bars">
          <Show when={reference()}>{(score) => <ScoreBar title="Reference" score={score()} tone="running" />}</Show>
          <Show when={candidate()} fallback={<p class="small text-2">The candidate has not been validated.</p>}>
            {(score) => <ScoreBar title="Candidate" score={score()} tone={record()?.decision === 'accepted' ? 'success' : 'failure'} />}
          </Show>
        </div>
        <Show when={candidate() && record()}>
          {(done) => (
            <>
              <p>
                Gained <strong class="num success">+{done().gained.length}</strong>, lost{' '}
                <strong class="num failure">−{done().lost.length}</strong> of {plural(candidate()?.n ?? 0, 'task')}; exact McNemar{' '}
                <span class="num">{formatP(done().mcnemar)}</span>.
                <Show when={done().decision === 'accepted' && done().mcnemar > DOUBTFUL_P}>
                  <span class="text-2"> With so few tasks a gain of this size can be chance; the test at the end decides.</span>
                </Show>
              </p>
              <Changed title="Gained" ids={done().gained} step={props.step} />
              <Changed title="Lost" ids={done().lost} step={props.step} />
            </>
          )}
        </Show>
        <Show when={candidate()}>{(score) => <p class="visually-hidden">Candidate {formatScore(score())}</p>}</Show>
      </Show>
      <Show when={props.step.validation.size > 0}>
        <details>
          <summary>All {props.step.validation.size} validation tasks</summary>
          <ValidationGrid step={props.step} />
        </details>
      </Show>
    </div>
  );
}

function Changed(props: { readonly title: 'Gained' | 'Lost'; readonly ids: readonly string[]; readonly step: StepView }) {
  const { view, go } = useRun();
  return (
    <Show when={props.ids.length > 0}>
      <div class="row changed">
        <span class="text-2 small">{props.title}</span>
        <For each={props.ids}>
          {(id) => {
            const rollout = () => validationOf(props.step, id);
            const text = () => view().tasks.get(id)?.input ?? id;
            return (
              <button
                type="button"
                class={`button small ${props.title === 'Gained' ? 'success' : 'failure'}`}
                disabled={!rollout()}
                title={text()}
                onClick={() => go({ cell: rollout()?.id, card: undefined })}
              >
                <span aria-hidden="true">{props.title === 'Gained' ? '●' : '✕'}</span> <span class="mono">{id}</span>
                <span class="visually-hidden">{text()}</span>
              </button>
            );
          }}
        </For>
      </div>
    </Show>
  );
}
