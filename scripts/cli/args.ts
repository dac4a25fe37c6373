import { NacreError } from '../../src/core/errors.ts';

export interface ParsedArgs {
  readonly command: string;
  readonly positional: readonly string[];
  readonly options: Readonly<Record<string, string | true | string[]>>;
}

interface OptionSpec {
  /** `text` takes one value, `list` may be given again, `flag` takes none. */
  readonly kind: 'text' | 'list' | 'flag';
  readonly help: string;
  readonly choices?: readonly string[];
}

export interface CommandSpec {
  readonly summary: string;
  /** Names of the arguments, in order; all are needed. */
  readonly positional: readonly string[];
  readonly options: Readonly<Record<string, OptionSpec>>;
}

const text = (help: string, choices?: readonly string[]): OptionSpec => ({
  kind: 'text',
  help,
  ...(choices === undefined ? {} : { choices }),
});
const flag = (help: string): OptionSpec => ({ kind: 'flag', help });

const COMMON = {
  json: flag('print exactly one JSON document'),
  help: flag('explain the command'),
};
const SEED = { seed: text('whole number that fixes all random choices (default 0)') };
const BACKEND = { backend: text('where to compute (default cpu)', ['cpu', 'webgpu']) };
const MODEL = { model: text('nacre-tiny, the folder of a model in MLC format, or a .gguf file (default nacre-tiny)') };

/** Every command with its arguments and options. */
export const COMMANDS: Readonly<Record<string, CommandSpec>> = {
  run: {
    summary: 'run a whole experiment; the same folder resumes it',
    positional: ['CONFIG.json'],
    options: {
      out: text('folder for the result and the journal'),
      model: text("instead of the experiment's target: nacre-tiny, the folder of a model in MLC format, or a .gguf file"),
      endpoint: text('instead of the target, the base URL of an OpenAI-compatible server; --model is then its name there'),
      suite: text("instead of the experiment's suite, as for evaluate; an imported suite NAME is else looked for as NAME.suite.json"),
      mapping: text('JSON file that says which columns of a table are the question and the answer'),
      ...SEED,
      ...BACKEND,
      ...COMMON,
    },
  },
  evaluate: {
    summary: 'measure the success of one context',
    positional: [],
    options: {
      ...MODEL,
      endpoint: text(
        'base URL of an OpenAI-compatible server, e.g. http://127.0.0.1:8000/v1; --model is then its name there, NACRE_API_KEY its key',
      ),
      parallel: text('most requests open at an endpoint (default 8)'),
      suite: text('household, or a file: a suite, HotpotQA or GSM8K data, or a CSV, TSV, JSON or JSONL table (default household)'),
      mapping: text('JSON file that says which columns of a table are the question and the answer'),
      split: text('which part of it (default test)', ['train', 'val', 'test', 'unseen']),
      n: text('how many tasks'),
      context: text('file with the context the model reads'),
      temperature: text('sampling temperature (default 0)'),
      k: text('rollouts a task (default 1)'),
      ...SEED,
      ...BACKEND,
      ...COMMON,
    },
  },
  generate: {
    summary: 'text from the own runtime',
    positional: [],
    options: {
      ...MODEL,
      prompt: text('text to go on from'),
      messages: text('JSON file with a list of {role, content}'),
      ids: text('token ids to go on from, e.g. 1,2,3'),
      'max-tokens': text('most tokens to generate (default 256)'),
      temperature: text('0 takes the likeliest token (default 0)'),
      'top-p': text('nucleus mass in (0, 1] (default 1)'),
      ...SEED,
      ...BACKEND,
      ...COMMON,
    },
  },
  probe: {
    summary: 'layer logits of chosen tokens at chosen positions',
    positional: [],
    options: {
      ...MODEL,
      ids: text('token ids the model reads, e.g. 1,2,3'),
      at: text('POSITION:TOKEN pairs, e.g. 5:504,6:60; positions count from 0'),
      ...BACKEND,
      ...COMMON,
    },
  },
  convert: {
    summary: 'write a model in MLC format or as safetensors',
    positional: [],
    options: {
      from: text('a .gguf file, a llama2.c .bin file or the folder of a model in MLC format'),
      to: text('folder to write'),
      quantization: text('how to store the weights (default q0f16)', ['q0f16', 'q0f32', 'q4f16_1', 'q4f32_1', 'safetensors']),
      tokenizer: text('tokenizer file of a llama2.c checkpoint (default: looked for beside it)'),
      ...COMMON,
    },
  },
  cluster: {
    summary: 'HDBSCAN of the points in a file',
    positional: ['FILE.json'],
    options: {
      'min-cluster-size': text('smallest cluster (default 10)'),
      'min-samples': text('neighbours that make a point dense (default 5)'),
      ...COMMON,
    },
  },
  routes: { summary: 'routes and duplicates of recorded trajectories', positional: ['FILE'], options: COMMON },
  play: {
    summary: 'play one household game',
    positional: ['GAME.tw-pddl'],
    options: { commands: text('file with one command a line (default: interactive)'), ...COMMON },
  },
  'train-tiny': {
    summary: 'train the shipped model',
    positional: [],
    options: { out: text('folder to write'), tokens: text('how many tokens to train on'), ...SEED, ...COMMON },
  },
  bench: {
    summary: 'ratios against other implementations in the same run',
    positional: [],
    options: { only: text('one benchmark'), ...COMMON },
  },
};

/**
 * Reads a command line strictly.
 * @throws {NacreError} `bad-usage` naming the command, option or argument at fault and what would be right.
 */
export function parseArgs(argv: readonly string[], commands: Readonly<Record<string, CommandSpec>> = COMMANDS): ParsedArgs {
  const [command, ...rest] = commandFirst(argv);
  if (command === undefined) throw usage('No command was given.', `Commands: ${Object.keys(commands).join(', ')}.`);
  if (!Object.hasOwn(commands, command)) {
    throw usage(
      `Unknown command "${command}".`,
      didYouMean(command, Object.keys(commands)) ?? `Commands: ${Object.keys(commands).join(', ')}.`,
    );
  }
  const spec = commands[command];
  const positional: string[] = [];
  const options: Record<string, string | true | string[]> = {};
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i];
    if (!word.startsWith('--')) {
      positional.push(word);
      continue;
    }
    const [name, inline] = splitOption(word);
    const option = Object.hasOwn(spec.options, name) ? spec.options[name] : undefined;
    if (option === undefined) {
      const names = Object.keys(spec.options).map((known) => `--${known}`);
      throw usage(`${command} has no option --${name}.`, didYouMean(`--${name}`, names) ?? `Options of ${command}: ${names.join(', ')}.`);
    }
    if (option.kind === 'flag') {
      if (inline !== undefined) throw usage(`--${name} takes no value, got "${inline}".`, `Write --${name} alone.`);
      options[name] = true;
      continue;
    }
    const value = inline ?? rest[++i];
    if (value === undefined || (inline === undefined && value.startsWith('--')))
      throw usage(`--${name} needs a value.`, `--${name}: ${option.help}.`);
    if (option.choices !== undefined && !option.choices.includes(value)) {
      throw usage(`--${name} cannot be "${value}".`, `Choose one of: ${option.choices.join(', ')}.`);
    }
    if (option.kind === 'list') options[name] = [...((options[name] as string[] | undefined) ?? []), value];
    else if (options[name] !== undefined) throw usage(`--${name} was given twice.`, 'Give it once.');
    else options[name] = value;
  }
  if (options.help !== true) checkPositional(command, spec, positional);
  return { command, positional, options };
}

/** The help of one command, or of all. */
export function helpText(command?: string): string {
  if (command === undefined) {
    const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
    return [
      'nacre COMMAND [options]',
      '',
      ...Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`),
    ].join('\n');
  }
  const { summary, positional, options } = COMMANDS[command];
  const lines = Object.entries(options).map(([name, { kind, help, choices }]) => {
    const values = choices === undefined ? '' : `: ${choices.join(', ')}`;
    return `  ${`--${name}${kind === 'flag' ? '' : ' …'}`.padEnd(22)}${help}${values}`;
  });
  return [`nacre ${[command, ...positional].join(' ')} [options]`, summary, '', ...lines].join('\n');
}

export function textOption(args: ParsedArgs, name: string): string | undefined {
  const value = args.options[name];
  return typeof value === 'string' ? value : undefined;
}

/** @throws {NacreError} `bad-usage` when the option is absent. */
export function requiredOption(args: ParsedArgs, name: string): string {
  const value = textOption(args, name);
  if (value === undefined)
    throw usage(`${args.command} needs --${name}.`, `--${name}: ${COMMANDS[args.command]?.options[name]?.help ?? 'give a value'}.`);
  return value;
}

export interface NumberRange {
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly integer?: boolean;
}

/** A number option within its range. @throws {NacreError} `bad-usage` naming the option and the range. */
export function numberOption(args: ParsedArgs, name: string, range: NumberRange): number {
  const given = textOption(args, name);
  if (given === undefined) return range.default;
  const value = given.trim() === '' ? Number.NaN : Number(given);
  const kind = range.integer === true ? 'a whole number' : 'a number';
  if (!Number.isFinite(value) || (range.integer === true && !Number.isSafeInteger(value)) || value < range.min || value > range.max) {
    const limits = Number.isFinite(range.max) ? `from ${range.min} to ${range.max}` : `of at least ${range.min}`;
    throw usage(`--${name} is "${given}".`, `Give ${kind} ${limits}.`);
  }
  return value;
}

/** A seed: any whole number that float64 holds exactly. */
export function seedOption(args: ParsedArgs): number {
  return numberOption(args, 'seed', { default: 0, min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, integer: true });
}

/** Token ids such as `1,2,3`. @throws {NacreError} `bad-usage` naming the part that is no id. */
export function idList(option: string, value: string): number[] {
  return value.split(',').map((part) => wholeNumber(option, part, 'token ids, e.g. 1,2,3'));
}

/** A whole number from 0 on, one part of an option's value. @throws {NacreError} `bad-usage`. */
export function wholeNumber(option: string, part: string, wanted: string): number {
  const clean = part.trim();
  const value = Number(clean);
  if (!/^\d+$/.test(clean) || !Number.isSafeInteger(value)) throw usage(`--${option} holds "${part}".`, `Give ${wanted}.`);
  return value;
}

export function usage(message: string, hint: string): NacreError {
  return new NacreError('bad-usage', message, hint);
}

function checkPositional(command: string, spec: CommandSpec, positional: readonly string[]): void {
  const missing = spec.positional[positional.length];
  if (missing !== undefined) throw usage(`${command} needs ${missing}.`, `nacre ${[command, ...spec.positional].join(' ')}`);
  const extra = positional[spec.positional.length];
  if (extra !== undefined)
    throw usage(`${command} has no use for "${extra}".`, `nacre ${[command, ...spec.positional].join(' ')} [options]`);
}

/** The words with the command in front, wherever it stands: options may come before it. */
function commandFirst(argv: readonly string[]): readonly string[] {
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i];
    if (!word.startsWith('--')) return [word, ...argv.slice(0, i), ...argv.slice(i + 1)];
    const [name, inline] = splitOption(word);
    if (inline === undefined && takesValue(name)) i++;
  }
  return [];
}

/** Whether an option is followed by its value; a name means the same in every command. */
function takesValue(name: string): boolean {
  return Object.values(COMMANDS).some(({ options }) => Object.hasOwn(options, name) && options[name].kind !== 'flag');
}

function splitOption(word: string): [name: string, value: string | undefined] {
  const equals = word.indexOf('=');
  return equals < 0 ? [word.slice(2), undefined] : [word.slice(2, equals), word.slice(equals + 1)];
}

function didYouMean(word: string, known: readonly string[]): string | undefined {
  const [best] = known.map((candidate) => ({ candidate, distance: editDistance(word, candidate) })).sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= 2 ? `Did you mean ${best.candidate}?` : undefined;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}
