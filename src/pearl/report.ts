import { mean } from '../core/stats.ts';

/** What one run of a study ended with. */
export interface ArmRun {
  readonly arm: string;
  readonly seed: number;
  /** Greedy success after the last update, and the mean success of the training rollouts. */
  readonly final: number;
  readonly training: number;
  readonly activeUpdates: number;
}

export interface ArmSummary {
  readonly arm: string;
  readonly seeds: readonly number[];
  readonly final: { readonly mean: number; readonly sd: number; readonly values: readonly number[] };
  readonly training: { readonly mean: number; readonly sd: number };
  readonly activeUpdates: number;
  /** Against the reference arm; absent on itself. */
  readonly difference?: Difference;
}

export interface Difference {
  readonly points: number;
  /** Half width of the 95% interval (Welch), in points; absent with fewer than two seeds. */
  readonly margin?: number;
  readonly verdict: 'within seed noise' | 'above' | 'below' | 'one seed cannot tell';
}

export interface StudyReport {
  readonly reference: string;
  /** Tasks each final score stands on, and half the width of its own 95% interval at the mean, in points. */
  readonly evaluationTasks: number;
  readonly evaluationMargin: number;
  readonly arms: readonly ArmSummary[];
  /** The findings in plain words. */
  readonly sentences: readonly string[];
}

/** Summary of a study: every arm against the reference, with what the number of seeds can and cannot resolve. */
export function studyReport(runs: readonly ArmRun[], reference: string, evaluationTasks: number): StudyReport {
  const names = [...new Set(runs.map(({ arm }) => arm))];
  const finals = (arm: string): number[] => runs.filter((run) => run.arm === arm).map(({ final }) => final);
  const base = finals(reference);
  const arms = names.map((arm): ArmSummary => {
    const own = runs.filter((run) => run.arm === arm);
    const values = finals(arm);
    const training = own.map((run) => run.training);
    return {
      arm,
      seeds: own.map(({ seed }) => seed),
      final: { mean: mean(values), sd: deviation(values), values },
      training: { mean: mean(training), sd: deviation(training) },
      activeUpdates: mean(own.map(({ activeUpdates }) => activeUpdates)),
      ...(arm === reference ? {} : { difference: difference(values, base) }),
    };
  });
  const overall = mean(runs.map(({ final }) => final));
  const evaluationMargin = 196 * Math.sqrt((overall * (1 - overall)) / Math.max(1, evaluationTasks));
  return { reference, evaluationTasks, evaluationMargin, arms, sentences: sentences(arms, reference, base.length, evaluationMargin) };
}

function difference(values: readonly number[], base: readonly number[]): Difference {
  const points = 100 * (mean(values) - mean(base));
  if (values.length < 2 || base.length < 2) return { points, verdict: 'one seed cannot tell' };
  const a = deviation(values) ** 2 / values.length;
  const b = deviation(base) ** 2 / base.length;
  const error = Math.sqrt(a + b);
  // Welch and Satterthwaite's degrees of freedom.
  const freedom = error === 0 ? 1 : (a + b) ** 2 / (a ** 2 / (values.length - 1) + b ** 2 / (base.length - 1));
  const margin = 100 * error * studentQuantile(freedom);
  return { points, margin, verdict: Math.abs(points) <= margin ? 'within seed noise' : points > 0 ? 'above' : 'below' };
}

function sentences(arms: readonly ArmSummary[], reference: string, seeds: number, evaluationMargin: number): string[] {
  const percent = (rate: number): string => (100 * rate).toFixed(1);
  const lines = arms.map(({ arm, final, difference: against }) => {
    const own = `${arm}: ${percent(final.mean)}% ± ${percent(final.sd)} over ${final.values.length} ${final.values.length === 1 ? 'seed' : 'seeds'}`;
    if (!against) return `${own} (the reference).`;
    const signed = `${against.points >= 0 ? '+' : '−'}${Math.abs(against.points).toFixed(1)} points against ${reference}`;
    if (against.margin === undefined) return `${own}, ${signed}; one seed cannot tell a difference from noise.`;
    const noise = `95% margin ${against.margin.toFixed(1)}`;
    if (against.verdict === 'within seed noise') return `${own}, ${signed}: within seed noise (${noise}).`;
    return `${own}, ${signed}: ${against.verdict} the reference by more than seed noise (${noise}).`;
  });
  const resolved = arms.filter((arm) => arm.difference && (arm.difference.verdict === 'above' || arm.difference.verdict === 'below'));
  lines.push(
    resolved.length === 0
      ? `No arm differs from ${reference} by more than the noise between seeds: this is a null result.`
      : `Beyond seed noise: ${resolved.map(({ arm }) => arm).join(', ')}. ${arms.length - 1} comparisons were made, so one in twenty may be chance.`,
  );
  lines.push(
    `Each score alone is uncertain by ±${evaluationMargin.toFixed(1)} points because of its tasks${seeds < 5 ? `; ${seeds} seeds resolve large differences only (five or more are needed for a claim of a few points)` : ''}.`,
  );
  return lines;
}

/** Standard deviation with n−1; 0 for a single value. */
function deviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
}

/** Two-sided 95% quantiles of Student's t for 1, 2, … degrees of freedom. */
const T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/** Rounded down to whole degrees of freedom, which widens the interval; beyond the table by Cornish and Fisher's first term. */
function studentQuantile(freedom: number): number {
  const whole = Math.max(1, Math.floor(freedom));
  return T95[whole - 1] ?? 1.96 + 2.4 / whole;
}
