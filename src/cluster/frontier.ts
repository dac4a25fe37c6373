import { BlockDistances } from './block-distances.ts';
import { row } from './matrix.ts';
import { boundFor, LEAD, NO_EXTENT, type SearchSpace, squaredGap } from './search-space.ts';

/**
 * The points that Prim's algorithm has not reached, each with the best edge from the tree to it so far. They stay in the
 * blocks of the search space. A block is left alone when the point just added cannot improve any edge in it, because that
 * point's core distance or its gap to the block is already too large.
 */
export class Frontier {
  private readonly space: SearchSpace;
  private readonly coreOf: Float64Array;
  private readonly positionOf: Int32Array;
  private readonly distances: BlockDistances;
  // By slot; a block's remaining points fill its first slots.
  private readonly id: Int32Array;
  private readonly core: Float64Array;
  private readonly best: Float64Array;
  private readonly source: Int32Array;
  // By block: points left, the slot of the nearest, the longest edge that could still become shorter and its squared bound.
  private readonly count: Int32Array;
  private readonly nearest: Int32Array;
  private readonly longest: Float64Array;
  private readonly bound: Float64Array;
  /** The point added last, and its lead coordinates. */
  private current = 0;
  private currentLead: Float64Array = new Float64Array(LEAD);

  /** Starts with point 0 in the tree. @param core fit core distance a point. */
  constructor(space: SearchSpace, core: Float64Array) {
    const { points, order, starts } = space;
    const blocks = starts.length - 1;
    this.space = space;
    this.coreOf = core;
    this.distances = new BlockDistances(points, order, starts);
    this.id = order.slice();
    this.core = Float64Array.from(order, (point) => core[point]!);
    this.best = new Float64Array(points.rows).fill(Number.POSITIVE_INFINITY);
    this.source = new Int32Array(points.rows);
    this.count = Int32Array.from({ length: blocks }, (_, block) => starts[block + 1]! - starts[block]!);
    this.nearest = new Int32Array(blocks);
    this.longest = new Float64Array(blocks);
    this.bound = new Float64Array(blocks);
    this.positionOf = new Int32Array(points.rows);
    order.forEach((point, position) => {
      this.positionOf[point] = position;
    });
    for (let block = 0; block < blocks; block++) this.summarise(block);
    const first = this.positionOf[0]!;
    this.take(
      first,
      starts.findLastIndex((start) => start <= first),
    );
  }

  /** Lets the point added last improve the edges, then adds the nearest point (lowest number among equals). */
  takeNearest(): { point: number; source: number; distance: number } {
    const { count, longest, bound, currentLead } = this;
    const { boxes } = this.space;
    const core = this.coreOf[this.current]!;
    let nearest = -1;
    let home = 0;
    for (let block = 0; block < count.length; block++) {
      if (count[block] === 0) continue;
      if (core < longest[block]! && squaredGap(currentLead, NO_EXTENT, boxes, block) <= bound[block]!) this.relax(block, core);
      const slot = this.nearest[block]!;
      if (nearest >= 0 && !this.isBefore(slot, nearest)) continue;
      nearest = slot;
      home = block;
    }
    const found = { point: this.id[nearest]!, source: this.source[nearest]!, distance: this.best[nearest]! };
    this.take(nearest, home);
    return found;
  }

  /** Offers the edges from the current point to a block's points. */
  private relax(block: number, coreCurrent: number): void {
    const { best, core, source, current } = this;
    const { squares } = this.distances;
    const count = this.count[block]!;
    if (Math.sqrt(this.distances.measure(block, count)) >= this.longest[block]!) return;
    const from = this.space.starts[block]!;
    let improved = false;
    for (let place = 0, slot = from; place < count; place++, slot++) {
      const before = best[slot]!;
      if (core[slot]! >= before || coreCurrent >= before) continue;
      const distance = Math.sqrt(squares[place]!);
      if (distance >= before) continue;
      best[slot] = Math.max(distance, core[slot]!, coreCurrent);
      source[slot] = current;
      improved = true;
    }
    if (improved) this.summarise(block);
  }

  /** Finds a block's nearest point (lowest number among equals) and its longest edge that could still become shorter. */
  private summarise(block: number): void {
    const { best, core, id } = this;
    const from = this.space.starts[block]!;
    const to = from + this.count[block]!;
    let nearest = from;
    let shortest = Number.POSITIVE_INFINITY;
    let longest = Number.NEGATIVE_INFINITY;
    for (let slot = from; slot < to; slot++) {
      const length = best[slot]!;
      if (length < shortest || (length === shortest && id[slot]! < id[nearest]!)) {
        shortest = length;
        nearest = slot;
      }
      // An edge as short as its point's own core distance is final.
      if (length > longest && length > core[slot]!) longest = length;
    }
    this.nearest[block] = nearest;
    this.longest[block] = longest;
    this.bound[block] = boundFor(longest, this.space.margin);
  }

  private isBefore(a: number, b: number): boolean {
    const { best, id } = this;
    return best[a]! < best[b]! || (best[a] === best[b] && id[a]! < id[b]!);
  }

  /** Makes a slot's point the current one and moves its block's last point into the slot. */
  private take(slot: number, block: number): void {
    const { points, starts, lead } = this.space;
    this.current = this.id[slot]!;
    const at = this.positionOf[this.current]! * LEAD;
    this.currentLead = lead.subarray(at, at + LEAD);
    this.distances.query.set(row(points, this.current));
    const last = starts[block]! + --this.count[block]!;
    for (const column of [this.id, this.core, this.best, this.source]) column[slot] = column[last]!;
    this.distances.move(block, last - starts[block]!, slot - starts[block]!);
    this.summarise(block);
  }
}
