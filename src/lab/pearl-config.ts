import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { PearlSettings } from '../pearl/settings.ts';
import { parseWith } from './config.ts';

const size = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(4096));
const seed = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff));

/** One arm of a study: the experiment's settings with these on top. */
const Variant = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(60)),
  pearl: v.optional(v.record(v.string(), v.unknown()), {}),
});

/** A PEARL experiment as people write it; with `study`, the same experiment for several seeds and variants. */
export const PearlConfig = v.strictObject({
  schema: v.literal('nacre.experiment/1'),
  kind: v.literal('pearl'),
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(120)),
  seed: v.optional(seed, 1),
  suite: v.strictObject({
    id: v.literal('household'),
    /** Tasks taken of each split, stratified by type: train to learn from, val to watch, test and unseen to report. */
    train: v.optional(v.pipe(size, v.minValue(1)), 192),
    val: v.optional(size, 192),
    test: v.optional(size, 0),
    unseen: v.optional(size, 0),
  }),
  /** The policy: a model of the own runtime, whose weights are trained. */
  target: v.optional(
    v.strictObject({
      model: v.optional(v.pipe(v.string(), v.minLength(1)), 'nacre-tiny'),
      backend: v.optional(v.picklist(['auto', 'cpu', 'webgpu']), 'auto'),
    }),
    {},
  ),
  /** System text of every rollout. */
  context: v.optional(v.pipe(v.string(), v.maxLength(100_000)), ''),
  pearl: v.optional(PearlSettings, {}),
  study: v.optional(
    v.strictObject({
      seeds: v.pipe(v.array(seed), v.minLength(1), v.maxLength(32)),
      /** The arm that the others are compared with. */
      reference: v.pipe(v.string(), v.minLength(1)),
      variants: v.pipe(v.array(Variant), v.minLength(1), v.maxLength(32)),
    }),
  ),
});
export type PearlConfig = v.InferOutput<typeof PearlConfig>;

export interface StudyArm {
  readonly name: string;
  readonly settings: PearlSettings;
}

/**
 * Validates a PEARL experiment and fills in the defaults.
 * @throws {NacreError} `config-invalid` whose message names each wrong field.
 */
export function parsePearlConfig(input: unknown): PearlConfig {
  const config = parseWith(PearlConfig, input, 'The experiment');
  if (config.study) {
    const names = studyArms(config).map(({ name }) => name);
    const wrong = names.find((name, i) => names.indexOf(name) !== i);
    if (wrong !== undefined) throw badStudy(`study.variants: two are called "${wrong}"`, 'Give each variant a name of its own.');
    const { reference } = config.study;
    if (!names.includes(reference))
      throw badStudy(`study.reference: no variant is called "${reference}"`, `Choose one of: ${names.join(', ')}.`);
  }
  return config;
}

/** The settings of every arm of a study. @throws {NacreError} `config-invalid` naming the arm and field. */
export function studyArms({ pearl, study }: PearlConfig): StudyArm[] {
  return (study?.variants ?? []).map(({ name, pearl: changes }, i) => ({
    name,
    settings: parseWith(PearlSettings, merged(pearl, changes), `study.variants.${i}.pearl ("${name}")`),
  }));
}

/** Changes one level down take the place of single fields; everything else is replaced. */
function merged(base: object, changes: Readonly<Record<string, unknown>>): object {
  const out: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const before = out[key];
    out[key] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
  }
  return out;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function badStudy(what: string, hint: string): NacreError {
  return new NacreError('config-invalid', `The experiment is not valid: ${what}.`, hint);
}
