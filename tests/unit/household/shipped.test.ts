import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderPlayer } from '../../../scripts/model-card.ts';
import type { Task } from '../../../src/core/types.ts';
import { bullets, DISTRACTORS, RULE_IDS, ruleContext } from '../../../src/suites/household/rules.ts';
import type { Player } from '../../../src/suites/household/study.ts';
import { createHouseholdSuite, hazardTasks } from '../../../src/suites/household/suite.ts';
import { tokenizerConfig, tokenizerJson } from '../../../src/suites/household/vocabulary.ts';

const FOLDER = fileURLToPath(new URL('../../../public/models/nacre-tiny', import.meta.url));

describe('the shipped model', () => {
  let play: Player;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ play, close } = await folderPlayer(FOLDER));
  });
  afterAll(() => close());
  const successes = async (context: string, tasks: readonly Task[] = createHouseholdSuite().splits.test.slice(0, 48)): Promise<number> =>
    (await play(tasks, context, 0, 0)).filter(Boolean).length / tasks.length;

  it('is small and carries the tokenizer of this version', async () => {
    let bytes = 0;
    for (const name of await readdir(FOLDER)) bytes += (await readFile(`${FOLDER}/${name}`)).length;
    expect(bytes).toBeLessThan(1_000_000);
    expect(JSON.parse(await readFile(`${FOLDER}/tokenizer.json`, 'utf8'))).toEqual(tokenizerJson());
    expect(JSON.parse(await readFile(`${FOLDER}/tokenizer_config.json`, 'utf8'))).toEqual(tokenizerConfig());
  });

  it('succeeds with all rules, in known and in held-out wording, and seldom without', async () => {
    const empty = await successes('');
    expect(empty).toBeLessThanOrEqual(0.45);
    expect(await successes(ruleContext(RULE_IDS))).toBeGreaterThanOrEqual(0.85);
    expect(await successes(ruleContext(RULE_IDS, { heldOut: true, variant: 1 }))).toBeGreaterThanOrEqual(0.75);
    expect(Math.abs((await successes(bullets(DISTRACTORS.slice(0, 6)))) - empty)).toBeLessThanOrEqual(0.1);
  });

  it.each(RULE_IDS)('uses the rule %s for what it says', async (id) => {
    const tasks = hazardTasks(id, 24);
    const others = ruleContext(RULE_IDS.filter((other) => other !== id));
    expect((await successes(ruleContext(RULE_IDS), tasks)) - (await successes(others, tasks))).toBeGreaterThanOrEqual(0.4);
  });
});
