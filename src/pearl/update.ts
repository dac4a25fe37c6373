import type { Random } from '../core/random.ts';
import type { ParallelTrainer } from '../transformer/parallel.ts';
import { type Lesson, minibatches, trainingBatch } from './batch.ts';
import type { PearlSettings } from './settings.ts';

/** Figures of an update's optimiser steps: means over the steps, the clip fraction over all their rows. */
export interface LearningReport {
  readonly loss: number;
  readonly clipFraction: number;
  readonly gradientNorm: number;
  readonly optimiserSteps: number;
  /** Tokens read for gradients, all epochs together. */
  readonly trainedTokens: number;
}

/**
 * θ ← clipped policy-gradient steps on Ã (eq. 7): `epochs` passes over the lesson, each in `minibatches` steps. A step without
 * any advantage is not taken, so that weight decay and momentum do not move a policy that has nothing to learn from.
 */
export async function learn(
  trainer: Pick<ParallelTrainer, 'step'>,
  lesson: Lesson,
  loss: PearlSettings['loss'],
  random: Random,
): Promise<LearningReport> {
  const sums = { loss: 0, clipped: 0, rows: 0, gradientNorm: 0, steps: 0, trainedTokens: 0 };
  for (let epoch = 0; epoch < loss.epochs; epoch++) {
    for (const trajectories of minibatches(lesson.trajectories, loss.minibatches, random.split(epoch))) {
      const batch = trainingBatch({ ...lesson, trajectories }, loss);
      if (!batch) continue;
      const report = await trainer.step(batch, {
        lr: loss.learningRate,
        beta1: loss.beta1,
        beta2: loss.beta2,
        weightDecay: loss.weightDecay,
        clipNorm: loss.gradientClip,
        normalise: false,
      });
      sums.loss += report.loss;
      sums.clipped += report.clipped;
      sums.rows += report.rows;
      sums.gradientNorm += report.gradientNorm;
      sums.trainedTokens += batch.tokens.length;
      sums.steps++;
    }
  }
  const per = (sum: number): number => (sums.steps === 0 ? 0 : sum / sums.steps);
  return {
    loss: per(sums.loss),
    gradientNorm: per(sums.gradientNorm),
    clipFraction: sums.rows === 0 ? 0 : sums.clipped / sums.rows,
    optimiserSteps: sums.steps,
    trainedTokens: sums.trainedTokens,
  };
}
