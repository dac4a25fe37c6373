import asc from 'assemblyscript/asc';

/** As many independent chains of multiplications and of additions, four lanes each: both units of a core stay busy, no memory is touched. */
const CHAINS = 7;
const SOURCE = `
export function spin(count: i32, one: f32): f32 {
  const factor = f32x4.splat(one);
  const term = f32x4.splat(one);
  ${lines((i) => `let c${i} = f32x4.splat(${i}.5), d${i} = f32x4.splat(${i}.25);`)}
  for (let i = 0; i < count; i++) {
    ${lines((i) => `c${i} = f32x4.mul(c${i}, factor); d${i} = f32x4.add(d${i}, term);`)}
  }
  let sum = c0;
  ${lines((i) => (i === 0 ? 'sum = f32x4.add(sum, d0);' : `sum = f32x4.add(sum, f32x4.add(c${i}, d${i}));`))}
  return f32x4.extract_lane(sum, 0);
}`;

/** Most FLOP/s one core reaches with WASM SIMD multiplications and additions (baseline SIMD has no fused form). */
export async function measurePeak(): Promise<number> {
  const files = new Map<string, Uint8Array | string>();
  const { error } = await asc.main(['peak.ts', '--outFile', 'peak.wasm', '-O3', '--runtime', 'stub', '--enable', 'simd'], {
    readFile: (name) => (name === 'peak.ts' ? SOURCE : null),
    writeFile: (name, contents) => {
      files.set(name, contents);
    },
  });
  if (error) throw error;
  const { instance } = await WebAssembly.instantiate(files.get('peak.wasm') as Uint8Array<ArrayBuffer>, {});
  const spin = instance.exports.spin as (count: number, one: number) => number;
  const count = 20_000_000;
  spin(100_000, 1);
  let best = 0;
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    spin(count, 1);
    best = Math.max(best, (count * CHAINS * 8 * 1000) / (performance.now() - began));
  }
  return best;
}

function lines(line: (i: number) => string): string {
  return Array.from({ length: CHAINS }, (_, i) => line(i)).join('\n');
}
