import type { Task } from '../core/types.ts';
import type { OptimiserId, PearlSettings } from './settings.ts';
import type {
  Banks,
  ClusterSnapshot,
  PairRecord,
  PolicyCheckpoint,
  PolicyScore,
  ShapedTokens,
  Trajectory,
  UpdateRecord,
  UpdateUnit,
} from './types.ts';

export type PearlPhase = 'evaluation' | 'rollouts' | 'features' | 'training' | 'clustering' | 'test' | 'done';

/** What a run tells its observers, in order. A reopened run emits the same events again from its journal (`replayed`). */
export type PearlEvent =
  | {
      readonly type: 'pearl-started';
      readonly optimiser: OptimiserId;
      readonly updates: number;
      readonly settings: PearlSettings;
      readonly tasks: readonly Task[];
    }
  | {
      readonly type: 'pearl-phase';
      readonly update: number;
      readonly phase: PearlPhase;
      readonly label: string;
      readonly done: number;
      readonly total: number;
    }
  /** The rollout tree of one prompt, complete. */
  | {
      readonly type: 'forest';
      readonly update: number;
      readonly task: Pick<Task, 'id' | 'type' | 'input'>;
      readonly trajectories: readonly TrajectoryView[];
      readonly replayed: boolean;
    }
  /** Advantages (before shaping, per turn), pairs with curves and matches, entries new in the banks, shaped tokens. */
  | {
      readonly type: 'credit';
      readonly update: number;
      readonly advantages: UpdateUnit['advantages'];
      readonly pairs: readonly PairRecord[];
      readonly skipped: UpdateRecord['skipped'];
      readonly shaped: readonly ShapedTokens[];
      readonly added: Banks;
      /** Ids of entries that left the window. */
      readonly dropped: { readonly failure: readonly string[]; readonly success: readonly string[] };
    }
  | { readonly type: 'clusters'; readonly snapshot: ClusterSnapshot }
  | { readonly type: 'update'; readonly record: UpdateRecord; readonly replayed: boolean }
  | { readonly type: 'policy-score'; readonly which: 'initial' | 'during' | 'final'; readonly score: PolicyScore }
  | { readonly type: 'notice'; readonly code: string; readonly message: string }
  | { readonly type: 'pearl-finished'; readonly initial: PolicyCheckpoint; readonly final: PolicyCheckpoint; readonly stopped: boolean };

/** What a page needs of a trajectory: a `Trajectory` without its ids and log-probabilities. */
export interface TrajectoryView {
  readonly id: string;
  readonly taskId: string;
  readonly index: number;
  readonly parentId?: string;
  readonly branchTurn?: number;
  readonly reward: number;
  readonly success: boolean;
  readonly finish: Trajectory['finish'];
  readonly finalObservation: string;
  readonly turns: readonly {
    readonly observation: string;
    readonly action: string;
    readonly pieces: readonly string[];
    readonly entropies: readonly number[];
    readonly probe: number;
  }[];
}
