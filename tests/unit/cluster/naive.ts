/**
 * HDBSCAN written down as plainly as possible, with an n×n matrix and without any shortcut, to hold the real one against.
 * Each rule that is easy to get wrong can be switched to its wrong form, so that a test can show that its data tell them apart.
 */
export interface Rules {
  /** How many neighbours prediction looks at, in units of min_samples. */
  readonly neighbours: 1 | 2 | 3;
  /** Whether the walk up the tree leaves a cluster born exactly at λ. */
  readonly walk: '>=' | '>';
  /** Precision of the children's total stability. */
  readonly sum: 'float32' | 'float64';
  /** Who wins when the children's total equals the parent's stability. */
  readonly tie: 'parent' | 'children';
}

export const RIGHT: Rules = { neighbours: 2, walk: '>=', sum: 'float32', tie: 'parent' };

interface Node {
  readonly id: number;
  readonly birth: number;
  readonly parent: Node | undefined;
  readonly rows: { child: Node | number; lambda: number; size: number }[];
}

export interface NaiveResult {
  readonly labels: number[];
  readonly probabilities: number[];
  readonly selected: number[];
  readonly stability: number[];
  predict(query: readonly number[]): { label: number; strength: number };
}

const euclid = (a: readonly number[], b: readonly number[]): number => {
  let sum = 0;
  for (let c = 0; c < a.length; c++) sum += (a[c]! - b[c]!) * (a[c]! - b[c]!);
  return Math.sqrt(sum);
};
const inverse = (x: number, atZero: number): number => (x > 0 ? 1 / x : atZero);

export function naiveHdbscan(
  points: readonly (readonly number[])[],
  minClusterSize: number,
  minSamples: number,
  rules = RIGHT,
): NaiveResult {
  const n = points.length;
  const raw = points.map((a) => points.map((b) => euclid(a, b)));
  const k = Math.max(1, Math.min(n - 1, minSamples));
  // Sorted with the point itself at 0, the k-th other point is at k.
  const sorted = raw.map((row) => row.toSorted((a, b) => a - b));
  const core = sorted.map((row) => row[k] ?? 0);
  const mutual = raw.map((row, i) => row.map((distance, j) => Math.max(core[i]!, core[j]!, distance)));
  const root = condense(points.length, minClusterSize, prim(mutual));
  const clusters = breadthFirst(root);
  const stability = new Map(
    clusters.map((node) => [node, node.rows.reduce((sum, row) => sum + (row.lambda - node.birth) * row.size, 0)] as const),
  );
  const selected = excessOfMass(clusters.slice(1), stability, rules).toSorted((a, b) => a.id - b.id);
  const maxLambda = (node: Node): number => Math.max(0, ...node.rows.map((row) => row.lambda));
  const labelOf = (node: Node | undefined): number => {
    for (let at = node; at; at = at.parent) if (selected.includes(at)) return selected.indexOf(at);
    return -1;
  };
  const home = new Map<number, { node: Node; lambda: number }>();
  for (const node of clusters) {
    for (const { child, lambda } of node.rows) if (typeof child === 'number') home.set(child, { node, lambda });
  }
  const labels = points.map((_, i) => labelOf(home.get(i)?.node));
  const probabilities = labels.map((label, i) => {
    if (label < 0) return 0;
    const most = maxLambda(selected[label]!);
    const { lambda } = home.get(i)!;
    return most === 0 || lambda === Number.POSITIVE_INFINITY ? 1 : Math.min(lambda, most) / most;
  });

  function predict(query: readonly number[]): { label: number; strength: number } {
    const noise = { label: -1, strength: 0 };
    if (clusters.length === 1 || 2 * minSamples > n) return noise;
    const order = points
      .map((point, i) => ({ i, distance: euclid(query, point) }))
      .toSorted((a, b) => a.distance - b.distance || a.i - b.i);
    const queryCore = order[minSamples]!.distance;
    const reach = order.slice(0, rules.neighbours * minSamples).map(({ i, distance }) => ({
      i,
      mutual: Math.max(sorted[i]![minSamples - 1]!, queryCore, distance),
    }));
    const nearest = reach.reduce((best, other) => (other.mutual < best.mutual ? other : best));
    const lambda = inverse(nearest.mutual, Number.MAX_VALUE);
    const at = home.get(nearest.i)!;
    let node = at.node;
    const leaves = (birth: number): boolean => (rules.walk === '>=' ? birth >= lambda : birth > lambda);
    if (at.lambda > lambda) while (node.parent && leaves(node.birth)) node = node.parent;
    const label = labelOf(node);
    if (label < 0) return noise;
    const most = maxLambda(selected[label]!);
    return { label, strength: most > 0 ? Math.min(most, lambda) / most : 1 };
  }
  return {
    labels,
    probabilities,
    selected: selected.map((node) => node.id),
    stability: selected.map((node) => stability.get(node)!),
    predict,
  };
}

type Edge = readonly [from: number, to: number, weight: number];

function prim(mutual: readonly (readonly number[])[]): Edge[] {
  const n = mutual.length;
  const best = new Map<number, Edge>();
  for (let j = 1; j < n; j++) best.set(j, [0, j, Number.POSITIVE_INFINITY]);
  const edges: Edge[] = [];
  for (let current = 0; best.size > 0; current = edges.at(-1)![1]) {
    let next: Edge | undefined;
    for (let j = 0; j < n; j++) {
      if (!best.has(j)) continue;
      if (mutual[current]![j]! < best.get(j)![2]) best.set(j, [current, j, mutual[current]![j]!]);
      if (!next || best.get(j)![2] < next[2]) next = best.get(j)!;
    }
    best.delete(next![1]);
    edges.push(next!);
  }
  return edges;
}

type Merge = { readonly points: number; readonly sides?: readonly [Merge, Merge]; readonly distance: number; readonly point: number };

function condense(n: number, minClusterSize: number, edges: readonly Edge[]): Node {
  const group: Merge[] = Array.from({ length: n }, (_, point) => ({ points: 1, distance: 0, point }));
  for (const [from, to, distance] of edges.toSorted((a, b) => a[2] - b[2])) {
    const sides = [group[from]!, group[to]!] as const;
    const merged: Merge = { points: sides[0].points + sides[1].points, sides, distance, point: -1 };
    group.forEach((old, i) => {
      if (sides.includes(old)) group[i] = merged;
    });
  }
  let id = n;
  const root: Node = { id, birth: 0, parent: undefined, rows: [] };
  let level: [Merge, Node][] = n > 1 ? [[group[0]!, root]] : [];
  while (level.length > 0) {
    const below: typeof level = [];
    for (const [merge, node] of level) {
      const lambda = inverse(merge.distance, Number.POSITIVE_INFINITY);
      const large = merge.sides!.filter((side) => side.points >= minClusterSize);
      for (const side of merge.sides!) {
        if (side.points < minClusterSize) for (const child of leaves(side)) node.rows.push({ child, lambda, size: 1 });
        else if (large.length === 1) below.push([side, node]);
        else {
          const child: Node = { id: ++id, birth: lambda, parent: node, rows: [] };
          node.rows.push({ child, lambda, size: side.points });
          below.push([side, child]);
        }
      }
    }
    level = below;
  }
  return root;
}

const leaves = (merge: Merge): number[] => (merge.sides ? merge.sides.flatMap(leaves) : [merge.point]);

function breadthFirst(root: Node): Node[] {
  const nodes = [root];
  for (const node of nodes) for (const { child } of node.rows) if (typeof child !== 'number') nodes.push(child);
  return nodes.toSorted((a, b) => a.id - b.id);
}

function excessOfMass(clusters: readonly Node[], stability: ReadonlyMap<Node, number>, rules: Rules): Node[] {
  const best = new Map(stability);
  const selected = new Set<Node>();
  const isBelow = (node: Node, top: Node): boolean => node.parent !== undefined && (node.parent === top || isBelow(node.parent, top));
  for (const node of clusters.toReversed()) {
    const total = clusters.filter((other) => other.parent === node).reduce((sum, child) => sum + best.get(child)!, 0);
    const children = rules.sum === 'float32' ? Math.fround(total) : total;
    const own = best.get(node)!;
    const hasChildren = clusters.some((other) => other.parent === node);
    if (children > own || (rules.tie === 'children' && hasChildren && children === own)) {
      best.set(node, children);
      continue;
    }
    selected.add(node);
    for (const other of clusters) if (isBelow(other, node)) selected.delete(other);
  }
  return [...selected];
}
