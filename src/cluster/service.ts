import { NacreError } from '../core/errors.ts';
import { hdbscan } from './hdbscan.ts';
import type { Points } from './matrix.ts';
import { predict } from './predict.ts';
import { type Projection, project, projectOnto } from './projection.ts';
import type { Clustering, FitOptions, FitProgress, Prediction } from './types.ts';

/**
 * Clustering as a thread offers it: plain data in and out. A fit is named by its caller, so that it can be cancelled.
 * Nothing is kept between calls but the fits that are running.
 */
export interface ClusterService {
  /** @throws {NacreError} as `hdbscan`; `cancelled` after `cancel(job)`; `job-running` when that name is in use. */
  fit(job: string, points: Points, options?: FitOptions, onProgress?: (progress: FitProgress) => void): Promise<Clustering>;
  /** Ends a running fit; false when there is none of that name (it may just have finished). */
  cancel(job: string): boolean;
  predict(clustering: Clustering, queries: Points): Prediction;
  project(points: Points): Projection;
  projectOnto(frame: Pick<Projection, 'mean' | 'axes'>, points: Points): Projection['coordinates'];
}

export function createClusterService(): ClusterService {
  const running = new Map<string, AbortController>();
  return {
    async fit(job, points, options, onProgress) {
      if (running.has(job)) {
        throw new NacreError(
          'job-running',
          `A clustering named "${job}" is already running.`,
          'Wait for it, cancel it, or use another name.',
        );
      }
      const controller = new AbortController();
      running.set(job, controller);
      try {
        return await hdbscan(points, { ...options, signal: controller.signal, ...(onProgress ? { onProgress } : {}) });
      } finally {
        running.delete(job);
      }
    },
    cancel(job) {
      const controller = running.get(job);
      controller?.abort(new NacreError('cancelled', `The clustering "${job}" was cancelled.`, 'Start it again to have its result.'));
      return controller !== undefined;
    },
    predict,
    project,
    projectOnto,
  };
}
