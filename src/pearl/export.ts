import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import type { Journal } from '../core/journal.ts';
import type { Task } from '../core/types.ts';
import { tokenAdvantages } from './batch.ts';
import { unpackFloats } from './floats.ts';
import { multipliersOf } from './shaping.ts';
import { type AdvantageLine, type BankPoint, type Banks, OUTCOMES, type Trajectory, type UpdateUnit } from './types.ts';

/**
 * Per-token advantages of one update, a line a sampled token (`AdvantageLine`). Turns that a branch shares with its parent are
 * listed for each trajectory, as each trains its own copy; together the lines of a journal are a JSON Lines file.
 */
export function advantageLines(unit: UpdateUnit, trajectories: readonly Trajectory[]): AdvantageLine[] {
  return trajectories.flatMap((trajectory) => {
    const multipliers = multipliersOf(unit.shaped, trajectory.id);
    const shaped = tokenAdvantages(trajectory, unit);
    return trajectory.turns.flatMap(({ tokens, pieces }, turn) =>
      tokens.ids.map(
        (id, token): AdvantageLine => ({
          update: unit.record.update,
          task: trajectory.taskId,
          trajectory: trajectory.id,
          parent: trajectory.parentId ?? null,
          branchTurn: trajectory.branchTurn ?? null,
          reward: trajectory.reward,
          turn,
          token,
          id,
          text: pieces[token] ?? '',
          logprob: tokens.logprobs[token]!,
          entropy: tokens.entropies[token]!,
          advantage: unit.advantages[trajectory.id]?.[turn] ?? 0,
          multiplier: multipliers.get(`${turn}/${token}`) ?? 1,
          shaped: shaped[turn]![token]!,
        }),
      ),
    );
  });
}

/** The advantages of every update that a journal holds, as lines of JSON, update by update. */
export async function* advantageExport(journal: Journal, updates: number): AsyncGenerator<string> {
  for (let update = 1; update <= updates; update++) {
    const unit = await journal.peek<UpdateUnit>(`update ${update}`);
    if (!unit) return;
    const forests = await Promise.all(
      unit.record.taskIds.map((id: Task['id']) => journal.peek<readonly Trajectory[]>(`update ${update}/forest/${id}`)),
    );
    for (const line of advantageLines(
      unit,
      forests.flatMap((forest) => forest ?? []),
    ))
      yield `${JSON.stringify(line)}\n`;
  }
}

const integer = (description: string) => ({ type: 'integer', minimum: 0, description });
const text = (description: string) => ({ type: 'string', description });
const number = (description: string) => ({ type: 'number', description });

/** JSON Schema of a line of the advantages' export. */
export const ADVANTAGE_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'One sampled token of a PEARL run and the credit it was given (nacre.advantages/1)',
  type: 'object',
  additionalProperties: false,
  properties: {
    update: integer('Update, from 1.'),
    task: text('Id of the task.'),
    trajectory: text('Id of the trajectory that trains on the token; a branch repeats the tokens it shares with its parent.'),
    parent: { type: ['string', 'null'], description: 'Trajectory it branched from; null when it started at the beginning.' },
    branchTurn: { type: ['integer', 'null'], description: 'First turn that the branch sampled itself.' },
    reward: number('Reward of the trajectory.'),
    turn: integer('Turn, from 0.'),
    token: integer('Place within the action, from 0; the last is the end token.'),
    id: integer('Token id.'),
    text: text("The vocabulary's text of the token."),
    logprob: number('Natural-log probability under the policy that sampled it.'),
    entropy: number('Entropy (nats) of the distribution it was sampled from.'),
    advantage: number('Advantage of the base optimiser.'),
    multiplier: number('exp(ρ/T_s) where the token was shaped (PEARL eq. 6), else 1.'),
    shaped: number('advantage · multiplier: what the loss uses.'),
  } satisfies Record<keyof AdvantageLine, object>,
  required: [
    'update',
    'task',
    'trajectory',
    'parent',
    'branchTurn',
    'reward',
    'turn',
    'token',
    'id',
    'text',
    'logprob',
    'entropy',
    'advantage',
    'multiplier',
    'shaped',
  ],
} as const;

const real = v.pipe(v.number(), v.finite());
const whole = v.pipe(v.number(), v.integer(), v.minValue(0));

const StoredPoint = v.strictObject({
  id: v.string(),
  outcome: v.picklist(OUTCOMES),
  update: whole,
  taskId: v.string(),
  trajectoryId: v.string(),
  pairId: v.string(),
  turn: whole,
  token: whole,
  tokenText: v.string(),
  taskInput: v.string(),
  observation: v.string(),
  action: v.string(),
  reply: v.string(),
  finish: v.string(),
  reward: real,
});

const StoredBanks = v.strictObject({
  schema: v.literal('nacre.banks/1'),
  /** Numbers in a feature. */
  dimension: whole,
  failure: v.array(StoredPoint),
  success: v.array(StoredPoint),
});

/** Both banks as two files: the points as JSON, and their features as float64, failure first, row after row, little-endian. */
export interface BankFiles {
  readonly json: string;
  readonly features: Uint8Array;
}

export function exportBanks(banks: Banks): BankFiles {
  const points = [...banks.failure, ...banks.success];
  const dimension = points[0]?.feature.length ?? 0;
  const bare = ({ feature: _, ...point }: BankPoint) => point;
  const document = { schema: 'nacre.banks/1', dimension, failure: banks.failure.map(bare), success: banks.success.map(bare) };
  const features = new Uint8Array(points.length * dimension * 8);
  const view = new DataView(features.buffer);
  points.forEach(({ feature }, row) => {
    feature.forEach((value, column) => {
      view.setFloat64(8 * (row * dimension + column), value, true);
    });
  });
  return { json: JSON.stringify(document, null, 1), features };
}

/**
 * Reads exported banks.
 * @param expected numbers a feature must have, to be used with a certain model and kind of feature.
 * @throws {NacreError} `banks-invalid` naming the file, and the field or point at fault.
 */
export function importBanks({ json, features }: BankFiles, expected?: number): Banks {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (cause) {
    throw invalid(`banks.json is not JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
  const result = v.safeParse(StoredBanks, parsed);
  if (!result.success) {
    throw invalid(result.issues.map((issue) => `banks.json: ${v.getDotPath(issue) ?? 'document'}: ${issue.message}`).join('; '));
  }
  const { dimension, failure, success } = result.output;
  if (expected !== undefined && failure.length + success.length > 0 && dimension !== expected) {
    throw invalid(`banks.json: dimension is ${dimension}, but features of this model have ${expected} numbers`);
  }
  const rows = failure.length + success.length;
  if (features.length !== rows * dimension * 8) {
    throw invalid(`banks.bin holds ${features.length} bytes; ${rows} points of ${dimension} numbers take ${rows * dimension * 8}`);
  }
  const view = new DataView(features.buffer, features.byteOffset, features.byteLength);
  const point = (stored: v.InferOutput<typeof StoredPoint>, row: number): BankPoint => ({
    ...stored,
    feature: Array.from({ length: dimension }, (_, column) => {
      const value = view.getFloat64(8 * (row * dimension + column), true);
      if (Number.isFinite(value)) return value;
      throw invalid(`banks.bin: number ${column} of the feature of point ${row} ("${stored.id}") is ${value}`);
    }),
  });
  return {
    failure: failure.map((stored, i) => point(stored, i)),
    success: success.map((stored, i) => point(stored, failure.length + i)),
  };
}

/** The trained weights that a journal holds, flat in parameter order; undefined when it holds none. @throws {NacreError} `bad-floats` */
export async function trainedWeights(
  journal: Journal,
): Promise<{ readonly update: number; readonly parameters: Float32Array } | undefined> {
  const stored = await journal.peek<{ readonly update: number; readonly parameters: string }>('weights');
  return stored && { update: stored.update, parameters: unpackFloats(stored.parameters, 'Stored weights') };
}

function invalid(what: string): NacreError {
  return new NacreError('banks-invalid', `The banks cannot be used: ${what}.`, 'Export them again from the run they belong to.');
}
