import { For, Show } from 'solid-js';
import { formatRate } from '../format.ts';
import type { StepView } from '../run-store.ts';
import { CommandButton } from '../ui/command-button.tsx';
import { Mark } from '../ui/mark.tsx';
import { DECISION_SHOWN } from './derive.ts';
import { useRun } from './state.ts';

/** The steps as a row of links: number, decision, score of the candidate. */
export function StepStrip() {
  const { view, url, go, shown } = useRun();
  const numbers = () => [...view().steps.keys()].sort((a, b) => a - b);
  const selected = () => {
    const current = shown();
    return current === 'result' ? 'result' : current?.step;
  };
  const select = (step: number | 'result') => go({ step, cell: undefined, card: undefined });
  return (
    <nav class="strip" aria-label="Steps of the run">
      <ol>
        <For each={numbers()}>
          {(number) => (
            <li>
              <button type="button" aria-current={selected() === number ? 'step' : undefined} onClick={() => select(number)}>
                <StepLabel step={view().steps.get(number)} initial={view().scores.initial.val?.rate} />
              </button>
            </li>
          )}
        </For>
        <For each={Array.from({ length: Math.max(0, view().totalSteps - numbers().filter((n) => n > 0).length) }, (_, i) => i)}>
          {() => (
            <li class="ahead" aria-hidden="true">
              <span />
            </li>
          )}
        </For>
        <Show when={view().finished}>
          <li>
            <button
              type="button"
              class="result"
              aria-current={selected() === 'result' ? 'step' : undefined}
              onClick={() => select('result')}
            >
              <span class="strip-number">Result</span>
              <span class="num">
                {view().scores.best.test ? 'test ' : ''}
                {formatRate((view().scores.best.test ?? view().scores.best.val)?.rate)}
                <span class="visually-hidden"> success of the best context</span>
              </span>
            </button>
          </li>
        </Show>
      </ol>
      <Show when={url().step !== 'live' && !view().finished}>
        <CommandButton id="step.live" class="small">
          Follow
        </CommandButton>
      </Show>
    </nav>
  );
}

function StepLabel(props: { readonly step: StepView | undefined; readonly initial: number | undefined }) {
  const record = () => props.step?.record;
  return (
    <Show
      when={props.step?.step !== 0}
      fallback={
        <>
          <span class="strip-number">Start</span>
          <span class="num">{formatRate(props.initial)}</span>
        </>
      }
    >
      <span class="strip-number">
        <span class="visually-hidden">Step </span>
        {props.step?.step}
      </span>
      <Show when={record()} fallback={<Mark outcome="running" />}>
        {(done) => (
          <span class="num">
            <Mark outcome={DECISION_SHOWN[done().decision].outcome} label={DECISION_SHOWN[done().decision].word} />{' '}
            {done().candidateScore ? formatRate(done().candidateScore?.rate) : ''}
          </span>
        )}
      </Show>
    </Show>
  );
}
