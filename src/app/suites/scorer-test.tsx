import { createEffect, createSignal, For, on, Show } from 'solid-js';
import type { ScorerVerdict } from '../../lab/scorer-trial.ts';
import type { ImportedTask } from '../../suites/import/suite-file.ts';
import type { ScorerSpec } from '../../suites/scorers/spec.ts';
import { useLab } from '../lab.ts';
import '../ui/data-table.css';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field } from '../ui/field.tsx';
import { Mark } from '../ui/mark.tsx';

/** Tasks the scorer is tried on. */
const TRIED = 5;
const SHOWN_CHARS = 60;

interface Trial {
  readonly id: string;
  readonly output: string;
  readonly what: 'accepted answer' | 'your answer';
  readonly verdict: ScorerVerdict;
}

/** Scores the accepted answers of the first tasks, which must pass, and any other answer, which tells whether it is told apart. */
export function ScorerTest(props: {
  readonly scorer: ScorerSpec;
  readonly tasks: readonly ImportedTask[];
  /** Whether the tasks are still those of an earlier mapping. */
  readonly stale: boolean;
}) {
  const lab = useLab();
  const [other, setOther] = createSignal('I do not know.');
  const [trials, setTrials] = createSignal<readonly Trial[]>();
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<unknown>();
  // Verdicts of another scorer or other tasks would mislead.
  createEffect(on([() => props.scorer, () => props.tasks], () => setTrials(undefined), { defer: true }));

  const test = async () => {
    setBusy(true);
    setError(undefined);
    const wanted = props.tasks
      .slice(0, TRIED)
      .flatMap((task) => [
        ...(task.answers[0] === undefined || props.scorer.kind === 'regex'
          ? []
          : [{ task, output: task.answers[0], what: 'accepted answer' as const }]),
        { task, output: other(), what: 'your answer' as const },
      ]);
    try {
      const verdicts = await lab.tryScorer(
        props.scorer,
        wanted.map(({ task, output }) => ({ task, output })),
      );
      setTrials(verdicts.map((verdict, i) => ({ id: wanted[i]!.task.id, output: wanted[i]!.output, what: wanted[i]!.what, verdict })));
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="stack scorer-test">
      <div class="row test-row">
        <div class="grow">
          <Field
            label="An answer to try"
            control={(attributes) => (
              <input class="input" value={other()} onInput={(event) => setOther(event.currentTarget.value)} {...attributes} />
            )}
          />
        </div>
        <button type="button" class="button" disabled={busy() || props.stale || props.tasks.length === 0} onClick={() => void test()}>
          {busy() ? 'Scoring …' : 'Test on the first rows'}
        </button>
      </div>
      <Show when={trials()}>
        {(list) => (
          <div class="table-scroll">
            <table class="table">
              <caption class="visually-hidden">Scores of the first rows</caption>
              <thead>
                <tr>
                  <th scope="col">Task</th>
                  <th scope="col">Answer</th>
                  <th scope="col">Score</th>
                </tr>
              </thead>
              <tbody>
                <For each={list()}>{(trial) => <TrialRow trial={trial} />}</For>
              </tbody>
            </table>
          </div>
        )}
      </Show>
      <Show when={error()}>{(cause) => <ErrorNote error={cause()} dismiss={() => setError(undefined)} />}</Show>
    </div>
  );
}

function TrialRow(props: { readonly trial: Trial }) {
  const score = () => ('score' in props.trial.verdict ? props.trial.verdict.score : undefined);
  const fault = () => ('error' in props.trial.verdict ? props.trial.verdict.error : undefined);
  return (
    <tr>
      <th scope="row">{props.trial.id}</th>
      <td class="wrap">
        {props.trial.output.length > SHOWN_CHARS ? `${props.trial.output.slice(0, SHOWN_CHARS)} …` : props.trial.output}
        <span class="note">{props.trial.what}</span>
      </td>
      <td class="wrap">
        <Show when={score()}>
          {(found) => (
            <>
              <Mark outcome={found().success ? 'success' : 'failure'} /> <span class="num">{found().reward}</span>
              <Show when={found().reason}>
                <span class="note">{found().reason}</span>
              </Show>
            </>
          )}
        </Show>
        <Show when={fault()}>
          {(found) => (
            <span class="failure">
              {found().message}
              <span class="note">{found().hint}</span>
            </span>
          )}
        </Show>
      </td>
    </tr>
  );
}
