import { NacreError } from '../core/errors.ts';
import { contentHash } from '../core/hash.ts';
import type { Journal } from '../core/journal.ts';
import { CALL_ROLES, type CallRole, Ledger, type TokenTotals } from '../core/ledger.ts';
import { Random } from '../core/random.ts';
import type { Rollout, Task, Usage } from '../core/types.ts';
import { type Asked, type Asker, ask, type CriticModel, MAX_ANSWER_TOKENS } from './ask.ts';
import { visibleText } from './context.ts';
import { didRun } from './routing.ts';
import type { RolloutJob, RunEvent, Target } from './types.ts';

/** Asked between two units of work: go on, or finish now with what there is. While paused the promise stays open. */
export interface LoopControl {
  checkpoint(signal: AbortSignal): Promise<'continue' | 'finish'>;
}

/** Thrown between units when the run is to finish early: what was found is tested, nothing is lost. */
export class FinishEarly extends Error {
  readonly reason: 'stopped' | 'token-cap';
  constructor(reason: 'stopped' | 'token-cap') {
    super(reason);
    this.name = 'FinishEarly';
    this.reason = reason;
  }
}

export interface UnitsOptions {
  readonly seed: number;
  readonly journal: Journal;
  readonly target: Target;
  readonly critic: CriticModel;
  readonly signal: AbortSignal;
  readonly control: LoopControl;
  readonly emit: (event: RunEvent) => void;
  readonly rolloutRetries: number;
  /** Iteration tokens that may not be passed; 0 = no cap. */
  readonly tokenCap: number;
}

/** What one rollout is taken to cost while none has been seen, for the token cap. */
const UNKNOWN_ROLLOUT_TOKENS = 1000;

export interface RolloutUnit {
  readonly key: string;
  readonly id: string;
  readonly task: Task;
  readonly index: number;
}

/**
 * Every model call of a run goes through here: each is a unit of the journal with a seed of its own, is counted in the ledger,
 * and waits for the control and the token cap before it starts. Stored units cost nothing and ask nobody.
 */
export class Units {
  private readonly options: UnitsOptions;
  private ledger = new Ledger();
  /** Iteration tokens and number of the rollouts under way; the ledger counts them when all are complete. */
  private underWay = { tokens: 0, rollouts: 0 };
  /** Rollouts that the ledger has counted. */
  private counted = 0;
  private readonly random: Random;
  /** Set for the last phase: a run that was stopped still tests what it found. */
  finishing = false;
  private waitedMs = 0;
  private largestRollout = 0;

  constructor(options: UnitsOptions) {
    this.options = options;
    this.random = new Random(options.seed, 'textual');
  }

  totals(): TokenTotals {
    return this.ledger.totals();
  }

  /** Milliseconds of work so far on this thread's clock, pauses left out. */
  clock(): number {
    return performance.now() - this.waitedMs;
  }

  /** Seconds of work since `started`, as they were when the work was first done. */
  timed(key: string, started: number): Promise<{ readonly seconds: number }> {
    return this.options.journal.once(key, async () => ({ seconds: (this.clock() - started) / 1000 }));
  }

  /** Runs each unit once under one context, all of them in one call to the target. Results in the order of `units`. */
  async rollouts(
    units: readonly RolloutUnit[],
    run: {
      readonly role: 'rollout' | 'validation' | 'test';
      readonly context: string;
      readonly temperature: number;
      readonly step: number;
      readonly onProgress?: (done: number) => void;
    },
  ): Promise<readonly Rollout[]> {
    const { journal, emit } = this.options;
    const fresh = new Map<string, Rollout>();
    // Counted in the order of the units, not of completion, so that sums come out bit for bit the same when replayed.
    const count = (rollouts: Iterable<Rollout | undefined>): void => {
      this.underWay = { tokens: 0, rollouts: 0 };
      for (const rollout of rollouts) {
        if (!rollout) continue;
        this.largestRollout = Math.max(this.largestRollout, tokensOf(rollout.usage));
        this.ledger.add(run.role, rollout.usage);
        this.counted++;
      }
    };
    let results: readonly Rollout[];
    try {
      results = await journal.onceEach<Rollout>(
        units.map(({ key }) => key),
        async (missing, store) => {
          const wanted = new Set(missing);
          let done = units.length - missing.length;
          const keep = (unit: RolloutUnit, rollout: Rollout): void => {
            store(unit.key, rollout);
            fresh.set(unit.key, rollout);
            this.meter(run.role, rollout.usage);
            emit({ type: 'rollout', step: run.step, role: run.role, rollout, replayed: false });
            run.onProgress?.(++done);
          };
          await this.runMissing(units, wanted, run, keep);
        },
      );
    } catch (error) {
      // Whatever the journal holds was spent, in this session or an earlier one.
      count(await Promise.all(units.map(({ key }) => journal.peek<Rollout>(key))));
      throw error;
    }
    count(results);
    results.forEach((rollout, i) => {
      if (!fresh.has((units[i] as RolloutUnit).key)) emit({ type: 'rollout', step: run.step, role: run.role, rollout, replayed: true });
    });
    return results;
  }

  /** Asks the critic as a unit. A critique that cannot be made fails the run, which resumes; other calls have a fallback. */
  readonly ask: Asker = async (key, role, question) => {
    const { journal, critic, signal } = this.options;
    const asked = await journal.once(key, async (): Promise<Asked<unknown>> => {
      await this.checkpoint();
      const chars = question.messages.reduce((sum, { content }) => sum + content.length, 0);
      this.requireTokens(critic.info.backend === 'heuristic' ? 0 : Math.ceil(chars / 3) + MAX_ANSWER_TOKENS);
      const result = await ask(critic, { ...question, seed: this.seedOf(key), signal });
      if (result.status === 'failed' && role === 'critique') {
        throw new NacreError(
          'critic-failed',
          `The critic "${critic.info.id}" could not run: ${result.problem}`,
          'Check the critic model and resume: everything finished so far is kept.',
        );
      }
      return result;
    });
    this.ledger.add(role, asked.usage);
    return asked as Asked<never>;
  };

  /** Takes up the count of a run that finished early, what its abandoned step had spent included. */
  restore(totals: TokenTotals): void {
    this.ledger = new Ledger();
    for (const role of CALL_ROLES) this.ledger.add(role, totals.byRole[role]);
  }

  /**
   * Runs the units that are `wanted`, in batches that depend on finished rollouts alone, never on where a run was interrupted: under a
   * cap a resumed run ends where it would have ended otherwise.
   */
  private async runMissing(
    units: readonly RolloutUnit[],
    wanted: ReadonlySet<string>,
    run: { readonly role: CallRole; readonly context: string; readonly temperature: number },
    keep: (unit: RolloutUnit, rollout: Rollout) => void,
  ): Promise<void> {
    const capped = this.options.tokenCap > 0 && run.role !== 'test';
    for (let at = 0; at < units.length; ) {
      await this.checkpoint();
      const batch = units.slice(at, at + (capped ? this.affordable(units.length - at) : units.length));
      if (capped) for (const { key } of batch) if (!wanted.has(key)) this.meterStored(run.role, await this.options.journal.peek(key));
      await this.runBatch(
        batch.filter(({ key }) => wanted.has(key)),
        run,
        keep,
      );
      at += batch.length;
    }
  }

  /**
   * How many rollouts may start under the cap: what fits at twice the cost of the largest so far, since a larger one may come, and no
   * more than have been seen, since few tell little.
   */
  private affordable(wanted: number): number {
    const each = this.largestRollout === 0 ? UNKNOWN_ROLLOUT_TOKENS : 2 * this.largestRollout;
    this.requireTokens(each);
    const seen = Math.max(1, this.counted + this.underWay.rollouts);
    return Math.min(wanted, seen, Math.floor((this.options.tokenCap - this.spent()) / each));
  }

  private async runBatch(
    units: readonly RolloutUnit[],
    run: { readonly context: string; readonly temperature: number },
    keep: (unit: RolloutUnit, rollout: Rollout) => void,
  ): Promise<void> {
    const { target, signal, rolloutRetries } = this.options;
    let open = units;
    for (let attempt = 0; open.length > 0; attempt++) {
      const last = attempt >= rolloutRetries;
      const byId = new Map(open.map((unit) => [unit.id, unit]));
      const settle = (rollout: Rollout): void => {
        const unit = byId.get(rollout.id);
        if (!unit || rollout.finish === 'cancelled' || (!didRun(rollout) && !last)) return;
        byId.delete(rollout.id);
        keep(unit, rollout);
      };
      const rollouts = await target.rollouts(
        open.map((unit): RolloutJob => ({ id: unit.id, task: unit.task, index: unit.index, seed: this.seedOf(unit.key) })),
        {
          context: visibleText(run.context),
          contextHash: contentHash(run.context),
          temperature: run.temperature,
          signal,
          onRollout: settle,
        },
      );
      rollouts.forEach(settle);
      signal.throwIfAborted();
      if (last) return;
      open = open.filter(({ id }) => byId.has(id));
    }
  }

  private meter(role: CallRole, usage: Usage): void {
    const tokens = tokensOf(usage);
    this.largestRollout = Math.max(this.largestRollout, tokens);
    this.underWay = { tokens: this.underWay.tokens + (role === 'test' ? 0 : tokens), rollouts: this.underWay.rollouts + 1 };
  }

  private meterStored(role: CallRole, rollout: Rollout | undefined): void {
    if (rollout) this.meter(role, rollout.usage);
  }

  private spent(): number {
    return this.totals().iteration + this.underWay.tokens;
  }

  private async checkpoint(): Promise<void> {
    const { control, signal } = this.options;
    signal.throwIfAborted();
    const started = performance.now();
    const verdict = await control.checkpoint(signal);
    this.waitedMs += performance.now() - started;
    if (verdict === 'finish' && !this.finishing) throw new FinishEarly('stopped');
  }

  private requireTokens(tokens: number): void {
    const { tokenCap } = this.options;
    if (tokenCap > 0 && !this.finishing && this.spent() + tokens > tokenCap) throw new FinishEarly('token-cap');
  }

  private seedOf(key: string): number {
    return this.random.split(key).uint32();
  }
}

function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}
