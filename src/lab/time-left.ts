import type { RunEvent } from '../textual/types.ts';
import type { ExperimentConfig } from './config.ts';

/** Tells from a run's events how long the rest takes. */
export interface Clock<Event> {
  /** @param now milliseconds of a monotonic clock. */
  observe(event: Event, now: number): void;
  /** The pause that a person caused must not count as the cost of work. */
  interrupt(): void;
  /** Seconds, or undefined before anything was measured. */
  seconds(): number | undefined;
}

/**
 * How much of a run is left, in rollouts, and how long that takes at the pace measured so far. Critique and review are not
 * counted: beside the rollouts they cost next to nothing with the built-in analyst.
 */
export class TimeLeft implements Clock<RunEvent> {
  private readonly config: ExperimentConfig;
  private steps = 0;
  private finishedSteps = 0;
  private inPhase = 0;
  private phase: 'initial' | 'steps' | 'test' | 'done' = 'initial';
  private timed = 0;
  private ms = 0;
  private last: number | undefined;

  constructor(config: ExperimentConfig) {
    this.config = config;
  }

  /** @param now milliseconds of a monotonic clock. */
  observe(event: RunEvent, now: number): void {
    if (event.type === 'started') this.steps = event.totalSteps;
    if (event.type === 'step-started') this.enter('steps');
    if (event.type === 'step') {
      this.finishedSteps = event.record.step;
      this.inPhase = 0;
    }
    if (event.type === 'phase' && event.phase === 'test') this.enter('test');
    if (event.type === 'finished') this.enter('done');
    if (event.type !== 'rollout') return;
    this.inPhase++;
    if (event.replayed) return;
    if (this.last !== undefined) {
      this.timed++;
      this.ms += now - this.last;
    }
    this.last = now;
  }

  /** The pause between two rollouts that a person caused must not count as their cost. */
  interrupt(): void {
    this.last = undefined;
  }

  /** Rollouts that the rest of the run needs at most. */
  remaining(): number {
    const { suite, textual } = this.config;
    const step = Math.min(textual.batchTasks, suite.train) * textual.rolloutsPerTask + suite.val;
    const tests = 2 * (suite.train + suite.test + suite.unseen);
    const ahead = {
      initial: suite.val + this.steps * step + tests,
      steps: (this.steps - this.finishedSteps) * step + tests,
      test: tests,
      done: 0,
    }[this.phase];
    return Math.max(0, ahead - this.inPhase);
  }

  /** Seconds, or undefined before anything was measured. */
  seconds(): number | undefined {
    if (this.phase === 'done') return 0;
    return this.timed < 8 ? undefined : (this.remaining() * this.ms) / this.timed / 1000;
  }

  private enter(phase: TimeLeft['phase']): void {
    if (this.phase !== phase) this.inPhase = 0;
    this.phase = phase;
  }
}
