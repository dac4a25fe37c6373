import type { Split } from '../core/types.ts';
import type { PearlOutcome } from '../pearl/loop.ts';
import type { StudyReport } from '../pearl/report.ts';
import type { OptimiserId } from '../pearl/settings.ts';
import type { ClusterSnapshot, PolicyCheckpoint, PolicyScore, UpdateRecord } from '../pearl/types.ts';
import type { PearlConfig } from './pearl-config.ts';
import type { ResultModel, ResultScore } from './result.ts';

export interface PearlResultCheckpoint {
  readonly update: number;
  readonly scores: Partial<Record<Split, ResultScore>>;
}

/** One row of the snapshot table (like Table 4 of the paper). */
export interface SnapshotRow {
  readonly update: number;
  readonly failureEntries: number;
  readonly successEntries: number;
  readonly retainedClusters: number;
  readonly retainedEntries: number;
  readonly filteredClusters: number;
  readonly successClusters: number;
}

export type ResultUpdate = Omit<UpdateRecord, 'evaluation'> & { readonly evaluation?: ResultScore };

/** One run: what `result.json` calls `pearl`. */
export interface PearlFindings {
  readonly optimiser: OptimiserId;
  readonly initial: PearlResultCheckpoint;
  readonly final: PearlResultCheckpoint;
  readonly updates: readonly ResultUpdate[];
  readonly snapshots: readonly SnapshotRow[];
  readonly stopped: boolean;
}

/** `result.json` of a PEARL experiment, schema `nacre.result/1`. A study adds its report; `pearl` is then its first arm and seed. */
export interface PearlResult {
  readonly schema: 'nacre.result/1';
  readonly kind: 'pearl';
  readonly config: PearlConfig;
  readonly seed: number;
  readonly seconds: number;
  readonly longestTaskMs: number;
  readonly model: ResultModel;
  readonly pearl: PearlFindings;
  readonly study?: StudyReport;
}

export function pearlFindings(optimiser: OptimiserId, outcome: PearlOutcome): PearlFindings {
  return {
    optimiser,
    initial: resultCheckpoint(outcome.initial),
    final: resultCheckpoint(outcome.final),
    updates: outcome.updates.map(({ evaluation, ...record }) => (evaluation ? { ...record, evaluation: resultScore(evaluation) } : record)),
    snapshots: outcome.snapshots.map(snapshotRow),
    stopped: outcome.stopped,
  };
}

export function snapshotRow({ update, failure, success, keptEntries }: ClusterSnapshot): SnapshotRow {
  const retainedClusters = failure.clusters.filter((cluster) => cluster.kept).length;
  return {
    update,
    failureEntries: failure.pointIds.length,
    successEntries: success.pointIds.length,
    retainedClusters,
    retainedEntries: keptEntries,
    filteredClusters: failure.clusters.length - retainedClusters,
    successClusters: success.clusters.length,
  };
}

function resultCheckpoint({ update, scores }: PolicyCheckpoint): PearlResultCheckpoint {
  return {
    update,
    scores: Object.fromEntries(Object.entries(scores).map(([split, score]) => [split, resultScore(score)])),
  };
}

function resultScore({ n, success, rate, wilson }: PolicyScore): ResultScore {
  return { n, success, rate, wilson };
}
