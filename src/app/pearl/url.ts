/** What the address of a PEARL run page holds besides the run. */
export interface PearlUrl {
  readonly tab: PearlTab;
  /** A number, or the latest (which needs no parameter). */
  readonly update: number | 'live';
  /** Task whose rollout tree is shown; absent means the update's first. */
  readonly task?: string | undefined;
  /** Id of the trajectory that is open. */
  readonly trajectory?: string | undefined;
  /** Id of the pair that is open. */
  readonly pair?: string | undefined;
  /** Update of the snapshot in the memory view; absent means the latest. */
  readonly fit?: number | undefined;
  /** `outcome/id` of the point that is open. */
  readonly point?: string | undefined;
  /** Failure cluster in the case viewer. */
  readonly cluster?: number | undefined;
}

export const PEARL_TABS = ['overview', 'update', 'memory', 'fits', 'cases'] as const;
export type PearlTab = (typeof PEARL_TABS)[number];

type Params = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads the parameters; anything unknown falls back to the default, so that an old or damaged link still opens. */
export function parsePearlUrl(params: Params): PearlUrl {
  const text = (name: string) => {
    const value = params[name];
    const one = typeof value === 'string' ? value : value?.[0];
    return one === undefined || one === '' ? undefined : one;
  };
  const whole = (name: string) => {
    const value = text(name);
    const number = Number(value);
    return value !== undefined && Number.isInteger(number) && number >= 0 ? number : undefined;
  };
  const tab = text('view');
  return {
    tab: PEARL_TABS.find((known) => known === tab) ?? 'overview',
    update: whole('update') ?? 'live',
    task: text('task'),
    trajectory: text('rollout'),
    pair: text('pair'),
    fit: whole('fit'),
    point: text('point'),
    cluster: whole('cluster'),
  };
}

/** The parameters of a view; defaults are left out (undefined removes them). */
export function formatPearlUrl(url: PearlUrl): Record<string, string | undefined> {
  const number = (value: number | undefined) => (value === undefined ? undefined : String(value));
  return {
    view: url.tab === 'overview' ? undefined : url.tab,
    update: url.update === 'live' ? undefined : String(url.update),
    task: url.task,
    rollout: url.trajectory,
    pair: url.pair,
    fit: number(url.fit),
    point: url.point,
    cluster: number(url.cluster),
  };
}
