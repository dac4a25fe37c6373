import { describe, expect, it } from 'vitest';
import { demonstrate } from '../../../src/suites/household/expert.ts';
import { STEP_LIMIT } from '../../../src/suites/household/generate.ts';
import { habitChance, RULE_IDS, RULES, type RuleId, ruleContext } from '../../../src/suites/household/rules.ts';
import { householdStudy, type Player, routeStudy, rulesStudy } from '../../../src/suites/household/study.ts';
import { createHouseholdSuite, hazardTasks, taskGame } from '../../../src/suites/household/suite.ts';

/** The expert as a model at temperature 0: it obeys the sentences it knows and otherwise does the likelier thing. */
const expertPlayer: Player = async (tasks, context) => {
  const stated = new Set(
    RULES.filter((rule) => [...rule.training, ...rule.heldOut].some((text) => context.includes(text))).map(({ id }) => id),
  );
  return tasks.map((task) => {
    const game = taskGame(task);
    const bad = new Set<RuleId>(RULE_IDS.filter((id) => !stated.has(id) && habitChance(id, game.goal.object) > 0.5));
    return demonstrate(game, bad, STEP_LIMIT).success;
  });
};

describe('the study of a model', () => {
  it('finds what each rule is worth to the expert', async () => {
    for (const { rule, empty, alone, aloneHeldOut, all, without, worth } of await rulesStudy(expertPlayer, 60)) {
      expect({ rule, alone, aloneHeldOut, all }).toEqual({ rule, alone: 1, aloneHeldOut: 1, all: 1 });
      expect(without).toBe(empty);
      expect(worth).toBeGreaterThan(0.5);
    }
  });

  it('finds the expert bad without rules, perfect with them, and deaf to distractors', async () => {
    const { test, unseen } = await householdStudy(expertPlayer, createHouseholdSuite(), { test: 48, unseen: 24, perRule: 6, groups: 6 });
    expect(test).toMatchObject({ n: 48, allRules: 1, allHeldOut: 1 });
    expect(test.empty).toBeLessThan(0.45);
    expect(test.distractors).toBe(test.empty);
    expect(test.heldOutDistractors).toBe(test.empty);
    expect(unseen.allRules).toBe(1);
    expect(unseen.empty).toBeLessThan(0.5);
  });

  it('counts routes by how many of a group succeed', async () => {
    const tasks = hazardTasks('open', 3);
    // Task 0 succeeds always, task 1 for even seeds, task 2 never.
    const play: Player = async (played, _, __, seed) => played.map((_task, i) => i === 0 || (i === 1 && seed % 2 === 0));
    expect(await routeStudy(play, tasks, '', 4, 0.7)).toEqual({ mixed: 1, allSuccess: 1, allFailure: 1 });
  });
});

describe('rules', () => {
  it('have enough wordings, none of them twice', () => {
    for (const rule of RULES) {
      expect(rule.training.length).toBeGreaterThanOrEqual(6);
      expect(rule.heldOut.length).toBeGreaterThanOrEqual(2);
    }
    const all = RULES.flatMap((rule) => [...rule.training, ...rule.heldOut, ...rule.wrong]);
    expect(new Set(all.map((text) => text.toLowerCase())).size).toBe(all.length);
  });

  it('make a Markdown list', () => {
    expect(ruleContext(['two', 'lamp'])).toMatch(/^- When the task wants two objects.*\n- Hold the object first.*\n$/);
  });

  it('have a milder habit for a third of the objects, the same for both of a pair', () => {
    for (const id of RULE_IDS) {
      expect(['mug', 'plate', 'apple', 'knife', 'book', 'pen'].filter((object) => habitChance(id, object) < 0.5).length).toBe(2);
      expect(habitChance(id, 'mug')).toBe(habitChance(id, 'cup'));
    }
  });
});
