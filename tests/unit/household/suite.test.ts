import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import { SPLITS } from '../../../src/core/types.ts';
import { takeTasks } from '../../../src/lab/tasks.ts';
import { demonstrate, drawHabits, solve } from '../../../src/suites/household/expert.ts';
import { generateGame, goalPairs, STEP_LIMIT } from '../../../src/suites/household/generate.ts';
import { RULE_IDS, type RuleId, rulesAtStake } from '../../../src/suites/household/rules.ts';
import { createHouseholdSuite, hazardTasks, taskGame } from '../../../src/suites/household/suite.ts';
import { HAZARDS, isOpenable, lookAlike, TASK_TYPES, typeOf } from '../../../src/suites/household/world.ts';
import { createSuite } from '../../../src/suites/registry.ts';

const suite = createHouseholdSuite();
const spec = fc.record({
  type: fc.constantFrom(...TASK_TYPES),
  hazards: fc.uniqueArray(fc.constantFrom(...HAZARDS), { maxLength: 2 }),
  heldOutPair: fc.boolean(),
});

describe('generated games', () => {
  it('are solved by the expert with all rules within the step limit', () => {
    fc.assert(
      fc.property(spec, fc.nat(), (chosen, seed) => {
        const game = generateGame(chosen, new Random(seed));
        const { success, turns } = demonstrate(game, new Set(), STEP_LIMIT);
        expect(success).toBe(true);
        expect(turns.length).toBeLessThanOrEqual(STEP_LIMIT);
      }),
      { numRuns: 300 },
    );
  });

  it('have the hazards they declare', () => {
    fc.assert(
      fc.property(spec, fc.nat(), (chosen, seed) => {
        const game = generateGame(chosen, new Random(seed));
        const { object } = game.goal;
        const at = (type: string): number => game.room.findIndex(({ items }) => items.some((item) => typeOf(item) === type));
        const source = at(object);
        expect(isOpenable(game.room[source]!.name)).toBe(chosen.hazards.includes('closed'));
        expect(source >= 2 && source <= 4).toBe(chosen.hazards.includes('far'));
        const decoy = at(lookAlike(object));
        expect(decoy >= 0 && decoy < source).toBe(chosen.hazards.includes('look-alike'));
        expect(game.room.length).toBeGreaterThanOrEqual(6);
        expect(game.room.length).toBeLessThanOrEqual(8);
        expect(new Set(game.room.map(({ name }) => name)).size).toBe(game.room.length);
        const items = game.room.flatMap((receptacle) => receptacle.items);
        expect(new Set(items).size).toBe(items.length);
      }),
      { numRuns: 300 },
    );
  });

  it('turn on each rule at stake alone when only its habit is bad', () => {
    for (const id of RULE_IDS) {
      for (const task of hazardTasks(id, 12)) {
        const game = taskGame(task);
        expect(rulesAtStake(game)).toEqual([id]);
        expect(demonstrate(game, new Set([id]), STEP_LIMIT).success, task.id).toBe(false);
        const others = new Set<RuleId>(RULE_IDS.filter((other) => other !== id));
        expect(demonstrate(game, others, STEP_LIMIT).success, task.id).toBe(true);
      }
    }
  });

  it('are lost exactly when a habit strikes where its rule is at stake', () => {
    for (const task of suite.splits.test.slice(0, 200)) {
      const game = taskGame(task);
      const bad = drawHabits(game, new Set(), new Random(3, task.id));
      const struck = rulesAtStake(game).some((id) => bad.has(id));
      expect(demonstrate(game, bad, STEP_LIMIT).success, task.id).toBe(!struck);
    }
  });
});

describe('splits', () => {
  const all = SPLITS.flatMap((split) => suite.splits[split]);

  it('repeat themselves for one seed and differ for another', () => {
    const sizes = { train: 12, val: 6, test: 6, unseen: 6 };
    expect(createHouseholdSuite({ sizes }).splits).toEqual(createHouseholdSuite({ sizes }).splits);
    expect(createHouseholdSuite({ sizes, seed: 5 }).splits.train).not.toEqual(createHouseholdSuite({ sizes }).splits.train);
    // A longer split begins with the shorter one.
    expect(suite.splits.val.slice(0, 6)).toEqual(createHouseholdSuite({ sizes }).splits.val);
  });

  it('share no game and no id', () => {
    expect(new Set(all.map((task) => task.id)).size).toBe(all.length);
    expect(new Set(all.map((task) => JSON.stringify(task.data))).size).toBe(all.length);
  });

  it('keep a quarter of the object–receptacle pairings for unseen', () => {
    const pair = ({ goal }: { goal: { object: string; place: string } }): string => `${goal.object}/${goal.place}`;
    const known = new Set((['train', 'val', 'test'] as const).flatMap((split) => suite.splits[split]).map((task) => pair(taskGame(task))));
    for (const task of suite.splits.unseen) expect(known.has(pair(taskGame(task))), task.id).toBe(false);
    for (const type of TASK_TYPES) {
      const [held, kept] = [goalPairs(type, true).length, goalPairs(type, false).length];
      expect(held / (held + kept)).toBeGreaterThan(0.2);
      expect(held / (held + kept)).toBeLessThan(0.3);
    }
  });

  it('are balanced by type and by hazard in any stratified prefix', () => {
    for (const n of [24, 48, 96]) {
      const tasks = takeTasks(suite, 'val', n);
      for (const type of TASK_TYPES) expect(tasks.filter((task) => task.type === type).length).toBe(n / 6);
      const stakes = tasks.flatMap((task) => rulesAtStake(taskGame(task)));
      for (const id of RULE_IDS) expect(stakes.filter((stake) => stake === id).length, `${id} in ${n}`).toBeGreaterThanOrEqual(n / 12);
    }
  });

  it('survive a round trip through JSON', async () => {
    const task = JSON.parse(JSON.stringify(suite.splits.test[3]!));
    const episode = suite.open(task, 0);
    let last = { done: false, success: false };
    for (const command of solve(taskGame(task))) last = await episode.act(command);
    expect(last).toMatchObject({ done: true, success: true, reward: 1 });
  });
});

describe('registry', () => {
  it('knows the household suite and names it when asked for another', () => {
    expect(createSuite('household').splits.test.length).toBe(384);
    expect(() => createSuite('toString')).toThrow(/no suite/);
  });
});
