import asc from 'assemblyscript/asc';

/**
 * Independent chains of multiplications and of additions, four lanes each, so that both units of a core stay busy and no memory
 * is touched. Six of each still fit in the 16 registers of x86; with seven V8 keeps some in memory, at less than half the speed.
 */
const CHAINS = 6;
/** A try takes well under a millisecond, less than the time that a busy machine gives a process at once. */
const COUNT = 250_000;
const TRIES = 50;
const SOURCE = `
export function spin(count: i32, one: f32): f32 {
  const ones = f32x4.splat(one);
  ${lines((i) => `let c${i} = f32x4.splat(${i}.5), d${i} = f32x4.splat(${i}.25);`)}
  for (let i = 0; i < count; i++) {
    ${lines((i) => `c${i} = f32x4.mul(c${i}, ones); d${i} = f32x4.add(d${i}, ones);`)}
  }
  let sum = c0;
  ${lines((i) => (i === 0 ? 'sum = f32x4.add(sum, d0);' : `sum = f32x4.add(sum, f32x4.add(c${i}, d${i}));`))}
  return f32x4.extract_lane(sum, 0);
}`;

/**
 * The most FLOP/s that one core reaches with WASM SIMD multiplications and additions (baseline SIMD has no fused form). A busy
 * machine only makes it look slower: measure it again and again amid the work that is compared with it, and take the best.
 */
export class Peak {
  private best = 0;
  private readonly spin: (count: number, one: number) => number;

  private constructor(spin: (count: number, one: number) => number) {
    this.spin = spin;
  }

  /** Compiles the loop and measures it a few times. */
  static async open(): Promise<Peak> {
    const files = new Map<string, Uint8Array | string>();
    const { error } = await asc.main(['peak.ts', '--outFile', 'peak.wasm', '-O3', '--runtime', 'stub', '--enable', 'simd'], {
      readFile: (name) => (name === 'peak.ts' ? SOURCE : null),
      writeFile: (name, contents) => {
        files.set(name, contents);
      },
    });
    if (error) throw error;
    const { instance } = await WebAssembly.instantiate(files.get('peak.wasm') as Uint8Array<ArrayBuffer>, {});
    const peak = new Peak(instance.exports.spin as (count: number, one: number) => number);
    peak.spin(100_000, 1);
    for (let i = 0; i < 5; i++) peak.measure();
    return peak;
  }

  /** FLOP/s, the best so far. */
  get value(): number {
    return this.best;
  }

  /** Many short tries: some of them are not interrupted. */
  measure(): void {
    for (let i = 0; i < TRIES; i++) {
      const began = performance.now();
      this.spin(COUNT, 1);
      this.best = Math.max(this.best, (COUNT * CHAINS * 8 * 1000) / (performance.now() - began));
    }
  }
}

function lines(line: (i: number) => string): string {
  return Array.from({ length: CHAINS }, (_, i) => line(i)).join('\n');
}
