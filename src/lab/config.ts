import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { TextualSettings } from '../textual/settings.ts';

const size = (max: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max));

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
    v.strictObject({
      model: v.optional(v.pipe(v.string(), v.minLength(1)), 'nacre-tiny'),
      backend: v.optional(v.picklist(['auto', 'cpu', 'webgpu']), 'auto'),
    }),
    {},
  ),
  /** Who criticises: the household suite's heuristic analyst (no second model needed). */
  critic: v.optional(v.strictObject({ kind: v.optional(v.literal('analyst'), 'analyst') }), {}),
  initialContext: v.optional(v.pipe(v.string(), v.maxLength(100_000)), ''),
  textual: v.optional(TextualSettings, {}),
});
export type ExperimentConfig = v.InferOutput<typeof ExperimentConfig>;

/**
 * Validates an experiment and fills in the defaults.
 * @throws {NacreError} `config-invalid` whose message names each wrong field, what it holds and what would be right.
 */
export function parseConfig(input: unknown): ExperimentConfig {
  const result = v.safeParse(ExperimentConfig, input);
  if (result.success) return result.output;
  const lines = result.issues.map((issue) => `${v.getDotPath(issue) ?? 'config'}: ${issue.message}`);
  throw new NacreError(
    'config-invalid',
    `The experiment is not valid: ${lines.join('; ')}.`,
    'Correct the named fields; public/examples/textual-quick.json is a complete example.',
  );
}
