import { NacreError, toPlainError } from '../../src/core/errors.ts';
import { helpText, type ParsedArgs, parseArgs, usage } from './args.ts';
import { readableError } from './system-error.ts';

/** Codes of failures that are the program's or the machine's; every other NacreError is bad input. */
const FAILURES: ReadonlySet<string> = new Set([
  'unexpected',
  'device-lost',
  'gpu-out-of-memory',
  'gpu-validation',
  'webgpu-unavailable',
  'worker-failed',
  'worker-closed',
  'unit-missing',
  'cancelled',
  'browser-missing',
  'download-failed',
  'non-finite-logits',
  'gradient-not-finite',
  'endpoint-unreachable',
  'endpoint-server',
  'endpoint-timeout',
  'endpoint-stream-cut',
  'endpoint-malformed',
  'endpoint-rate-limited',
  'critic-failed',
  'rollout-failed',
  'machine-fault',
  'model-down',
]);

interface Command {
  run(args: ParsedArgs, signal: AbortSignal): Promise<unknown>;
}

/** Each command's code is read only when it is asked for. */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = {
  run: () => import('./run.ts'),
  evaluate: () => import('./evaluate.ts'),
  generate: () => import('./generate.ts'),
  probe: () => import('./probe.ts'),
  convert: () => import('./convert.ts'),
  cluster: () => import('./cluster.ts'),
  routes: () => import('./routes.ts'),
  'train-tiny': () => import('./train-tiny.ts'),
  bench: () => import('./bench.ts'),
};

/** Runs one command line; returns the exit code (0 done, 1 failed, 2 bad input). */
async function main(argv: readonly string[]): Promise<number> {
  const abort = new AbortController();
  stopOnRequest(abort);
  try {
    const args = readArgs(argv);
    if (args === undefined) return 0;
    const loader = LOADERS[args.command];
    if (!loader) throw usage(`The command ${args.command} is not part of this version.`, `Commands: ${Object.keys(LOADERS).join(', ')}.`);
    const command = await loader();
    const result = await command.run(args, abort.signal);
    await write(args.options.json === true ? JSON.stringify(result) : describe(result));
    return 0;
  } catch (thrown) {
    const reason: unknown = abort.signal.aborted ? abort.signal.reason : readableError(thrown);
    const { code, message, hint } = toPlainError(reason);
    process.stderr.write(`nacre: ${message}\n       ${hint}\n`);
    if (code === 'unexpected' && thrown instanceof Error) process.stderr.write(`${thrown.stack}\n`);
    return FAILURES.has(code) ? 1 : 2;
  }
}

/** A second request within this time is the same one: a terminal's Ctrl-C reaches this process twice, directly and passed on. */
const SAME_REQUEST_MS = 1000;

/** Stops cleanly at the first request to end, at once at another; and when the process that started this one is gone. */
function stopOnRequest(abort: AbortController): void {
  let first: number | undefined;
  const stop = (): void => {
    if (first !== undefined) {
      if (performance.now() - first > SAME_REQUEST_MS) process.exit(1);
      return;
    }
    first = performance.now();
    process.stderr.write('\nStopping (what is finished is kept) …\n');
    abort.abort(new NacreError('cancelled', 'Stopped on request.', 'Give the same command again to go on.'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  process.on('disconnect', stop);
}

function readArgs(argv: readonly string[]): ParsedArgs | undefined {
  const [first] = argv;
  if (first === undefined || first === '--help' || first === 'help') {
    process.stdout.write(`${helpText()}\n`);
    return undefined;
  }
  const args = parseArgs(argv);
  if (args.options.help === true) {
    process.stdout.write(`${helpText(args.command)}\n`);
    return undefined;
  }
  return args;
}

/** For people: text as it is, anything else as indented JSON. */
function describe(result: unknown): string {
  if (typeof result === 'object' && result !== null && 'text' in result && typeof result.text === 'string') return result.text;
  return JSON.stringify(result, null, 2);
}

/** Resolves when stdout has taken everything: a pipe may be slow, and exiting early would cut the document. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve())));
}

if (process.env.NACRE_CWD) process.chdir(process.env.NACRE_CWD);
process.exit(await main(process.argv.slice(2)));
