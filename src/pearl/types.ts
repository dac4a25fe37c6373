import type { Split, Task } from '../core/types.ts';
import type { Trajectory } from '../models/own/trajectory.ts';

export type { TokenSpan, Trajectory, TrajectoryTurn } from '../models/own/trajectory.ts';
export type { PearlEvent, PearlPhase, TrajectoryView } from './events.ts';

/** Which side of a discordant pair a decision stands on (§3.2). */
export const OUTCOMES = ['failure', 'success'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The trajectories of one prompt in one update. */
export interface PromptGroup {
  readonly task: Task;
  readonly trajectories: readonly Trajectory[];
}

/** Why a parent and its branch gave no entry to the banks. */
export const SKIP_REASONS = ['equal-reward', 'no-difference', 'outside-action'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** The first token in which two trajectories differ, seen from one of them. */
export interface Decision {
  readonly trajectoryId: string;
  readonly turn: number;
  /** Place within the action, from 0. */
  readonly token: number;
  /** Position d in the trajectory's `ids`; the region of comparison is [d, end). */
  readonly position: number;
  readonly end: number;
  readonly tokenId: number;
  readonly tokenText: string;
}

/** A parent and a branch with different rewards and where they part (§3.2, eq. 1). */
export interface DiscordantPair {
  readonly id: string;
  readonly taskId: string;
  readonly parentId: string;
  readonly branchId: string;
  readonly branchTurn: number;
  /** Tokens the two share after the branch point. */
  readonly sharedTokens: number;
  readonly lower: Decision;
  readonly higher: Decision;
}

/** Logits of the chosen token after every layer, without and with the final norm (eq. 2). */
export interface LayerCurve {
  readonly raw: readonly number[];
  readonly normed: readonly number[];
}

/** How a decision stood to the clusters fitted before it. */
export interface DecisionMatch {
  /** Label in the latest snapshot, −1 when it matched none. */
  readonly cluster: number;
  readonly strength: number;
  /** The cluster was kept, so the decision's negative advantages grow. */
  readonly kept: boolean;
  /** exp(ρ/T_s), or 1. */
  readonly multiplier: number;
}

/** A pair as it is stored and shown. */
export interface PairRecord extends DiscordantPair {
  readonly lowerCurve: LayerCurve;
  readonly higherCurve: LayerCurve;
  /** Absent while nothing has been clustered. */
  readonly lowerMatch?: DecisionMatch;
  readonly higherMatch?: DecisionMatch;
}

/** One decision in a bank, with all that opens it again. */
export interface BankPoint {
  /** Unique in its bank: trajectory and position. */
  readonly id: string;
  readonly outcome: Outcome;
  readonly update: number;
  readonly taskId: string;
  readonly trajectoryId: string;
  readonly pairId: string;
  readonly turn: number;
  /** Place of the divergent token within the action. */
  readonly token: number;
  readonly tokenText: string;
  /** L2-normalised (eq. 3). */
  readonly feature: readonly number[];
  readonly taskInput: string;
  readonly observation: string;
  readonly action: string;
  /** What the environment answered. */
  readonly reply: string;
  /** The trajectory's end: its finish and the reward. */
  readonly finish: string;
  readonly reward: number;
}

export interface Banks {
  readonly failure: readonly BankPoint[];
  readonly success: readonly BankPoint[];
}

/** A cluster of one bank at one fit. */
export interface ClusterSummary {
  readonly label: number;
  readonly size: number;
  readonly persistence: number;
  readonly centroid: readonly number[];
  /** Commonest first words of its actions with their share, for a name. */
  readonly verbs: readonly { readonly verb: string; readonly share: number }[];
}

/** A failure cluster and what the success bank said to it (eq. 4 and 5). */
export interface FailureCluster extends ClusterSummary {
  readonly kept: boolean;
  /** Label of the success cluster that its centroid falls into. */
  readonly vetoedBy?: number;
  /** Strength of that prediction. */
  readonly vetoStrength?: number;
  /** ρ; 0 when vetoed. */
  readonly share: number;
}

/** One bank at one fit; arrays run along `pointIds`. */
export interface BankSnapshot<C extends ClusterSummary = ClusterSummary> {
  readonly pointIds: readonly string[];
  /** −1 for noise. */
  readonly labels: readonly number[];
  readonly probabilities: readonly number[];
  /** Principal components of both banks together: x, y of each point. */
  readonly plane: readonly (readonly [number, number])[];
  readonly clusters: readonly C[];
  /** Centroids in the same plane. */
  readonly centres: readonly (readonly [number, number])[];
  /** Share of noise, 0 for an empty bank. */
  readonly noise: number;
}

/** Both banks clustered after an update: what the next updates are matched against, and the rows of a table like Table 4. */
export interface ClusterSnapshot {
  readonly update: number;
  readonly failure: BankSnapshot<FailureCluster>;
  readonly success: BankSnapshot;
  /** Entries in kept failure clusters. */
  readonly keptEntries: number;
  /** Share of the failure bank in its largest cluster. */
  readonly largestShare: number;
  /** Variance that the two axes of the plane explain. */
  readonly explained: readonly [number, number];
}

/** Tokens whose advantage was multiplied, in one trajectory for one pair. */
export interface ShapedTokens {
  readonly trajectoryId: string;
  readonly pairId: string;
  readonly outcome: Outcome;
  readonly cluster: number;
  readonly multiplier: number;
  /** Turn and place within the action of each token. */
  readonly tokens: readonly { readonly turn: number; readonly token: number }[];
}

export interface PhaseSeconds {
  readonly rollouts: number;
  readonly features: number;
  readonly training: number;
  readonly clustering: number;
  readonly evaluation: number;
}

/** Score of the policy on one split, greedy. */
export interface PolicyScore {
  readonly split: Split;
  readonly update: number;
  readonly n: number;
  readonly success: number;
  readonly rate: number;
  readonly wilson: readonly [number, number];
  readonly byType: Readonly<Record<string, { readonly n: number; readonly success: number }>>;
  /** Mean sampled tokens of a rollout. */
  readonly responseLength: number;
  readonly seconds: number;
}

/** Figures of one update (§4.4). Shares are fractions; losses and norms are those of the update's mean step. */
export interface UpdateRecord {
  readonly update: number;
  readonly taskIds: readonly string[];
  /** Share of the update's trajectories that succeeded. */
  readonly success: number;
  readonly trajectories: number;
  /** Groups whose rewards are all equal. */
  readonly degenerate: number;
  readonly branches: number;
  /** Fresh starts that used up what branching left of the budget. */
  readonly lateRoots: number;
  readonly pairs: number;
  readonly skipped: Readonly<Record<SkipReason, number>>;
  /** After this update. */
  readonly banks: { readonly failure: number; readonly success: number };
  /** Of the latest fit; zeros before the first. */
  readonly clusters: { readonly failure: number; readonly success: number; readonly vetoed: number; readonly kept: number };
  /** Share of the failure bank that is noise at the latest fit. */
  readonly noise: number;
  readonly largestShare: number;
  readonly refitted: boolean;
  readonly shaping: {
    readonly active: boolean;
    readonly tokens: number;
    /** Of the shaped tokens; 1 when there are none. */
    readonly meanMultiplier: number;
    /** Updates so far in which shaping was active, this one included. */
    readonly activeUpdates: number;
  };
  /** Mean entropy (nats) of the sampled tokens. */
  readonly entropy: number;
  readonly loss: number;
  readonly clipFraction: number;
  /** Before clipping; 0 when no trajectory had an advantage and no step was taken. */
  readonly gradientNorm: number;
  readonly optimiserSteps: number;
  /** Mean sampled tokens of a trajectory. */
  readonly responseLength: number;
  /** Newly read and sampled tokens of the rollouts, and tokens trained on. */
  readonly tokens: { readonly input: number; readonly output: number; readonly trained: number };
  readonly seconds: PhaseSeconds;
  readonly evaluation?: PolicyScore;
}

/** One entry of the MEDS-style memory: a wrong trajectory and the class it fell into when it was judged. */
export interface MistakePoint {
  readonly taskId: string;
  readonly trajectoryId: string;
  readonly feature: readonly number[];
  readonly classSize: number;
  readonly penalty: number;
}

/** Everything one update left behind: the journal's unit `update N`. */
export interface UpdateUnit {
  readonly record: UpdateRecord;
  /** Base advantage of every turn of every trajectory, before shaping. */
  readonly advantages: Readonly<Record<string, readonly number[]>>;
  readonly pairs: readonly PairRecord[];
  readonly added: Banks;
  readonly shaped: readonly ShapedTokens[];
  readonly snapshot?: ClusterSnapshot;
  readonly mistakes?: readonly MistakePoint[];
}

export interface PolicyCheckpoint {
  readonly update: number;
  readonly scores: Partial<Record<Split, PolicyScore>>;
}

/** A line of the advantages' export (JSON Lines, one token a line); `ADVANTAGE_SCHEMA` is its JSON Schema. */
export interface AdvantageLine {
  readonly update: number;
  readonly task: string;
  readonly trajectory: string;
  readonly parent: string | null;
  readonly branchTurn: number | null;
  readonly reward: number;
  readonly turn: number;
  readonly token: number;
  readonly id: number;
  readonly text: string;
  /** ln p when it was sampled, and the entropy (nats) it was sampled at. */
  readonly logprob: number;
  readonly entropy: number;
  /** Before and after shaping; `multiplier` is their quotient, 1 where nothing was shaped. */
  readonly advantage: number;
  readonly multiplier: number;
  readonly shaped: number;
}
