import { NacreError } from '../../core/errors.ts';

/** The name under which a script appears in its own stack traces. */
export const SCRIPT_NAME = 'scorer.js';

/** Memory of the engine with everything in it; it starts with 16 MiB. */
export const MEMORY_BYTES = 64 * 1024 * 1024;

const MAX_TEXT = 300;

export function timeoutFault(timeMs: number): NacreError {
  return new NacreError(
    'scorer-timeout',
    `The scorer was stopped: it did not finish within ${timeMs} ms.`,
    'Look for an endless loop or a regular expression that backtracks; the time limit is a setting of the scorer.',
  );
}

export function memoryFault(): NacreError {
  return new NacreError(
    'scorer-memory',
    `The scorer was stopped: it needed more than ${MEMORY_BYTES / 1024 / 1024} MiB of memory.`,
    'Look for a list or text that grows without end.',
  );
}

export function badResult(problem: string): NacreError {
  return new NacreError(
    'scorer-bad-result',
    `The scorer returned ${problem}.`,
    'Return true or false, a number from 0 to 1, or {reward, reason} with such a reward and a text.',
  );
}

export function scriptFault(problem: string): NacreError {
  return new NacreError('scorer-error', `The scorer failed: ${problem}.`, 'Correct the script and try it on a few answers.');
}

/** The fault that a value thrown by a script stands for. It was made by foreign code: nothing in it is trusted. */
export function thrownFault(thrown: unknown): NacreError {
  if (typeof thrown !== 'object' || thrown === null) return scriptFault(`it threw ${clip(String(thrown))}`);
  const { name, message, stack } = thrown as { name?: unknown; message?: unknown; stack?: unknown };
  const text = typeof message === 'string' ? clip(message) : 'it threw a value that is no error';
  if (name === 'InternalError' && (text === 'out of memory' || text === 'string too long')) return memoryFault();
  const line =
    typeof stack === 'string' ? new RegExp(`${SCRIPT_NAME.replace('.', '\\.')}:(\\d{1,6})`).exec(stack.slice(0, 10_000))?.[1] : undefined;
  return scriptFault(`${line === undefined ? '' : `line ${line}: `}${typeof name === 'string' ? `${clip(name)}: ` : ''}${text}`);
}

/** Foreign text at a length that can be shown. */
export function clip(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
