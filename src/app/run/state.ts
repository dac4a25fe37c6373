import { useSearchParams } from '@solidjs/router';
import { type Accessor, createContext, createMemo, useContext } from 'solid-js';
import type { RunView, StepView } from '../run-store.ts';
import type { Session } from './session.ts';
import { formatRunUrl, parseRunUrl, type RunUrl } from './url.ts';

/** What the parts of a run page share: the run, and the view that the address holds. */
export interface RunState {
  readonly session: Session;
  readonly view: Accessor<RunView>;
  readonly url: Accessor<RunUrl>;
  /** Changes the address; moving between steps and tabs can be undone with the browser's Back, typing cannot. */
  go(change: Partial<RunUrl>, replace?: boolean): void;
  /** What the middle shows: a step, or the result. */
  readonly shown: Accessor<StepView | 'result' | undefined>;
}

export const RunContext = createContext<RunState>();

/** @throws {Error} outside of a run page. */
export function useRun(): RunState {
  const state = useContext(RunContext);
  if (!state) throw new Error('useRun is called outside of RunContext.');
  return state;
}

export function createRunState(session: Session, view: Accessor<RunView>): RunState {
  const [params, setParams] = useSearchParams<Record<string, string>>();
  const url = createMemo(() => parseRunUrl({ ...params }));
  const shown = createMemo(() => {
    const { step } = url();
    const run = view();
    if (step === 'result') return 'result' as const;
    if (step !== 'live') return run.steps.get(step);
    if (run.finished) return 'result' as const;
    return [...run.steps.values()].at(-1);
  });
  return {
    session,
    view,
    url,
    shown,
    go(change, replace = false) {
      setParams(formatRunUrl({ ...url(), ...change }), { replace, scroll: false });
    },
  };
}
