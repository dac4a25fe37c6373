import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { EndpointSettings } from '../models/endpoint/settings.ts';
import { TextualSettings } from '../textual/settings.ts';

const size = (max: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max));

/** The `model` of a target or critic that is reached at `endpoint`. */
export const ENDPOINT = 'endpoint';

const NO_ENDPOINT = `The model "${ENDPOINT}" needs the field endpoint with its baseUrl.`;

/** Which model to use. Nothing here is secret: keys are never part of a configuration. */
const ModelChoice = {
  model: v.optional(v.pipe(v.string(), v.minLength(1)), 'nacre-tiny'),
  backend: v.optional(v.picklist(['auto', 'cpu', 'webgpu']), 'auto'),
  /** An OpenAI-compatible server; used when `model` is `endpoint`. */
  endpoint: v.optional(EndpointSettings),
};

/** Whether a choice says where its endpoint is, if it is one. */
const isReachable = (model: string | undefined, endpoint: object | undefined): boolean => model !== ENDPOINT || endpoint !== undefined;

/** One experiment as people write it: the file that `nacre run`, the page's buttons and its links all read. */
export const ExperimentConfig = v.strictObject({
  schema: v.literal('nacre.experiment/1'),
  kind: v.literal('textual'),
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(120)),
  seed: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff)), 1),
  suite: v.strictObject({
    id: v.literal('household'),
    /** Tasks taken of each split, stratified by type. */
    train: v.optional(v.pipe(size(4096), v.minValue(1)), 48),
    val: v.optional(v.pipe(size(4096), v.minValue(1)), 32),
    test: v.optional(size(4096), 160),
    unseen: v.optional(size(4096), 96),
  }),
  target: v.optional(
    v.pipe(
      v.strictObject(ModelChoice),
      v.check(({ model, endpoint }) => isReachable(model, endpoint), NO_ENDPOINT),
    ),
    {},
  ),
  /** Who criticises: the household suite's heuristic analyst (no second model needed), or a model, chosen as the target is. */
  critic: v.optional(
    v.pipe(
      v.strictObject({
        kind: v.optional(v.picklist(['analyst', 'model']), 'analyst'),
        model: v.optional(v.pipe(v.string(), v.minLength(1))),
        backend: v.optional(v.picklist(['auto', 'cpu', 'webgpu'])),
        endpoint: v.optional(EndpointSettings),
      }),
      v.check(({ kind, model }) => kind === 'analyst' || model !== undefined, 'A critic of kind "model" needs the field model.'),
      v.check(({ model, endpoint }) => isReachable(model, endpoint), NO_ENDPOINT),
    ),
    {},
  ),
  initialContext: v.optional(v.pipe(v.string(), v.maxLength(100_000)), ''),
  textual: v.optional(TextualSettings, {}),
});
export type ExperimentConfig = v.InferOutput<typeof ExperimentConfig>;
/** A model as a configuration chooses it, for the target or for the critic. */
export type ModelChoice = ExperimentConfig['target'];

/** The model that criticises, or undefined for the analyst. */
export function criticChoice({ critic }: Pick<ExperimentConfig, 'critic'>): ModelChoice | undefined {
  if (critic.kind === 'analyst' || critic.model === undefined) return undefined;
  const { model, backend = 'auto', endpoint } = critic;
  return { model, backend, ...(endpoint === undefined ? {} : { endpoint }) };
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
  const lines = result.issues.map((issue) => `${v.getDotPath(issue) ?? 'config'}: ${issue.message.replace(/\.$/, '')}`);
  throw new NacreError(
    'config-invalid',
    `${what} is not valid: ${lines.join('; ')}.`,
    'Correct the named fields; public/examples/textual-quick.json is a complete example.',
  );
}
