import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { OwnEngine } from '../src/models/own/engine.ts';
import { PooledPolicy } from '../src/models/own/policy.ts';
import { loadModel } from '../src/models/own/source.ts';
import { type HouseholdStudy, householdStudy, type Player } from '../src/suites/household/study.ts';
import { createHouseholdSuite } from '../src/suites/household/suite.ts';
import { createCpuBackend } from '../src/tensor/cpu/backend.ts';
import { folderSource } from './cli/node-files.ts';
import type { TinySettings } from './train-tiny.ts';

const ROOT = resolve(fileURLToPath(new URL('..', import.meta.url)));

/** A player on the model of a folder, computing in this thread. */
export async function folderPlayer(folder: string): Promise<{ readonly play: Player; readonly close: () => Promise<void> }> {
  const engine = new OwnEngine();
  await engine.use(await createCpuBackend(), await loadModel(folderSource(folder), 'nacre-tiny'));
  const policy = await PooledPolicy.connect([engine]);
  const suite = createHouseholdSuite({ sizes: { train: 0, val: 0, test: 0, unseen: 0 } });
  const play: Player = async (tasks, context, temperature, seed) => {
    const jobs = tasks.map((task, i) => ({
      id: `${i}/${task.id}`,
      task,
      episode: suite.open(task, seed),
      index: seed,
      seed: seed * 100_003 + i,
    }));
    const options = { context, contextHash: '', maxTurns: suite.maxTurns, maxTokensPerTurn: 16, temperature, topP: 1 };
    return (await policy.rollouts(jobs, options)).map((rollout) => rollout.success);
  };
  return { play, close: () => policy.close() };
}

/** Plays the study and writes `README.md` into the model's folder. */
export async function writeModelCard(folder: string): Promise<HouseholdStudy> {
  const { play, close } = await folderPlayer(folder);
  const study = await householdStudy(play, createHouseholdSuite());
  await close();
  const log = (await readFile(join(folder, 'training-log.jsonl'), 'utf8')).trim().split('\n');
  const { settings, parameters } = JSON.parse(log[0]!) as { settings: TinySettings; parameters: number };
  await writeFile(join(folder, 'README.md'), card(study, settings, parameters));
  return study;
}

function card(study: HouseholdStudy, settings: TinySettings, parameters: number): string {
  const p = (x: number): string => x.toFixed(2);
  const { test, unseen, rules, routes } = study;
  const route = (name: string, { mixed, allSuccess, allFailure }: typeof routes.empty): string =>
    `| ${name} | ${mixed} | ${allSuccess} | ${allFailure} |`;
  return `# nacre-tiny

A Qwen3-style decoder with ${parameters.toLocaleString('en')} parameters (${settings.layers} layers × ${settings.hidden}, head size 16, tied embeddings, float16) that plays
the generated small games of Nacre's household suite. It was trained from scratch to imitate a scripted expert that follows a rule
of conduct if, and only if, the rule's sentence stands in its context; otherwise a bad habit strikes in three of four episodes
(one of four for a third of the objects). So its success truly depends on what its context says, which is what TextualRL needs, and
it leaves room to improve by reward, which is what PEARL needs. It knows nothing beyond these games.

Made by \`npm run train:tiny\` (seed ${settings.seed}, ${settings.tokens / 1e6} M tokens, Adam 0.9/0.98, cosine from ${settings.peakRate}, clip ${settings.clipNorm},
loss on actions plus ${settings.observationWeight} on observations); \`training-log.jsonl\` holds the loss. Vocabulary of household phrases, entities and words, letters for the rest.

Format: \`<|ctx|>\` context, then per turn \`<|obs|>\` observation \`<|act|>\` action \`<|end|>\`.

## Success at temperature 0

${test.n} test tasks (seeds never trained on), ${unseen.n} tasks with object–receptacle pairings held out from training.

| context | test | unseen pairings |
|---|---|---|
| empty | ${p(test.empty)} | ${p(unseen.empty)} |
| all six rules (mean of 3 wordings) | ${p(test.allRules)} | ${p(unseen.allRules)} |
| all six rules in wording held out from training (mean of 3) | ${p(test.allHeldOut)} | |
| distractor sentences only | ${p(test.distractors)} | |
| distractor sentences held out from training | ${p(test.heldOutDistractors)} | |

## Worth of each rule

${rules[0]!.n} tasks per rule in which this rule alone is at stake.

| rule | empty | this rule alone | alone, held-out wording | all rules | all but this one | worth |
|---|---|---|---|---|---|---|
${rules.map((r) => `| ${r.rule} | ${p(r.empty)} | ${p(r.alone)} | ${p(r.aloneHeldOut)} | ${p(r.all)} | ${p(r.without)} | ${p(r.worth)} |`).join('\n')}

## Routes

${routes.groups} groups of K = ${routes.k} rollouts at temperature 0.7.

| context | mixed | all success | all failure |
|---|---|---|---|
${route('empty', routes.empty)}
${route('all six rules', routes.allRules)}

Licence: MIT, like the program it comes with.
`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { folder: { type: 'string', default: join(ROOT, 'public/models/nacre-tiny') } } });
  console.log(JSON.stringify(await writeModelCard(values.folder), null, 2));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
