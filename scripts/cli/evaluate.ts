import { SPLITS, type Split } from '../../src/core/types.ts';
import { type Evaluation, evaluateContext } from '../../src/lab/evaluate.ts';
import { parseSkill } from '../../src/lab/skill.ts';
import { suiteTarget } from '../../src/lab/target.ts';
import { createSuite } from '../../src/suites/registry.ts';
import { numberOption, type ParsedArgs, seedOption, textOption, usage } from './args.ts';
import { readUserFile } from './node-files.ts';
import { connectCpuPolicy, connectGpuPolicy } from './node-models.ts';
import { countProgress } from './progress.ts';

/** `evaluate`: success of one context on the first n tasks of a split. @throws {NacreError} for bad input. */
export async function run(args: ParsedArgs, signal: AbortSignal): Promise<Evaluation> {
  const suite = createSuite(textOption(args, 'suite') ?? 'household');
  const split = splitOption(args);
  const n = numberOption(args, 'n', {
    default: Math.min(192, suite.splits[split].length),
    min: 1,
    max: suite.splits[split].length,
    integer: true,
  });
  const temperature = numberOption(args, 'temperature', { default: 0, min: 0, max: 100 });
  const k = numberOption(args, 'k', { default: 1, min: 1, max: 256, integer: true });
  const file = textOption(args, 'context');
  const context =
    file === undefined ? '' : parseSkill(new TextDecoder('utf-8', { fatal: true }).decode(await readUserFile('context', file)));
  const model = textOption(args, 'model') ?? 'nacre-tiny';
  const { policy, close } = await (textOption(args, 'backend') === 'webgpu' ? connectGpuPolicy(model, signal) : connectCpuPolicy(model));
  const progress = countProgress('rollouts');
  try {
    const target = suiteTarget(suite, async () => policy);
    return await evaluateContext(target, {
      suite,
      split,
      n,
      context,
      temperature,
      k,
      seed: seedOption(args),
      signal,
      onProgress: progress,
    });
  } finally {
    await close();
  }
}

function splitOption(args: ParsedArgs): Split {
  const given = textOption(args, 'split') ?? 'test';
  const split = SPLITS.find((name) => name === given);
  if (split === undefined) throw usage(`--split cannot be "${given}".`, `Choose one of: ${SPLITS.join(', ')}.`);
  return split;
}
