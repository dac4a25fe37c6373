import type { PearlEvent } from '../pearl/types.ts';
import type { PearlConfig } from './pearl-config.ts';
import type { Clock } from './time-left.ts';

/** How long the rest of a PEARL run takes at the pace of the updates measured so far; greedy evaluations are part of that pace. */
export class PearlTimeLeft implements Clock<PearlEvent> {
  private readonly total: number;
  private finished = 0;
  private timed = 0;
  private ms = 0;
  private last: number | undefined;

  constructor({ pearl, study }: PearlConfig) {
    this.total = pearl.updates * (study ? study.seeds.length * study.variants.length : 1);
  }

  observe(event: PearlEvent, now: number): void {
    if (event.type !== 'update') return;
    this.finished++;
    if (event.replayed) return;
    if (this.last !== undefined) {
      this.timed++;
      this.ms += now - this.last;
    }
    this.last = now;
  }

  interrupt(): void {
    this.last = undefined;
  }

  seconds(): number | undefined {
    return this.timed === 0 ? undefined : (Math.max(0, this.total - this.finished) * this.ms) / this.timed / 1000;
  }
}
