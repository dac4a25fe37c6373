import { NacreError } from '../../src/core/errors.ts';
import { SPLITS, type Split, type Suite } from '../../src/core/types.ts';
import { ENDPOINT, type ModelChoice, parseWith } from '../../src/lab/config.ts';
import { type Evaluation, evaluateContext } from '../../src/lab/evaluate.ts';
import { parseSkill } from '../../src/lab/skill.ts';
import { suiteTarget } from '../../src/lab/target.ts';
import { EndpointSettings } from '../../src/models/endpoint/settings.ts';
import { protectedRegions } from '../../src/textual/context.ts';
import { numberOption, type ParsedArgs, seedOption, textOption, usage } from './args.ts';
import { environmentKeys } from './endpoint-keys.ts';
import { readUserText } from './node-files.ts';
import { NodeModels } from './node-models.ts';
import { openSuite } from './node-suites.ts';
import { countProgress } from './progress.ts';

/** `evaluate`: success of one context on the first n tasks of a split. @throws {NacreError} for bad input. */
export async function run(args: ParsedArgs, signal: AbortSignal): Promise<Evaluation> {
  const opened = await openSuite(textOption(args, 'suite') ?? 'household', textOption(args, 'mapping'));
  try {
    return await evaluate(args, opened.suite, signal);
  } finally {
    await opened.close();
  }
}

async function evaluate(args: ParsedArgs, suite: Suite, signal: AbortSignal): Promise<Evaluation> {
  const split = splitOption(args);
  if (suite.splits[split].length === 0) {
    const filled = SPLITS.filter((name) => suite.splits[name].length > 0);
    throw usage(`--split: the suite has no tasks in "${split}".`, `Choose one of: ${filled.join(', ')}.`);
  }
  const n = numberOption(args, 'n', {
    default: Math.min(192, suite.splits[split].length),
    min: 1,
    max: suite.splits[split].length,
    integer: true,
  });
  const temperature = numberOption(args, 'temperature', { default: 0, min: 0, max: 100 });
  const k = numberOption(args, 'k', { default: 1, min: 1, max: 256, integer: true });
  const context = await readContext(textOption(args, 'context'));
  const target = modelOption(args);
  const models = new NodeModels(environmentKeys({ target, critic: { kind: 'analyst' } }, process.env), signal);
  const progress = countProgress('rollouts');
  try {
    return await evaluateContext(
      suiteTarget(suite, () => models.connect(target)),
      {
        suite,
        split,
        n,
        context,
        temperature,
        k,
        seed: seedOption(args),
        signal,
        onProgress: progress,
      },
    );
  } finally {
    await models.close();
  }
}

/** The context in a skill file or plain Markdown, as the experiment's own would be checked. */
async function readContext(file: string | undefined): Promise<string> {
  if (file === undefined) return '';
  const text = await readUserText('context', file);
  try {
    const context = parseSkill(text);
    protectedRegions(context);
    return context;
  } catch (thrown) {
    if (!(thrown instanceof NacreError)) throw thrown;
    throw new NacreError(thrown.code, `--context: "${file}": ${thrown.message}`, thrown.hint, { cause: thrown });
  }
}

/** `--endpoint` reaches a server, whose model `--model` names; else `--model` is one for the own runtime. */
function modelOption(args: ParsedArgs): ModelChoice {
  const model = textOption(args, 'model');
  const baseUrl = textOption(args, 'endpoint');
  if (baseUrl === undefined) {
    const backend = textOption(args, 'backend') === 'webgpu' ? 'webgpu' : 'cpu';
    return { model: model ?? 'nacre-tiny', backend };
  }
  const parallel = numberOption(args, 'parallel', { default: 8, min: 1, max: 1024, integer: true });
  return {
    model: ENDPOINT,
    backend: 'auto',
    endpoint: parseWith(EndpointSettings, { baseUrl, model: model ?? '', parallel }, '--endpoint'),
  };
}

function splitOption(args: ParsedArgs): Split {
  const given = textOption(args, 'split') ?? 'test';
  const split = SPLITS.find((name) => name === given);
  if (split === undefined) throw usage(`--split cannot be "${given}".`, `Choose one of: ${SPLITS.join(', ')}.`);
  return split;
}
