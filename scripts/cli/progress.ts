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

/** A line on stderr that counts finished units, rewritten in place on a terminal and printed at every tenth part elsewhere. */
export function countProgress(what: string): (done: number, total: number) => void {
  let shown = -1;
  return (done, total) => {
    const step = process.stderr.isTTY ? done : Math.floor((10 * done) / total);
    if (step === shown) return;
    shown = step;
    const line = `${done} of ${total} ${what}`;
    if (process.stderr.isTTY) process.stderr.write(`\r${line}${done === total ? '\n' : ''}`);
    else process.stderr.write(`${line}\n`);
  };
}
