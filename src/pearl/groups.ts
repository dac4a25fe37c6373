import { contentHash } from '../core/hash.ts';
import { MemoryJournal } from '../core/journal.ts';
import type { Task } from '../core/types.ts';
import type { ForestJob } from '../models/own/forest.ts';
import { rolloutFailed } from './evaluate.ts';
import type { Learner } from './learner.ts';
import { baseOptimiser } from './optimisers/index.ts';
import { trajectoryView } from './record.ts';
import { forestKey, type PearlRun, phase, secondsKey, streamOf, turnLimit } from './run.ts';
import { promptsOf } from './schedule.ts';
import type { PearlSettings } from './settings.ts';
import type { PearlEvent, PromptGroup, Trajectory } from './types.ts';

/** The trajectories of every prompt of an update: one unit of the journal a prompt. */
export async function promptGroups(run: PearlRun, learner: Learner, update: number, show = false): Promise<PromptGroup[]> {
  const { settings, journal, emit, signal, context } = run;
  const prompts = promptsOf(update, run.tasks.train, settings.prompts, run.seed);
  const base = baseOptimiser(settings);
  const fresh = new Set<string>();
  const kept = run.keepRollouts ? journal : new MemoryJournal();
  const forests = await kept.onceEach<readonly Trajectory[]>(
    prompts.map((task) => forestKey(update, task)),
    async (missing, store) => {
      const started = performance.now();
      const { policy } = await learner.at(update - 1);
      const random = streamOf(run, update);
      const jobs = prompts
        .filter((task) => missing.includes(forestKey(update, task)))
        .map((task): ForestJob => {
          const stream = random.split(task.id);
          return {
            task,
            open: () => run.open(task, run.seed),
            plan: base.plan(settings, stream.split('plan')),
            name: (index) => ({ id: `u${update}/${task.id}/k${index}`, seed: stream.split(index).uint32() }),
          };
        });
      const total = jobs.length * (base.id === 'tree-grpo' ? leaves(settings) : settings.rollouts.group);
      let ended = 0;
      emit(phase(update, 'rollouts', 'Playing', 0, total));
      await policy.forests(jobs, {
        context,
        contextHash: contentHash(context),
        temperature: settings.rollouts.temperature,
        topP: settings.rollouts.topP,
        maxTurns: turnLimit(run),
        maxTokensPerTurn: settings.rollouts.maxTokensPerTurn,
        probe: { tokens: settings.branching.probeTokens, topK: settings.branching.probeTopK },
        signal,
        onEnded: () => emit(phase(update, 'rollouts', 'Playing', ++ended, total)),
        onForest: ({ task }, trajectories) => {
          const failed = trajectories.find(({ finish }) => finish === 'error');
          if (failed) throw rolloutFailed(failed.id, failed.error);
          store(forestKey(update, task), trajectories);
          fresh.add(task.id);
          if (show) emit(forestEvent(update, task, trajectories, false));
        },
      });
      const before = (await journal.peek<number>(secondsKey(update))) ?? 0;
      await journal.put(secondsKey(update), before + (performance.now() - started) / 1000);
    },
  );
  const groups = prompts.map((task, i) => ({ task, trajectories: forests[i]! }));
  if (show) for (const { task, trajectories } of groups) if (!fresh.has(task.id)) emit(forestEvent(update, task, trajectories, true));
  return groups;
}

function leaves({ tree }: PearlSettings): number {
  return tree.chains * (1 + tree.expansions * tree.rounds);
}

function forestEvent(update: number, { id, type, input }: Task, trajectories: readonly Trajectory[], replayed: boolean): PearlEvent {
  return { type: 'forest', update, task: { id, type, input }, trajectories: trajectories.map(trajectoryView), replayed };
}
