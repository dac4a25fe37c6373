import type { LoadProgress } from '../../src/transformer/mlc/read.ts';

/** A line on stderr that counts up while a large model is read; silent where stderr is no terminal. */
export function loadProgress(): (progress: LoadProgress) => void {
  let shown = -1;
  return ({ loadedBytes, totalBytes }) => {
    const percent = Math.floor((100 * loadedBytes) / totalBytes);
    if (!process.stderr.isTTY || percent === shown) return;
    shown = percent;
    process.stderr.write(`\rReading the model: ${percent} %${percent === 100 ? '\n' : ''}`);
  };
}
