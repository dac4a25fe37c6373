import { hdbscanSync } from '../cluster/hdbscan.ts';
import { predict } from '../cluster/predict.ts';
import { project, projectOnto } from '../cluster/projection.ts';
import type { Clustering } from '../cluster/types.ts';
import type { PearlSettings } from './settings.ts';
import type { BankPoint, BankSnapshot, Banks, ClusterSnapshot, ClusterSummary, FailureCluster } from './types.ts';

type MemorySettings = PearlSettings['memory'];

/** Fitted banks: what decisions are matched against, and the same for people. */
export interface PatternMemory {
  readonly failure: Clustering;
  readonly success: Clustering;
  readonly verdicts: readonly Verdict[];
  readonly snapshot: ClusterSnapshot;
}

/** What became of a failure cluster. */
export interface Verdict {
  readonly kept: boolean;
  readonly vetoedBy?: number;
  readonly vetoStrength?: number;
  /** ρ_j = |C_j| / Σ |C_k| over the kept clusters (eq. 5); 0 when vetoed. */
  readonly share: number;
}

/** Clusters both banks, lets success veto failure, and weighs what is kept. */
export function fitMemory(banks: Banks, update: number, settings: MemorySettings): PatternMemory {
  const { minClusterSize, minSamples, centroid } = settings;
  const fitBank = (points: readonly BankPoint[]): Clustering =>
    hdbscanSync(
      points.map(({ feature }) => feature),
      { minClusterSize, minSamples, centroid },
    );
  const failure = fitBank(banks.failure);
  const success = fitBank(banks.success);
  const verdicts = judge(failure, success, settings.veto);
  return { failure, success, verdicts, snapshot: snapshotOf(banks, update, failure, success, verdicts) };
}

/** Keeps a failure cluster iff its centroid falls into no success cluster (eq. 4), or all of them without the veto. */
export function judge(failure: Clustering, success: Clustering, veto: boolean): Verdict[] {
  const centroids = failure.clusters.map((cluster) => cluster.centroid);
  const { labels, strengths } = veto
    ? predict(success, centroids)
    : { labels: new Int32Array(centroids.length).fill(-1), strengths: new Float64Array(centroids.length) };
  const kept = failure.clusters.map((_, j) => labels[j] === -1);
  const total = failure.clusters.reduce((sum, { size }, j) => sum + (kept[j] ? size : 0), 0);
  return failure.clusters.map(({ size }, j) =>
    kept[j] ? { kept: true, share: size / total } : { kept: false, vetoedBy: labels[j]!, vetoStrength: strengths[j]!, share: 0 },
  );
}

function snapshotOf(banks: Banks, update: number, failure: Clustering, success: Clustering, verdicts: readonly Verdict[]): ClusterSnapshot {
  const all = [...banks.failure, ...banks.success].map(({ feature }) => feature);
  const plane = all.length === 0 ? undefined : project(all);
  const inPlane = (points: readonly ArrayLike<number>[]): [number, number][] => {
    if (!plane || points.length === 0) return [];
    const { data } = projectOnto(plane, points);
    return points.map((_, i) => [data[2 * i]!, data[2 * i + 1]!]);
  };
  const bank = <C extends ClusterSummary>(points: readonly BankPoint[], fitted: Clustering, clusters: readonly C[]): BankSnapshot<C> => ({
    pointIds: points.map(({ id }) => id),
    labels: Array.from(fitted.labels),
    probabilities: Array.from(fitted.probabilities),
    plane: inPlane(points.map(({ feature }) => feature)),
    clusters,
    centres: inPlane(clusters.map(({ centroid }) => centroid)),
    noise: noiseShare(fitted),
  });
  const failures = summaries(banks.failure, failure).map((summary, j): FailureCluster => ({ ...summary, ...verdicts[j]! }));
  const sizes = failures.map(({ size }) => size);
  return {
    update,
    failure: bank(banks.failure, failure, failures),
    success: bank(banks.success, success, summaries(banks.success, success)),
    keptEntries: failures.reduce((sum, { size, kept }) => sum + (kept ? size : 0), 0),
    largestShare: banks.failure.length === 0 ? 0 : Math.max(0, ...sizes) / banks.failure.length,
    explained: plane?.explained ?? [0, 0],
  };
}

function summaries(points: readonly BankPoint[], { clusters, labels }: Clustering): ClusterSummary[] {
  return clusters.map(({ size, persistence, centroid }, label) => ({
    label,
    size,
    persistence,
    centroid: Array.from(centroid),
    verbs: verbsOf(points.filter((_, i) => labels[i] === label)),
  }));
}

/** First words of the actions with their shares, commonest first. */
function verbsOf(points: readonly BankPoint[]): ClusterSummary['verbs'] {
  const counts = new Map<string, number>();
  for (const { action } of points) {
    const verb = action.split(' ', 1)[0] ?? '';
    counts.set(verb, (counts.get(verb) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .slice(0, 3)
    .map(([verb, n]) => ({ verb, share: n / points.length }));
}

function noiseShare({ labels }: Clustering): number {
  if (labels.length === 0) return 0;
  return labels.reduce((sum, label) => sum + (label === -1 ? 1 : 0), 0) / labels.length;
}

/** Where decisions fall among fitted clusters, by approximate prediction. */
export function matchDecisions(
  clustering: Clustering,
  features: readonly ArrayLike<number>[],
): readonly { readonly cluster: number; readonly strength: number }[] {
  if (features.length === 0) return [];
  const { labels, strengths } = predict(clustering, features);
  return features.map((_, i) => ({ cluster: labels[i]!, strength: strengths[i]! }));
}
