import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { EndpointSettings } from '../models/endpoint/settings.ts';
import { isShipped } from '../models/own/shipped.ts';
import { IMPORTED_SUITE_FIELDS } from '../suites/import/reference.ts';
import { TextualSettings } from '../textual/settings.ts';
import { describeIssue, wellMarked } from './config-issues.ts';

const size = (max: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max));

/** The `model` of a target or critic that is reached at `endpoint`. */
export const ENDPOINT = 'endpoint';

const NO_ENDPOINT = `The model "${ENDPOINT}" needs the field endpoint with its baseUrl.`;

/** Who computes a model: Nacre's own runtime, llama.cpp in WebAssembly (GGUF files), or WebLLM (models in MLC format on WebGPU). */
export const RUNTIMES = ['own', 'llamacpp', 'webllm'] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** Most tokens of prompt and answer together, for runtimes that must know it beforehand. */
const contextLength = v.optional(v.pipe(v.number(), v.integer(), v.minValue(256), v.maxValue(1_048_576)));

/**
 * Which model to use. Nothing here is secret: keys are never part of a configuration.
 *
 * `model` is the id of a shipped model, the name of a model stored in this browser, the id of a listed WebLLM model, the address
 * of a folder in MLC format or of a `.gguf` file, or, on the command line, a path. `endpoint` stands for the server in the field
 * of that name.
 */
const ModelChoice = {
  model: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(2048)), 'nacre-tiny'),
  backend: v.optional(v.picklist(['auto', 'cpu', 'webgpu']), 'auto'),
  /** Absent means `own`. */
  runtime: v.optional(v.picklist(RUNTIMES)),
  contextLength,
  /** An OpenAI-compatible server; used when `model` is `endpoint`. */
  endpoint: v.optional(EndpointSettings),
};

interface Chosen {
  readonly model?: string | undefined;
  readonly runtime?: Runtime | undefined;
  readonly endpoint?: object | undefined;
}

/** Whether a choice says where its endpoint is, if it is one. */
const isReachable = ({ model, endpoint }: Chosen): boolean => model !== ENDPOINT || endpoint !== undefined;

/** Whether the runtime of a choice can run its model, as far as the names tell. */
const isRunnable = ({ model, runtime }: Chosen): boolean =>
  runtime === undefined || (model !== ENDPOINT && (runtime === 'own' || model === undefined || !isShipped(model)));

const NOT_RUNNABLE = 'A server needs no field runtime, and the shipped model runs on "own" only.';

const SPLIT_SIZES = {
  train: v.optional(v.pipe(size(4096), v.minValue(1)), 48),
  val: v.optional(v.pipe(size(4096), v.minValue(1)), 32),
  test: v.optional(size(4096), 160),
  unseen: v.optional(size(4096), 96),
};

/** Tasks to learn from and to be tested on, and how many of each split, stratified by type. */
const SuiteChoice = v.variant('id', [
  v.strictObject({ id: v.literal('household'), ...SPLIT_SIZES }),
  /** A suite that a user brought. The sizes are the most that is taken: a smaller split is taken whole. */
  v.strictObject({
    ...IMPORTED_SUITE_FIELDS,
    ...SPLIT_SIZES,
    /** Most tokens of an answer; absent leaves it to the suite. */
    answerTokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(32_768))),
  }),
]);
export type SuiteChoice = v.InferOutput<typeof SuiteChoice>;

/** One experiment as people write it: the file that `nacre run`, the page's buttons and its links all read. */
export const ExperimentConfig = v.pipe(
  v.strictObject({
    schema: v.literal('nacre.experiment/1'),
    kind: v.literal('textual'),
    name: v.pipe(v.string(), v.minLength(1), v.maxLength(120)),
    seed: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff)), 1),
    suite: SuiteChoice,
    target: v.optional(
      v.pipe(
        v.strictObject(ModelChoice),
        v.check((choice) => isReachable(choice), NO_ENDPOINT),
        v.check((choice) => isRunnable(choice), NOT_RUNNABLE),
      ),
      {},
    ),
    /** Who criticises: the household suite's heuristic analyst (no second model needed), or a model, chosen as the target is. */
    critic: v.optional(
      v.pipe(
        v.strictObject({
          kind: v.optional(v.picklist(['analyst', 'model']), 'analyst'),
          model: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(2048))),
          backend: v.optional(v.picklist(['auto', 'cpu', 'webgpu'])),
          runtime: v.optional(v.picklist(RUNTIMES)),
          contextLength,
          endpoint: v.optional(EndpointSettings),
          /** Most tokens of one critique; small models ramble. Absent takes the loop's own limit. */
          maxTokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(16), v.maxValue(131_072))),
        }),
        v.check(({ kind, model }) => kind === 'analyst' || model !== undefined, 'A critic of kind "model" needs the field model.'),
        v.check((choice) => isReachable(choice), NO_ENDPOINT),
        v.check((choice) => isRunnable(choice), NOT_RUNNABLE),
      ),
      {},
    ),
    initialContext: v.optional(v.pipe(v.string(), v.maxLength(100_000), wellMarked), ''),
    textual: v.optional(TextualSettings, {}),
  }),
  v.forward(
    v.check(
      ({ suite, critic }) => suite.id === 'household' || critic.kind === 'model',
      'The analyst works only for the household suite; choose a model ("kind": "model")',
    ),
    ['critic', 'kind'],
  ),
);
export type ExperimentConfig = v.InferOutput<typeof ExperimentConfig>;
/** A model as a configuration chooses it, for the target or for the critic. */
export type ModelChoice = ExperimentConfig['target'];

/** The model that criticises, or undefined for the analyst. */
export function criticChoice({ critic }: Pick<ExperimentConfig, 'critic'>): ModelChoice | undefined {
  if (critic.kind === 'analyst' || critic.model === undefined) return undefined;
  const { model, backend = 'auto', runtime, contextLength, endpoint } = critic;
  return {
    model,
    backend,
    ...(runtime === undefined ? {} : { runtime }),
    ...(contextLength === undefined ? {} : { contextLength }),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

/** Equal for choices that mean the same loaded model, whatever the order of their fields. */
export function choiceKey({ model, backend, runtime = 'own', contextLength = 0, endpoint }: ModelChoice): string {
  return JSON.stringify(model === ENDPOINT ? [model, endpoint] : [model, backend, runtime, contextLength]);
}

/** Validates a model that was chosen outside of an experiment. @throws {NacreError} `config-invalid`. */
export function parseChoice(input: unknown): ModelChoice {
  const Choice = v.pipe(
    v.strictObject(ModelChoice),
    v.check((choice) => isReachable(choice), NO_ENDPOINT),
    v.check((choice) => isRunnable(choice), NOT_RUNNABLE),
  );
  return parseWith(Choice, input, 'The model');
}

/**
 * Validates an experiment and fills in the defaults.
 * @throws {NacreError} `config-invalid` whose message names each wrong field, what it holds and what would be right.
 */
export function parseConfig(input: unknown): ExperimentConfig {
  return parseWith(ExperimentConfig, input, 'The experiment');
}

/** Validates a part of a configuration likewise. @param what begins the message. */
export function parseWith<T>(schema: v.GenericSchema<unknown, T>, input: unknown, what: string): T {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  const lines = [...new Set(result.issues.map(describeIssue))];
  throw new NacreError(
    'config-invalid',
    `${what} is not valid: ${lines.join('; ')}.`,
    'Correct the named fields; public/examples/textual-quick.json is a complete example.',
  );
}
