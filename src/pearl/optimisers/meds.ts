import { hdbscanSync } from '../../cluster/hdbscan.ts';
import { independentPlan } from '../branching.ts';
import type { PearlSettings } from '../settings.ts';
import type { MistakePoint, Trajectory } from '../types.ts';
import { groupRelative } from './grpo.ts';
import type { BaseOptimiser } from './optimiser.ts';

/**
 * MEDS-style reward shaping (after Liu et al. 2026): wrong trajectories of a prompt are remembered without limit and grouped
 * into kinds; repeating a frequent mistake costs reward: R − scale·min(ln(class size + 1), limit). Then GRPO. Only wrong
 * trajectories are penalised, so only they are stored.
 */
export const MEDS: BaseOptimiser = {
  id: 'meds',
  branches: false,
  judgesMistakes: true,
  plan: ({ rollouts }) => independentPlan(rollouts.group),
  advantages(input) {
    const { groups, settings, features, mistakes } = input;
    const judged = new Map<string, MistakePoint>();
    for (const { task, trajectories } of groups) {
      const classify = classifier(
        mistakes.filter(({ taskId }) => taskId === task.id),
        settings.mistakeNeighbours,
      );
      for (const trajectory of trajectories.filter(isWrong)) {
        const feature = features.get(trajectory.id) ?? [];
        const classSize = classify(feature);
        const penalty = mistakePenalty(classSize, settings);
        judged.set(trajectory.id, { taskId: task.id, trajectoryId: trajectory.id, feature, classSize, penalty });
      }
    }
    const shaped = groupRelative(input, (trajectory) => trajectory.reward - (judged.get(trajectory.id)?.penalty ?? 0));
    return { ...shaped, mistakes: [...judged.values()] };
  },
};

export function isWrong({ success }: Pick<Trajectory, 'success'>): boolean {
  return !success;
}

export function mistakePenalty(classSize: number, settings: Pick<PearlSettings['advantage'], 'mistakeScale' | 'mistakeLimit'>): number {
  return settings.mistakeScale * Math.min(Math.log(classSize + 1), settings.mistakeLimit);
}

/**
 * Size of the class that a new mistake of one prompt falls into, before it is stored: HDBSCAN (min cluster size 2, min samples
 * 1) over the earlier ones, noise being a class of its own, then the majority of the nearest by cosine; the nearest decides a
 * tie. 0 without earlier mistakes.
 */
export function classifier(known: readonly MistakePoint[], neighbours: number): (feature: readonly number[]) => number {
  if (known.length === 0) return () => 0;
  const { labels } = hdbscanSync(
    known.map(({ feature }) => feature),
    { minClusterSize: 2, minSamples: 1 },
  );
  const sizes = new Map<number, number>();
  for (const label of labels) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  return (feature) => {
    const nearest = known
      .map((point, i) => ({ label: labels[i]!, likeness: cosine(feature, point.feature), i }))
      .sort((a, b) => b.likeness - a.likeness || a.i - b.i)
      .slice(0, neighbours);
    const votes = new Map<number, number>();
    for (const { label } of nearest) votes.set(label, (votes.get(label) ?? 0) + 1);
    const most = Math.max(...votes.values());
    const winner = nearest.find(({ label }) => votes.get(label) === most)!;
    return sizes.get(winner.label)!;
  };
}

/** Features have unit length, so the dot product is the cosine. */
function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}
