import { clusterLabels, NOISE } from './labels.ts';
import { type Points, toMatrix } from './matrix.ts';
import { type ClusterMeasures, measureClusters } from './stability.ts';
import type { Clustering, Prediction } from './types.ts';

/**
 * Approximate prediction: where new points would fall in a fitted clustering, which stays as it is. A query is attached to
 * one of its 2·min_samples nearest fitted points, the one it reaches most densely, and takes the label of the cluster that
 * holds that point at the query's own density. The reference implementation's algorithm; labels follow the fit's selection.
 * @param queries one row a query, of the fitted points' dimension.
 * @returns all noise with a `reason` when the clustering has no cluster, or fewer points than 2·min_samples.
 * @throws {NacreError} for a query of another dimension, or with a coordinate that is not a finite number.
 */
export function predict(clustering: Clustering, queries: Points): Prediction {
  const { points, tree, minSamples } = clustering;
  const wanted = toMatrix(queries, 'queries', points.rows > 0 ? points.columns : undefined);
  const labels = new Int32Array(wanted.rows).fill(NOISE);
  const strengths = new Float64Array(wanted.rows);
  const reason = whyUnplaceable(clustering);
  if (reason !== undefined) return { labels, strengths, reason };

  const measures = measureClusters(tree);
  const labelOfCluster = clusterLabels(
    tree,
    measures,
    clustering.clusters.map((cluster) => cluster.id),
  );
  const home = pointHomes(clustering);
  const neighbours = new Neighbours(2 * minSamples);
  const { columns: d } = points;
  for (let q = 0; q < wanted.rows; q++) {
    neighbours.search(points.data, points.rows, d, wanted.data.subarray(q * d, (q + 1) * d));
    const { point, reach } = densestNeighbour(neighbours, clustering.predictionCores, minSamples);
    const lambda = reach > 0 ? 1 / reach : Number.MAX_VALUE;
    const cluster = clusterAt(lambda, home.cluster[point]!, home.lambda[point]!, measures, tree.n);
    const label = labelOfCluster[cluster - tree.n]!;
    if (label === NOISE) continue;
    const maxLambda = measures.maxLambda[clustering.clusters[label]!.id - tree.n]!;
    labels[q] = label;
    strengths[q] = maxLambda > 0 ? Math.min(maxLambda, lambda) / maxLambda : 1;
  }
  return { labels, strengths };
}

function whyUnplaceable({ tree, points, minSamples }: Clustering): string | undefined {
  if (tree.clusterCount <= 1) return 'The fitted points form no cluster.';
  if (2 * minSamples > points.rows) {
    return `Prediction looks at 2·min_samples = ${2 * minSamples} neighbours, but only ${points.rows} points were fitted.`;
  }
  return undefined;
}

/** For each fitted point, the cluster it leaves and the λ at which it does. */
function pointHomes({ tree }: Clustering): { cluster: Int32Array; lambda: Float64Array } {
  const home = { cluster: new Int32Array(tree.n), lambda: new Float64Array(tree.n) };
  for (let row = 0; row < tree.child.length; row++) {
    const point = tree.child[row]!;
    if (point >= tree.n) continue;
    home.cluster[point] = tree.parent[row]!;
    home.lambda[point] = tree.lambda[row]!;
  }
  return home;
}

/** The neighbour with the smallest mutual reachability distance; the nearest of equals. The query's core is `distance[minSamples]`. */
function densestNeighbour(neighbours: Neighbours, cores: Float64Array, minSamples: number): { point: number; reach: number } {
  const queryCore = neighbours.distance[minSamples]!;
  let point = 0;
  let reach = Number.POSITIVE_INFINITY;
  for (let i = 0; i < neighbours.id.length; i++) {
    const candidate = neighbours.id[i]!;
    const mutual = Math.max(cores[candidate]!, queryCore, neighbours.distance[i]!);
    if (mutual >= reach) continue;
    reach = mutual;
    point = candidate;
  }
  return { point, reach };
}

/** From the neighbour's cluster upwards to the one that exists at density λ; a cluster born exactly at λ does not yet count. */
function clusterAt(lambda: number, cluster: number, neighbourLambda: number, { birth, parent }: ClusterMeasures, root: number): number {
  if (neighbourLambda > lambda) {
    while (cluster !== root && birth[cluster - root]! >= lambda) cluster = parent[cluster - root]!;
  }
  return cluster;
}

/** The nearest points of one query, ascending by distance, the lower id first among equals. */
class Neighbours {
  readonly id: Int32Array;
  readonly distance: Float64Array;

  constructor(count: number) {
    this.id = new Int32Array(count);
    this.distance = new Float64Array(count);
  }

  search(data: Float64Array, rows: number, d: number, query: Float64Array): void {
    this.distance.fill(Number.POSITIVE_INFINITY);
    const last = this.id.length - 1;
    for (let i = 0; i < rows; i++) {
      const measured = distance(query, 0, data, i * d, d);
      if (measured < this.distance[last]!) this.insert(i, measured);
    }
  }

  private insert(point: number, measured: number): void {
    let at = this.id.length - 1;
    while (at > 0 && this.distance[at - 1]! > measured) {
      this.distance[at] = this.distance[at - 1]!;
      this.id[at] = this.id[at - 1]!;
      at--;
    }
    this.distance[at] = measured;
    this.id[at] = point;
  }
}

/**
 * Euclidean distance of d numbers of `x` from `at` and d numbers of `y` from `to`. The squares are added in the order of the
 * coordinates, which fixes the last bit.
 */
function distance(x: Float64Array, at: number, y: Float64Array, to: number, d: number): number {
  let sum = 0;
  for (let c = 0; c < d; c++) {
    const difference = x[at + c]! - y[to + c]!;
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}
