import { NacreError } from '../../core/errors.ts';
import type { Message, Rollout } from '../../core/types.ts';
import { ParallelTrainer } from '../../transformer/parallel.ts';
import type { LayerLogits, ProbePoint } from '../../transformer/probe.ts';
import type { ChatModel, GenerateOptions, Generation, ModelInfo } from '../types.ts';
import type { EngineHandle } from './engine.ts';
import { type ForestJob, type ForestOptions, playForests } from './forest.ts';
import { type RolloutJob, type RolloutOptions, runRollouts } from './rollout-loop.ts';
import type { Trajectory } from './trajectory.ts';

export type { RolloutJob, RolloutOptions } from './rollout-loop.ts';

/** Points of one text to probe. */
export interface ProbeRequest {
  readonly ids: readonly number[];
  readonly points: readonly ProbePoint[];
}

/** Most sequences an engine decodes together, unless told otherwise. */
const MOST_TOGETHER = 64;

/**
 * A model on a pool of engines with equal weights, in this thread or in workers. Work is spread over the engines; its
 * results do not depend on how many there are.
 */
export class PooledPolicy implements ChatModel {
  readonly info: ModelInfo;
  private readonly engines: readonly EngineHandle[];
  private readonly together: number;

  private constructor(engines: readonly EngineHandle[], info: ModelInfo, together: number) {
    this.engines = engines;
    this.info = info;
    this.together = together;
  }

  /** @param together most sequences an engine decodes at a time. */
  static async connect(engines: readonly EngineHandle[], together = MOST_TOGETHER): Promise<PooledPolicy> {
    const first = engines[0];
    if (!first) throw new NacreError('no-engines', 'A policy needs at least one engine.', 'Start one.');
    return new PooledPolicy(engines, await first.info(), together);
  }

  /**
   * Plays every job to its end; results in the order of the jobs.
   * @throws the signal's reason when it is aborted, or what an engine throws
   */
  async rollouts(jobs: readonly RolloutJob[], options: RolloutOptions): Promise<Rollout[]> {
    options.signal?.throwIfAborted();
    return this.cancellable(this.engines, options.signal, () =>
      this.share(jobs, (engine, some) => runRollouts(engine, some, options, this.together)),
    );
  }

  /**
   * Plays every prompt's forest to its end; results in the order of the jobs. A prompt stays on one engine, because branches
   * copy that engine's keys and values.
   * @throws {NacreError} as `playForests`; the signal's reason when it is aborted, or what an engine throws
   */
  async forests(jobs: readonly ForestJob[], options: ForestOptions): Promise<Trajectory[][]> {
    options.signal?.throwIfAborted();
    const { vocabulary = 0 } = this.info;
    return this.cancellable(this.engines, options.signal, () =>
      this.share(jobs, (engine, some) => playForests(engine, vocabulary, some, options, this.together)),
    );
  }

  /** Layer logits of chosen tokens in several texts; results in the order of the requests. */
  async probes(requests: readonly ProbeRequest[]): Promise<LayerLogits[]> {
    return this.share(requests, async (engine, some) => {
      const results: LayerLogits[] = [];
      for (const { ids, points } of some) results.push(await engine.probe(ids, points));
      return results;
    });
  }

  /**
   * Answers one conversation on the first engine.
   * @throws {NacreError} `schema-unsupported`; the signal's reason when it is aborted before the start
   */
  async generate(messages: readonly Message[], options: GenerateOptions): Promise<Generation> {
    const { signal, schema, onText, temperature, topP, topK = 0, maxTokens, seed, stop = [] } = options;
    if (schema) {
      throw new NacreError(
        'schema-unsupported',
        'The own runtime cannot hold answers to a JSON schema.',
        'Ask for JSON in words, or choose a model that can be held to one.',
      );
    }
    signal?.throwIfAborted();
    const engine = this.engines[0]!;
    const started = performance.now();
    const { prefix } = await engine.openPrefix([]);
    const sequences = await engine.start(prefix, 1);
    try {
      const turn = { sequence: sequences[0]!, messages, temperature, topP, topK, maxTokens, seed, stop, key: 'turn 0' };
      const watch = onText ? [(_: number, text: string): void => onText(text)] : [];
      const [answer] = await this.cancellable([engine], signal, () => engine.turns([turn], ...watch));
      const { text, finish, tokens, inputTokens, historyTokens } = answer!;
      const outputTokens = tokens.ids.length;
      const ms = performance.now() - started;
      return { text, finish, tokens, usage: { calls: 1, inputTokens, outputTokens, textVolume: historyTokens + outputTokens, ms } };
    } finally {
      await engine.release(sequences);
      await engine.closePrefix(prefix);
    }
  }

  /** Training on the pool: see `ParallelTrainer` for what does not depend on the number of engines. */
  trainer(shards: number): ParallelTrainer {
    return new ParallelTrainer(this.engines, shards);
  }

  async close(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.close()));
  }

  /** Deals items to the engines in turn; waits for all, then returns the results in the order of the items. */
  private async share<T, R>(items: readonly T[], work: (engine: EngineHandle, some: readonly T[]) => Promise<readonly R[]>): Promise<R[]> {
    const count = this.engines.length;
    const settled = await Promise.allSettled(
      this.engines.map((engine, e) =>
        work(
          engine,
          items.filter((_, i) => i % count === e),
        ),
      ),
    );
    const shares = settled.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
    return items.map((_, i) => shares[i % count]![Math.floor(i / count)]!);
  }

  private async cancellable<T>(engines: readonly EngineHandle[], signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const cancel = (): void => {
      // An engine that cannot cancel is dead, which the call in progress reports.
      for (const engine of engines) engine.cancel().catch(() => undefined);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await work();
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }
}
