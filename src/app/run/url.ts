import { FILTERS, type Filter } from './derive.ts';

/** What the address of a run page holds besides the run: the selected step, tab, filter, search, rollout and card. */
export interface RunUrl {
  /** A step number, `result`, or `live` (the latest, which needs no parameter). */
  readonly step: number | 'result' | 'live';
  readonly tab: StepTab;
  readonly filter: Filter;
  readonly query: string;
  /** Id of the rollout whose transcript is open. */
  readonly cell?: string | undefined;
  /** Id of the card whose quote is highlighted in it. */
  readonly card?: string | undefined;
}

export const STEP_TABS = ['rollouts', 'evidence', 'edits', 'gate'] as const;
export type StepTab = (typeof STEP_TABS)[number];

type Params = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads the parameters; anything unknown falls back to the default, so that an old or damaged link still opens. */
export function parseRunUrl(params: Params): RunUrl {
  const step = one(params.step);
  const number = Number(step);
  const cell = one(params.cell);
  const card = one(params.card);
  return {
    step: step === 'result' ? 'result' : step !== undefined && step !== '' && Number.isInteger(number) && number >= 0 ? number : 'live',
    tab: STEP_TABS.find((tab) => tab === one(params.tab)) ?? 'rollouts',
    filter: FILTERS.find((filter) => filter === one(params.filter)) ?? 'all',
    query: one(params.q) ?? '',
    ...(cell ? { cell } : {}),
    ...(card ? { card } : {}),
  };
}

/** The parameters of a view; defaults are left out (undefined removes them). */
export function formatRunUrl(url: RunUrl): Record<string, string | undefined> {
  return {
    step: url.step === 'live' ? undefined : String(url.step),
    tab: url.tab === 'rollouts' ? undefined : url.tab,
    filter: url.filter === 'all' ? undefined : url.filter,
    q: url.query === '' ? undefined : url.query,
    cell: url.cell,
    card: url.card,
  };
}

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}
