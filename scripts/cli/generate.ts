import * as v from 'valibot';
import type { Message } from '../../src/core/types.ts';
import type { GenerateRequest, GenerateResult, Prompt } from '../../src/models/own/commands.ts';
import { parseJson, validate } from '../../src/transformer/json.ts';
import { idList, numberOption, type ParsedArgs, seedOption, textOption, usage } from './args.ts';
import { runModelTask } from './model-task.ts';
import { readUserText } from './node-files.ts';

const MESSAGES = v.pipe(
  v.array(
    v.looseObject({
      role: v.picklist(['system', 'user', 'assistant'], 'must be "system", "user" or "assistant"'),
      content: v.string(),
    }),
    'must be a list of {role, content}',
  ),
  v.minLength(1, 'must hold at least one message'),
);

/** `generate`: text from the own runtime. @throws {NacreError} for bad input. */
export async function run(args: ParsedArgs, signal?: AbortSignal): Promise<GenerateResult> {
  return (await runModelTask(args, { command: 'generate', request: await generateRequest(args) }, signal)) as GenerateResult;
}

/** The request that the options describe; reads the messages file. @throws {NacreError} `bad-usage` and others. */
export async function generateRequest(args: ParsedArgs): Promise<GenerateRequest> {
  return {
    prompt: await readPrompt(args),
    maxTokens: numberOption(args, 'max-tokens', { default: 256, min: 1, max: 1e6, integer: true }),
    temperature: numberOption(args, 'temperature', { default: 0, min: 0, max: 100 }),
    topP: topP(args),
    seed: seedOption(args),
  };
}

function topP(args: ParsedArgs): number {
  const value = numberOption(args, 'top-p', { default: 1, min: 0, max: 1 });
  if (value === 0) throw usage('--top-p is 0.', 'Give a number above 0, up to 1.');
  return value;
}

async function readPrompt(args: ParsedArgs): Promise<Prompt> {
  const given = ['prompt', 'messages', 'ids'].filter((name) => textOption(args, name) !== undefined);
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none of them' : given.map((name) => `--${name}`).join(' and ');
    throw usage(`generate needs one of --prompt, --messages and --ids; got ${found}.`, 'Say once what to go on from.');
  }
  const ids = textOption(args, 'ids');
  if (ids !== undefined) return { ids: idList('ids', ids) };
  const text = textOption(args, 'prompt');
  if (text !== undefined) return { text };
  const file = textOption(args, 'messages') as string;
  const remedy = 'Give a list such as [{"role": "user", "content": "…"}].';
  const content = parseJson(file, await readUserText('messages', file), remedy);
  return { messages: validate(file, MESSAGES, content, remedy) satisfies Message[] };
}
