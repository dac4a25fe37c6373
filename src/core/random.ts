/**
 * A seeded generator that can be split by key, so that every rollout, shuffle and task draws from a stream of its own and
 * results do not depend on the order in which work is done.
 * Stream: sfc32 (Chris Doty-Humphrey, PractRand); keys are hashed by 32-bit FNV-1a with a murmur3 finaliser.
 */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;
  private readonly key: string;

  /** @param seed any integer; @param key names the stream (splits append to it). */
  constructor(seed: number, key = '') {
    this.key = `${seed}/${key}`;
    this.a = hash32(`a:${this.key}`);
    this.b = hash32(`b:${this.key}`);
    this.c = hash32(`c:${this.key}`);
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /** An independent stream named `key`; does not advance this one. */
  split(key: string | number): Random {
    const child = new Random(0, `${this.key}/${key}`);
    return child;
  }

  uint32(): number {
    const t = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + t;
    this.c |= 0;
    return t >>> 0;
  }

  /** Uniform in [0, 1) with 53 bits. */
  next(): number {
    return ((this.uint32() >>> 5) * 67108864 + (this.uint32() >>> 6)) / 9007199254740992;
  }

  /** Uniform integer in [0, n). @throws {RangeError} unless n ≥ 1. */
  int(n: number): number {
    if (!(n >= 1)) throw new RangeError(`Random.int needs n >= 1, got ${n}`);
    return Math.floor(this.next() * n);
  }

  chance(p: number): boolean {
    return this.next() < p;
  }

  /** A uniformly chosen element. @throws {RangeError} on an empty list. */
  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)] as T;
  }

  /** A shuffled copy (Fisher–Yates). */
  shuffle<T>(items: readonly T[]): T[] {
    const out = items.slice();
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [out[i], out[j]] = [out[j] as T, out[i] as T];
    }
    return out;
  }

  /** Standard normal (Box–Muller). */
  normal(): number {
    const u = 1 - this.next();
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * this.next());
  }
}

/** 32-bit hash of a string: FNV-1a over UTF-16 units, then the murmur3 finaliser. */
export function hash32(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h ^= text.charCodeAt(i);
    h = Math.imul(h, 0x01000193);
  }
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  h ^= h >>> 16;
  return h >>> 0;
}
