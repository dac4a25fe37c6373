import type { Route } from '../../textual/types.ts';

/**
 * The outcomes, their marks and their words: the same in every grid, chart, badge, table and export. `none` is for what was
 * never judged, such as a step without an edit.
 */
export type Outcome = 'success' | 'failure' | 'mixed' | 'running' | 'none';

export const MARKS: Readonly<Record<Outcome, { readonly mark: string; readonly word: string }>> = {
  success: { mark: '●', word: 'success' },
  failure: { mark: '✕', word: 'failure' },
  mixed: { mark: '◐', word: 'mixed' },
  running: { mark: '◌', word: 'running' },
  none: { mark: '–', word: 'not judged' },
};

export const ROUTE_OUTCOME: Readonly<Record<Route, Outcome>> = { mixed: 'mixed', 'all-success': 'success', 'all-failure': 'failure' };

/** An outcome as colour and mark, with its word for those who cannot see either. */
export function Mark(props: { readonly outcome: Outcome; readonly label?: string }) {
  return (
    <span class={`mark ${props.outcome}`} role="img" aria-label={props.label ?? MARKS[props.outcome].word}>
      {MARKS[props.outcome].mark}
    </span>
  );
}

/** A word with its outcome's mark. */
export function OutcomeBadge(props: { readonly outcome: Outcome; readonly children: string }) {
  return (
    <span class={`badge ${props.outcome}`}>
      <span class="mark" aria-hidden="true">
        {MARKS[props.outcome].mark}
      </span>
      {props.children}
    </span>
  );
}
