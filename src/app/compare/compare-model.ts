import type { Split } from '../../core/types.ts';
import type { AnyConfig } from '../../lab/any-config.ts';
import type { PearlResult } from '../../lab/pearl-result.ts';
import type { ResultScore, TextualResult } from '../../lab/result.ts';
import { type ArmRun, type StudyReport, studyReport } from '../../pearl/report.ts';
import type { TrendPoint } from '../chart/trend-chart.tsx';
import { type Leaf, leaves } from '../config-diff.ts';

/** Comparing runs: what each measured, which share a configuration, what differs between those, and what that shows. All pure. */

/** A finished run as the comparison needs it. */
export interface ComparedRun {
  readonly id: string;
  readonly name: string;
  readonly seed: number;
  readonly config: AnyConfig;
  /** Values over steps or updates, by the name of what was measured. */
  readonly curves: Readonly<Partial<Record<Measure, readonly TrendPoint[]>>>;
  /** Success at the start and at the end. */
  readonly initial: Readonly<Partial<Record<Split, ResultScore>>>;
  readonly final: Readonly<Partial<Record<Split, ResultScore>>>;
  readonly activeUpdates: number;
}

/** What can be drawn of a run, and what a value says. */
export const MEASURES = {
  validation: { title: 'Validation success', unit: 'rate', digits: 2 },
  training: { title: 'Success of training rollouts', unit: 'rate', digits: 2 },
  shaped: { title: 'Shaped tokens', unit: 'tokens', digits: 0 },
  pairs: { title: 'Discordant pairs', unit: 'count', digits: 0 },
  kept: { title: 'Kept clusters', unit: 'count', digits: 0 },
  noise: { title: 'Noise', unit: 'share of failures', digits: 2 },
  entropy: { title: 'Entropy', unit: 'nats', digits: 3 },
  gradient: { title: 'Gradient norm', unit: 'before clipping', digits: 3 },
  edits: { title: 'Applied edits', unit: 'count', digits: 0 },
} as const;
export type Measure = keyof typeof MEASURES;

export function comparedRun(id: string, name: string, result: TextualResult | PearlResult): ComparedRun {
  const head = { id, name, seed: result.seed, config: result.config };
  if (result.kind === 'textual') {
    const { initial, best, steps } = result.textual;
    const start = initial.scores.val ? [pointOf(0, initial.scores.val)] : [];
    return {
      ...head,
      curves: {
        validation: [
          ...start,
          ...steps.map(({ step, decision, candidate, reference }) => ({
            x: step,
            y: decision === 'accepted' ? (candidate ?? reference) : reference,
          })),
        ],
        edits: steps.map(({ step, edits }) => ({ x: step, y: edits.applied })),
      },
      initial: initial.scores,
      final: best.scores,
      activeUpdates: 0,
    };
  }
  const { initial, final, updates } = result.pearl;
  const curve = (of: (update: (typeof updates)[number]) => number): TrendPoint[] => updates.map((one) => ({ x: one.update, y: of(one) }));
  const measured = updates.flatMap(({ update, evaluation }) => (evaluation ? [pointOf(update, evaluation)] : []));
  const ends = (at: number, score: ResultScore | undefined) => (score ? [pointOf(at, score)] : []);
  return {
    ...head,
    curves: {
      validation: [...ends(0, initial.scores.val), ...measured, ...ends(final.update, final.scores.val)],
      training: curve(({ success }) => success),
      ...(result.pearl.optimiser === 'pearl'
        ? {
            shaped: curve(({ shaping }) => shaping.tokens),
            kept: curve(({ clusters }) => clusters.kept),
            noise: curve(({ noise }) => noise),
          }
        : {}),
      pairs: curve(({ pairs }) => pairs),
      entropy: curve(({ entropy }) => entropy),
      gradient: curve(({ gradientNorm }) => gradientNorm),
    },
    initial: initial.scores,
    final: final.scores,
    activeUpdates: updates.at(-1)?.shaping.activeUpdates ?? 0,
  };
}

function pointOf(x: number, { rate, wilson }: ResultScore): TrendPoint {
  return { x, y: rate, interval: wilson };
}

/** Runs of one configuration, apart from seed and name. */
export interface CompareGroup {
  readonly key: string;
  /** What sets it apart from the other groups, in words. */
  readonly label: string;
  readonly runs: readonly ComparedRun[];
}

/** A setting in which the groups differ: its value in each, in the order of the groups; null where a group lacks it. */
export interface Difference {
  readonly path: string;
  readonly values: readonly (Leaf | null)[];
}

export interface Grouping {
  readonly groups: readonly CompareGroup[];
  readonly differences: readonly Difference[];
}

/** Most settings in a label; beyond them the run's name says more. */
const LABEL_SETTINGS = 2;

/** Groups runs by configuration in order of appearance and lists only what differs between the groups. */
export function groupRuns(runs: readonly ComparedRun[]): Grouping {
  const byKey = new Map<string, ComparedRun[]>();
  for (const run of runs) {
    const key = JSON.stringify([...settings(run.config)].sort(([a], [b]) => (a < b ? -1 : 1)));
    byKey.set(key, [...(byKey.get(key) ?? []), run]);
  }
  const groups = [...byKey];
  const maps = groups.map(([, [first]]) => new Map(first ? settings(first.config) : []));
  const paths = [...new Set(maps.flatMap((map) => [...map.keys()]))];
  const differences = paths
    .map((path): Difference => ({ path, values: maps.map((map) => map.get(path) ?? null) }))
    .filter(({ values }) => values.some((value) => value !== values[0]));
  const named = groups.map(([key, members], g) => ({ key, runs: members, label: labelOf(members, differences, g) }));
  // Two groups of the same name would be one arm of the report.
  const counts = new Map<string, number>();
  return {
    differences,
    groups: named.map((group) => {
      const count = (counts.get(group.label) ?? 0) + 1;
      counts.set(group.label, count);
      return count === 1 ? group : { ...group, label: `${group.label} (${count})` };
    }),
  };
}

function settings(config: AnyConfig): readonly (readonly [string, Leaf])[] {
  return leaves(config).filter(([path]) => path !== 'seed' && path !== 'name' && path !== 'schema');
}

function labelOf(members: readonly ComparedRun[], differences: readonly Difference[], group: number): string {
  const name = members[0]?.name ?? '';
  if (differences.length === 0 || differences.length > LABEL_SETTINGS) return name;
  return differences.map(({ path, values }) => `${path.slice(path.lastIndexOf('.') + 1)} ${String(values[group] ?? 'none')}`).join(', ');
}

/** Mean over the seeds of a group at every place that all its runs have, with the lowest and highest seed as the interval. */
export function bandOf(group: CompareGroup, measure: Measure): readonly TrendPoint[] {
  const curves = group.runs.map(({ curves: own }) => new Map((own[measure] ?? []).map(({ x, y }) => [x, y])));
  const [first] = curves;
  if (!first) return [];
  return [...first.keys()]
    .filter((x) => curves.every((curve) => curve.has(x)))
    .sort((a, b) => a - b)
    .map((x) => {
      const values = curves.map((curve) => curve.get(x) ?? 0);
      const y = values.reduce((sum, value) => sum + value, 0) / values.length;
      return values.length > 1 ? { x, y, interval: [Math.min(...values), Math.max(...values)] as const } : { x, y };
    });
}

/** The split the report stands on: the first of test and validation that every run was scored on at its end. */
export function reportSplit(runs: readonly ComparedRun[]): Split | undefined {
  return (['test', 'val'] as const).find((split) => runs.every(({ final }) => final[split] !== undefined));
}

/** Every group against the reference, with what the number of seeds can and cannot tell; undefined where there is no common score. */
export function compareReport({ groups }: Grouping, reference: string): StudyReport | undefined {
  const runs = groups.flatMap((group) => group.runs);
  const split = reportSplit(runs);
  if (!split || groups.length < 2) return undefined;
  const arms = groups.flatMap((group) =>
    group.runs.map((run): ArmRun => {
      const training = run.curves.training ?? run.curves.validation ?? [];
      return {
        arm: group.label,
        seed: run.seed,
        final: run.final[split]?.rate ?? 0,
        training: training.reduce((sum, { y }) => sum + y, 0) / Math.max(1, training.length),
        activeUpdates: run.activeUpdates,
      };
    }),
  );
  return studyReport(arms, reference, Math.min(...runs.map((run) => run.final[split]?.n ?? 0)));
}

/** What the report can tell, in words. A single seed is never called a null result: it tells nothing about noise. */
export function findings(report: StudyReport): readonly string[] {
  const fewest = Math.min(...report.arms.map(({ seeds }) => seeds.length));
  const tasks = `Each score alone is uncertain by ±${report.evaluationMargin.toFixed(1)} points because of its ${report.evaluationTasks} tasks.`;
  if (fewest < 2) {
    return [
      'A group with a single seed does not show the noise between seeds, so its difference cannot be told from chance. Run more seeds of the same configuration.',
      tasks,
    ];
  }
  const beyond = report.arms.filter(({ difference }) => difference?.verdict === 'above' || difference?.verdict === 'below');
  const verdict =
    beyond.length === 0
      ? `No group differs from ${report.reference} by more than the noise between seeds: this is a null result.`
      : `Beyond the noise between seeds: ${beyond.map(({ arm, difference }) => `${arm} (${difference?.verdict} ${report.reference})`).join(', ')}. Of ${report.arms.length - 1} such comparisons one in twenty may be chance.`;
  return fewest < 5
    ? [verdict, tasks, `With ${fewest} seeds only large differences can be seen; a claim of a few points needs five or more.`]
    : [verdict, tasks];
}
