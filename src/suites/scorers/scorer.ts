import { NacreError } from '../../core/errors.ts';
import type { Task } from '../../core/types.ts';
import type { ScriptCall, ScriptSandbox } from '../sandbox/types.ts';
import { extractAnswer } from './answer.ts';
import { cellsMatch, readGrid } from './cells.ts';
import { readLabel } from './choice.ts';
import { jsonMatch, readJsonAnswer } from './json.ts';
import { numericMatch, readFinalNumber } from './numeric.ts';
import { PATTERN_SCRIPT, patternFault } from './pattern.ts';
import type { ScorerSpec } from './spec.ts';
import { anls, exactMatch, normalizeAnswer } from './text.ts';
import { questionData, type Score, type Scorer, verdict } from './types.ts';

/** A script's reward at which its answer counts as a success, as for ANLS. */
const SUCCESS_REWARD = 0.999;

/** Gives the sandbox when first needed, so that its code is loaded only then. */
export type OpenSandbox = () => ScriptSandbox | Promise<ScriptSandbox>;

export function needsSandbox(spec: ScorerSpec): boolean {
  return spec.kind === 'javascript' || spec.kind === 'regex';
}

/**
 * The scorer that `spec` describes.
 * @throws {NacreError} `sandbox-missing` when it runs foreign code (`javascript`, `regex`) and no sandbox is given.
 */
export function createScorer(spec: ScorerSpec, openSandbox?: OpenSandbox): Scorer {
  if (!needsSandbox(spec)) return { score: (output, task) => scorePure(spec, output, questionData(task).answers) };
  if (!openSandbox) {
    throw new NacreError('sandbox-missing', `The scorer "${spec.kind}" needs the sandbox, and none was given.`, 'Choose another scorer.');
  }
  return {
    async score(output, task) {
      const sandbox = await openSandbox();
      const { reward, reason } = await sandbox.score(scriptCall(spec, output, task));
      return { success: reward >= SUCCESS_REWARD, reward, ...(reason === undefined ? {} : { reason }) };
    },
  };
}

function scorePure(spec: ScorerSpec, output: string, golds: readonly string[]): Score {
  switch (spec.kind) {
    case 'exact':
      return verdict(exactMatch(extractAnswer(output), golds));
    case 'anls':
      return verdict(anls(extractAnswer(output), golds) >= spec.threshold);
    case 'numeric':
      return verdict(numericMatch(output, golds, spec));
    case 'choice': {
      const label = readLabel(output, spec.labels);
      return verdict(label !== undefined && golds.some((gold) => gold.trim().toLowerCase() === label.toLowerCase()));
    }
    case 'json':
      return verdict(jsonMatch(output, golds));
    case 'cells':
      return verdict(cellsMatch(output, golds));
    default:
      throw new NacreError('sandbox-missing', `The scorer "${spec.kind}" runs in the sandbox only.`, 'Use createScorer.');
  }
}

function scriptCall(spec: ScorerSpec, output: string, task: Task): ScriptCall {
  const { answers, fields } = questionData(task);
  const answer = extractAnswer(output);
  if (spec.kind === 'javascript') {
    const { id, split, type, input } = task;
    return { source: spec.source, input: { answer, output, task: { id, split, type, input, answers, fields } }, timeMs: spec.timeMs };
  }
  const { flags, whole } = spec as Extract<ScorerSpec, { kind: 'regex' }>;
  return { source: PATTERN_SCRIPT, input: { answer, patterns: answers, flags, whole } };
}

/** Why a text cannot be an accepted answer under a scorer, or undefined where it can. */
export function goldFault(spec: ScorerSpec, gold: string): string | undefined {
  switch (spec.kind) {
    case 'exact':
      return normalizeAnswer(gold) === '' ? 'holds no word that exact match could compare' : undefined;
    case 'anls':
      return gold.trim() === '' ? 'is empty' : undefined;
    case 'numeric':
      return readFinalNumber(gold) === undefined ? 'holds no number' : undefined;
    case 'choice':
      return spec.labels.some((label) => label.toLowerCase() === gold.trim().toLowerCase())
        ? undefined
        : `is none of the labels ${spec.labels.join(', ')}`;
    case 'regex':
      return patternFault(gold, spec.flags);
    case 'json':
      return readJsonAnswer(gold) === undefined ? 'is not JSON' : undefined;
    case 'cells':
      return readGrid(gold) === undefined ? 'is not a JSON list of rows of cells' : undefined;
    case 'javascript':
      return undefined;
  }
}
