import { boundFor, distance, LEAD, type SearchSpace, squaredGap, squaredLead } from './search-space.ts';

/**
 * The points that Prim's algorithm has not reached, each with the best edge from the tree to it so far. They stay in the
 * blocks of the search space. A block is left alone when the point just added cannot improve any edge in it, because that
 * point's core distance or its gap to the block is already too large.
 */
export class Frontier {
  private readonly space: SearchSpace;
  private readonly coreOf: Float64Array;
  // By slot; a block's remaining points fill its first slots.
  private readonly id: Int32Array;
  private readonly core: Float64Array;
  private readonly best: Float64Array;
  private readonly bound: Float64Array;
  private readonly source: Int32Array;
  private readonly lead: Float64Array;
  private readonly placed: Float64Array;
  // By block.
  private readonly count: Int32Array;
  private readonly nearest: Int32Array;
  private readonly improvable: Float64Array;
  private readonly improvableBound: Float64Array;
  // The point added last.
  private current = 0;
  private readonly currentLead = new Float64Array(LEAD);
  private readonly currentPlaced: Float64Array;

  /** Starts with point 0 in the tree. @param core fit core distance a point. */
  constructor(space: SearchSpace, core: Float64Array) {
    const n = space.points.rows;
    const blocks = space.starts.length - 1;
    this.space = space;
    this.coreOf = core;
    this.id = space.order.slice();
    this.core = Float64Array.from(space.order, (point) => core[point]!);
    this.best = new Float64Array(n).fill(Number.POSITIVE_INFINITY);
    this.bound = new Float64Array(n).fill(Number.POSITIVE_INFINITY);
    this.source = new Int32Array(n);
    this.lead = space.lead.slice();
    this.placed = space.placed.slice();
    this.count = Int32Array.from({ length: blocks }, (_, block) => space.starts[block + 1]! - space.starts[block]!);
    this.nearest = new Int32Array(blocks);
    this.improvable = new Float64Array(blocks);
    this.improvableBound = new Float64Array(blocks);
    this.currentPlaced = new Float64Array(space.points.columns);
    for (let block = 0; block < blocks; block++) this.summarise(block);
    const first = this.id.indexOf(0);
    this.take(
      first,
      space.starts.findLastIndex((start) => start <= first),
    );
  }

  /** Lets the point added last improve the edges, then adds the nearest point (lowest number among equals). */
  takeNearest(): { point: number; source: number; distance: number } {
    const { count, improvable, improvableBound, currentLead } = this;
    const { boxes } = this.space;
    const core = this.coreOf[this.current]!;
    let nearest = -1;
    let home = 0;
    for (let block = 0; block < count.length; block++) {
      if (count[block] === 0) continue;
      if (core < improvable[block]! && squaredGap(currentLead, currentLead, boxes, block) <= improvableBound[block]!) {
        this.relax(block, core);
      }
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
    const { best, bound, core, lead, placed, currentLead, currentPlaced } = this;
    const { margin, points, starts } = this.space;
    const { columns: d } = points;
    const from = starts[block]!;
    const to = from + this.count[block]!;
    let improved = false;
    for (let slot = from; slot < to; slot++) {
      const before = best[slot]!;
      if (coreCurrent >= before || core[slot]! >= before) continue;
      if (squaredLead(currentLead, 0, lead, slot * LEAD) > bound[slot]!) continue;
      const mutual = Math.max(coreCurrent, core[slot]!, distance(currentPlaced, 0, placed, slot * d, d));
      if (mutual >= before) continue;
      best[slot] = mutual;
      bound[slot] = boundFor(mutual, margin);
      this.source[slot] = this.current;
      improved = true;
    }
    if (improved) this.summarise(block);
  }

  /** Finds a block's nearest point and its longest edge that could still become shorter. */
  private summarise(block: number): void {
    const { best, core } = this;
    const from = this.space.starts[block]!;
    const to = from + this.count[block]!;
    let nearest = from;
    let longest = Number.NEGATIVE_INFINITY;
    for (let slot = from; slot < to; slot++) {
      if (this.isBefore(slot, nearest)) nearest = slot;
      // An edge as short as its point's own core distance is final.
      if (best[slot]! > core[slot]! && best[slot]! > longest) longest = best[slot]!;
    }
    this.nearest[block] = nearest;
    this.improvable[block] = longest;
    this.improvableBound[block] = longest > 0 ? boundFor(longest, this.space.margin) : 0;
  }

  private isBefore(a: number, b: number): boolean {
    const { best, id } = this;
    return best[a]! < best[b]! || (best[a] === best[b] && id[a]! < id[b]!);
  }

  /** Makes a slot's point the current one and moves its block's last point into the slot. */
  private take(slot: number, block: number): void {
    const d = this.space.points.columns;
    this.current = this.id[slot]!;
    this.currentLead.set(this.lead.subarray(slot * LEAD, (slot + 1) * LEAD));
    this.currentPlaced.set(this.placed.subarray(slot * d, (slot + 1) * d));
    const last = this.space.starts[block]! + --this.count[block]!;
    for (const column of [this.id, this.core, this.best, this.bound, this.source]) column[slot] = column[last]!;
    this.lead.copyWithin(slot * LEAD, last * LEAD, (last + 1) * LEAD);
    this.placed.copyWithin(slot * d, last * d, (last + 1) * d);
    this.summarise(block);
  }
}
