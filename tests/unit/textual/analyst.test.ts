import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/core/random.ts';
import { demonstrate } from '../../../src/suites/household/expert.ts';
import { generateGame, STEP_LIMIT } from '../../../src/suites/household/generate.ts';
import { RULES, type RuleId } from '../../../src/suites/household/rules.ts';
import { hazardTasks, taskGame } from '../../../src/suites/household/suite.ts';
import { goalText } from '../../../src/suites/household/wording.ts';
import { TASK_TYPES } from '../../../src/suites/household/world.ts';
import { createAnalyst } from '../../../src/textual/analyst/analyst.ts';
import { readPrompt } from '../../../src/textual/analyst/parse.ts';
import { moments, readGoal } from '../../../src/textual/analyst/trace.ts';
import { adviceOf, statedRules } from '../../../src/textual/analyst/wordings.ts';
import { verifyCards } from '../../../src/textual/cards.ts';
import { deduplicate, type TaskBlock } from '../../../src/textual/dedupe.ts';
import { type CritiqueBrief, critiqueMessages, mergeMessages, rankMessages, reviewMessages } from '../../../src/textual/prompts.ts';
import { type RoutedGroup, routeGroups } from '../../../src/textual/routing.ts';
import { append, makeCard, makeRollout, makeTask, turn } from './builders.ts';

const BRIEF: CritiqueBrief = { context: '', maxContextChars: 12_000, maxEditChars: 600, history: [], avoid: [] };

async function answer(messages: ReturnType<typeof critiqueMessages>, seed = 1) {
  const { text } = await createAnalyst().generate(messages, { temperature: 0, topP: 1, maxTokens: 100, seed });
  return JSON.parse(text) as Record<string, never[]>;
}

/** A task on which one rule alone decides, played once with its habit and once without. */
function contrastBlock(rule: RuleId, n = 0): TaskBlock {
  const task = hazardTasks(rule, n + 1)[n]!;
  const play = (bad: ReadonlySet<RuleId>, id: string) => {
    const { turns, success } = demonstrate(taskGame(task), bad, STEP_LIMIT);
    return makeRollout(id, task.id, success ? 1 : 0, {
      turns: turns.map(({ observation, action }) => turn(observation, action)),
      finalObservation: 'The end.',
    });
  };
  const rollouts = [play(new Set([rule]), `${task.id}/bad`), play(new Set(), `${task.id}/good`)];
  return deduplicate(routeGroups([{ task, rollouts }], 1).routed[0] as RoutedGroup, 1);
}

describe('readPrompt', () => {
  it('reads back what a critique shows, whatever it contains', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('</trajectory>', '<task id="x">', 'action 1:\n  x', 'a\n\nb', '  indented', '</context>'),
    );
    fc.assert(
      fc.property(text, fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }), text, (context, turns, last) => {
        fc.pre(!/\r/.test(context + last + turns.flat().join('')));
        const rollout = makeRollout('e1/b1/t1/k1', 'task "1"', 1, { turns: turns.map(([o, a]) => turn(o, a)), finalObservation: last });
        const task = makeTask('task "1"');
        const block = deduplicate(routeGroups([{ task, rollouts: [rollout] }], 1).routed[0] as RoutedGroup, 1);
        const [, user] = critiqueMessages('all-success', 4, { ...BRIEF, context }, [block]);
        const read = readPrompt(user?.content ?? '');
        expect(read).toMatchObject({ kind: 'critique', context, attributes: { route: 'all-success', max_edits: '4' } });
        expect(read.tasks).toEqual([
          {
            id: 'task "1"',
            route: 'all-success',
            input: task.input,
            trajectories: [
              { id: rollout.id, success: true, copies: 1, turns: turns.map(([observation, action]) => ({ observation, action })), last },
            ],
          },
        ]);
      }),
    );
  });

  it('reads history, avoided edits, bundles and reviews', () => {
    const edit = append('- "quoted"\nand broken', { id: 'e', support: ['t'] });
    const history = [{ step: 3, decision: 'rejected' as const, reference: 0.5, candidate: 0.4, edits: [edit] }];
    const [, critique] = critiqueMessages('mixed', 1, { ...BRIEF, history, avoid: [edit] }, []);
    expect(readPrompt(critique?.content ?? '')).toMatchObject({
      history: [{ step: 3, decision: 'rejected', edits: [edit] }],
      avoid: [edit],
    });
    const [, merge] = mergeMessages('corrective', BRIEF, [[edit], [edit]]);
    expect(readPrompt(merge?.content ?? '').bundles).toEqual([[edit], [edit]]);
    const [, review] = reviewMessages(BRIEF, [{ edit, cards: [makeCard('t', 'b')] }]);
    expect(readPrompt(review?.content ?? '').reviews).toMatchObject([{ edit, cards: [{ task_id: 't', behavior: 'b' }] }]);
    const [, rank] = rankMessages(BRIEF, [edit], 1);
    expect(readPrompt(rank?.content ?? '').bundles).toEqual([[edit]]);
  });
});

describe('readGoal', () => {
  it('understands every task the suite can state', () => {
    for (const type of TASK_TYPES) {
      const game = generateGame({ type, hazards: [], heldOutPair: false }, new Random(1, type));
      const goal = readGoal(goalText(game.goal));
      expect(goal).toMatchObject({ object: game.goal.object, lamp: type === 'light', two: type === 'two' });
      expect(goal?.treatment).toBe(['clean', 'heat', 'cool'].includes(type) ? type : undefined);
    }
  });

  it.each([
    ['examine the book with the desklamp', { object: 'book', lamp: true }],
    ['clean some mug and put it in shelf', { object: 'mug', treatment: 'clean' }],
    ['put some pen on desk', { object: 'pen', lamp: false, two: false }],
    ['put two pen in drawer', { object: 'pen', two: true }],
  ])('understands the original wording: %s', (input, goal) => {
    expect(readGoal(input)).toMatchObject(goal);
  });

  it('leaves other tasks alone', () => {
    expect(readGoal('What is the capital of France?')).toBeUndefined();
  });
});

describe('moments', () => {
  it.each(RULES.map(({ id }) => id))('sees where %s was broken and where it was kept', (rule) => {
    const [bad, good] = contrastBlock(rule).trajectories;
    const task = hazardTasks(rule, 1)[0]!;
    const seen = (trajectory: typeof bad) =>
      moments(readGoal(task.input)!, {
        id: '',
        success: false,
        copies: 1,
        turns: trajectory!.rollout.turns,
        last: trajectory!.rollout.finalObservation,
      });
    expect(bad?.success).toBe(false);
    expect(
      seen(bad)
        .filter(({ kept }) => !kept)
        .map((moment) => moment.rule),
    ).toContain(rule);
    expect(seen(good).filter((moment) => moment.rule === rule && !moment.kept)).toEqual([]);
  });
});

describe('the analyst', () => {
  it.each(RULES.map(({ id }) => id))('finds %s in a mixed group, with cards that verify', async (rule) => {
    const block = contrastBlock(rule);
    let right = 0;
    for (let seed = 0; seed < 20; seed++) {
      const { divergence, edits, cards } = await answer(critiqueMessages('mixed', 1, BRIEF, [block]), seed);
      expect(divergence).not.toBe('');
      expect(edits).toHaveLength(1);
      expect(verifyCards(cards as unknown[], [block], 'c')).toMatchObject({ cards: [{}, {}], rejected: [] });
      const advice = adviceOf((edits as { content: string }[])[0]!.content);
      if (advice?.rule === rule && advice.follows) right++;
    }
    // It proposes useless and wrong wordings too, but rarely.
    expect(right).toBeGreaterThanOrEqual(13);
  });

  it('needs two tasks for a repair of failures', async () => {
    const failures = [0, 1].map((n) => {
      const block = contrastBlock('two', n);
      return { ...block, route: 'all-failure' as const, trajectories: block.trajectories.slice(0, 1) };
    });
    const { edits } = await answer(critiqueMessages('all-failure', 4, BRIEF, failures));
    expect((edits as { support: string[] }[])[0]?.support).toEqual(failures.map(({ task }) => task.id));
    expect((await answer(critiqueMessages('all-failure', 4, BRIEF, failures.slice(0, 1)))).edits).toEqual([]);
  });

  it('does not repeat a wording that was rejected', async () => {
    const block = contrastBlock('open');
    const first = ((await answer(critiqueMessages('mixed', 1, BRIEF, [block]))).edits as { content: string }[])[0]!;
    const history = [{ step: 1, decision: 'rejected' as const, reference: 0.5, candidate: 0.4, edits: [append(first.content)] }];
    const again = ((await answer(critiqueMessages('mixed', 1, { ...BRIEF, history }, [block]))).edits as { content: string }[])[0]!;
    expect(again.content).not.toBe(first.content);
  });

  it('unites edits that advise the same, and offers fewer after rejections', async () => {
    const edits = [RULES[0]!.training[0], RULES[0]!.training[1], RULES[1]!.training[0], RULES[2]!.training[0]].map((text, i) =>
      append(`- ${text}`, { id: `e${i}`, support: [`t${i}`] }),
    );
    const bundles = edits.map((edit) => [edit]);
    const merged = (await answer(mergeMessages('corrective', BRIEF, bundles))).edits as { sources: string[] }[];
    expect(merged.map(({ sources }) => sources)).toEqual([['e0', 'e1'], ['e2'], ['e3']]);
    const history = [1, 2].map((step) => ({ step, decision: 'rejected' as const, reference: 0.5, candidate: 0.4, edits: [] }));
    expect((await answer(mergeMessages('corrective', { ...BRIEF, history }, bundles))).edits).toHaveLength(1);
  });

  it('finds no evidence for the opposite of what cards show', async () => {
    const block = contrastBlock('open');
    const { cards } = await answer(critiqueMessages('mixed', 1, BRIEF, [block]));
    const kept = verifyCards(cards as unknown[], [block], 'c').cards;
    const verdicts = async (content: string) => {
      const review = await answer(reviewMessages(BRIEF, [{ edit: append(content, { id: 'e' }), cards: kept }]));
      return (review.reviews as { verdict: string }[])[0]?.verdict;
    };
    expect(['retain', 'narrow']).toContain(await verdicts(`- ${RULES[0]!.training[0]}`));
    expect(await verdicts(`- ${RULES[0]!.wrong[0]}`)).toBe('insufficient_evidence');
  });

  it('answers the same to the same, and says what it is', async () => {
    const messages = critiqueMessages('mixed', 1, BRIEF, [contrastBlock('lamp')]);
    expect(await answer(messages, 3)).toEqual(await answer(messages, 3));
    expect(createAnalyst().info).toMatchObject({ backend: 'heuristic', title: expect.stringMatching(/heuristic/) });
  });

  it('refuses free conversation', async () => {
    await expect(answer([{ role: 'user', content: 'Hello!' }])).rejects.toMatchObject({ code: 'not-a-critique' });
  });
});

describe('adviceOf', () => {
  it('knows every sentence of the rules', () => {
    for (const { id, training, heldOut, wrong } of RULES) {
      for (const text of [...training, ...heldOut]) expect(adviceOf(`- ${text}`)).toEqual({ rule: id, follows: true });
      for (const text of wrong) expect(adviceOf(text)).toEqual({ rule: id, follows: false });
    }
  });

  it('reads a context line by line', () => {
    const stated = statedRules(
      '# Notes\n- Open every closed receptacle you come to while searching.\n- Two cabinets may stand side by side.',
    );
    expect([...stated.keys()]).toEqual(['open']);
  });
});
