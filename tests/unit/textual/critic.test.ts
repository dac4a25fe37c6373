import { describe, expect, it } from 'vitest';
import { NacreError } from '../../../src/core/errors.ts';
import { critique, minibatches, planCritique } from '../../../src/textual/critic.ts';
import type { CritiqueBrief } from '../../../src/textual/prompts.ts';
import { makeBlock, makeRollout, turn } from './builders.ts';
import { ScriptedCritic } from './scripted-critic.ts';

const BRIEF: CritiqueBrief = { context: '', maxContextChars: 12_000, maxEditChars: 600, history: [], avoid: [] };
const plan = (rewards: readonly (readonly number[])[], change: object = {}) =>
  planCritique(
    rewards.map((row, i) => makeBlock(`t${i}`, row)),
    { critiqueBatch: 8, outcomeRouting: true, prefix: 'p', ...change },
  );
const rows = (n: number, rewards: readonly number[]) => Array.from({ length: n }, () => rewards);
const tooLong = () => new NacreError('context-length', 'too long', 'shorten');

describe('planCritique', () => {
  it('takes mixed tasks one a call and the others in minibatches', () => {
    const { calls, skipped } = plan([...rows(2, [0, 1]), ...rows(10, [1, 1]), ...rows(3, [0, 0])]);
    expect(calls.map(({ id, blocks }) => [id, blocks.length])).toEqual([
      ['p/mixed/0', 1],
      ['p/mixed/1', 1],
      ['p/all-success/0', 8],
      ['p/all-success/1', 2],
      ['p/all-failure/0', 3],
    ]);
    expect(skipped).toEqual([]);
  });

  it('shows all distinct siblings of a mixed task', () => {
    expect(plan([[0, 1, 0, 1]]).calls[0]?.blocks[0]?.trajectories).toHaveLength(4);
  });

  it('skips a homogeneous route of one task', () => {
    expect(
      plan([
        [1, 1],
        [0, 0],
        [0, 0],
      ]),
    ).toMatchObject({ skipped: ['all-success'], calls: [{ route: 'all-failure' }] });
  });

  it('lets a trailing single task join the minibatch before it', () => {
    expect(plan(rows(9, [0, 0])).calls.map(({ blocks }) => blocks.length)).toEqual([9]);
    expect(minibatches([1, 2, 3, 4, 5], 2)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it('pools trajectories without outcome routing', () => {
    const { calls } = plan(rows(5, [0, 1]), { outcomeRouting: false });
    expect(calls.map(({ route, blocks }) => [route, blocks.reduce((sum, { trajectories }) => sum + trajectories.length, 0)])).toEqual([
      ['pooled', 8],
      ['pooled', 2],
    ]);
  });
});

describe('critique', () => {
  const edit = (change: object = {}) => ({
    op: 'append',
    content: '- Open drawers.',
    kind: 'corrective',
    support: ['t0', 't1'],
    ...change,
  });
  const call = async (rewards: readonly (readonly number[])[], reply: object, budget = 4) => {
    const critic = new ScriptedCritic(() => reply);
    const [bundle] = await critique(plan(rewards).calls[0]!, BRIEF, budget, critic.asker);
    return { bundle: bundle!, critic };
  };
  const reasons = (bundle: { dropped: readonly { reason: string }[] }) => bundle.dropped.map(({ reason }) => reason);

  it('takes one edit of a mixed task that names the divergence', async () => {
    const { bundle } = await call([[0, 1]], { divergence: 'the drawer', edits: [edit(), edit()], cards: [] });
    expect(bundle.edits).toMatchObject([{ id: 'p/mixed/0#0', support: ['t0'], kind: 'corrective' }]);
    expect(reasons(bundle)).toEqual(['over-call-limit']);
  });

  it('refuses an edit of a mixed task without a divergence', async () => {
    expect(reasons((await call([[0, 1]], { edits: [edit()], cards: [] })).bundle)).toEqual(['divergence-not-named']);
  });

  it('asks for two distinct shown tasks on homogeneous routes', async () => {
    const edits = [edit(), edit({ support: ['t0'] }), edit({ support: ['t0', 't0'] }), edit({ support: ['t0', 't7'] })];
    const { bundle } = await call(rows(2, [0, 0]), { edits, cards: [] });
    expect(bundle.edits).toHaveLength(1);
    expect(reasons(bundle)).toEqual(new Array(3).fill('support-below-two-tasks'));
  });

  it('makes edits of successes preservation and of failures corrective', async () => {
    expect((await call(rows(2, [1, 1]), { edits: [edit()], cards: [] })).bundle.edits[0]?.kind).toBe('preservation');
    expect((await call(rows(2, [0, 0]), { edits: [edit({ kind: 'preservation' })], cards: [] })).bundle.edits[0]?.kind).toBe('corrective');
  });

  it('keeps a proposal when one of its edits is malformed', async () => {
    const { bundle } = await call(rows(2, [0, 0]), { edits: ['x', edit()], cards: 'none' });
    expect(bundle.unusable).toBe(3);
    const fine = await call(rows(2, [0, 0]), { edits: ['x', edit()], cards: [] });
    expect(fine.bundle.edits).toHaveLength(1);
    expect(reasons(fine.bundle)).toEqual(['malformed']);
  });

  it('gives cards without edits', async () => {
    const card = { task_id: 't0', rollout_id: 't0/k0', quote: 'seen by t0/k0', condition: 'c', behavior: 'b', observed_effect: 'e' };
    expect((await call([[0, 1]], { cards: [card] })).bundle).toMatchObject({ edits: [], cards: [{ taskId: 't0' }] });
  });

  it('asks again at most twice, saying what was wrong', async () => {
    const critic = new ScriptedCritic((_, n) => (n === 0 ? 'no json' : n === 1 ? { edits: 5 } : { edits: [], cards: [] }));
    const [bundle] = await critique(plan([[0, 1]]).calls[0]!, BRIEF, 4, critic.asker);
    expect(bundle?.unusable).toBe(2);
    expect(critic.heard[2]?.messages.at(-1)?.content).toMatch(/edits/);
    const hopeless = new ScriptedCritic(() => 'no json');
    const [none] = await critique(plan([[0, 1]]).calls[0]!, BRIEF, 4, hopeless.asker);
    expect(hopeless.heard).toHaveLength(3);
    expect(none?.notes[0]).toMatch(/no critique/);
  });

  it('halves a homogeneous batch that does not fit, siblings together', async () => {
    const critic = new ScriptedCritic(({ user }) => ((user.match(/^<task /gm) ?? []).length > 2 ? tooLong() : { edits: [], cards: [] }));
    const bundles = await critique(plan(rows(5, [0, 0])).calls[0]!, BRIEF, 4, critic.asker);
    expect(bundles.map(({ callId }) => callId)).toEqual(['p/all-failure/0.0', 'p/all-failure/0.1']);
    expect(bundles.flatMap(({ notes }) => notes).join()).toMatch(/halved, 5 tasks.*elided/);
  });

  it('elides the middle of a single task that does not fit, and says so', async () => {
    const critic = new ScriptedCritic(({ user }) => (/elided/.test(user) ? { edits: [], cards: [] } : tooLong()));
    const turns = Array.from({ length: 30 }, (_, i) => turn(`saw ${i}`, `did ${i}`));
    const [block] = plan([[0, 1]]).calls[0]!.blocks;
    const long = { ...block!, trajectories: [{ ...block!.trajectories[0]!, rollout: makeRollout('r', 't0', 0, { turns }) }] };
    const [bundle] = await critique({ id: 'x', route: 'mixed', blocks: [long] }, BRIEF, 4, critic.asker);
    expect(bundle?.notes).toEqual(['x: middle turns elided, 12 kept of each trajectory']);
    expect(critic.heard[1]?.user).toContain('(18 turns elided)');
    expect(critic.heard[1]?.user).toContain('did 29');
    expect(critic.heard[1]?.user).not.toContain('did 15');
  });

  it('does not halve on other errors', async () => {
    const critic = new ScriptedCritic(() => new Error('offline'));
    const [bundle] = await critique(plan(rows(5, [0, 0])).calls[0]!, BRIEF, 4, critic.asker);
    expect(critic.heard).toHaveLength(3);
    expect(bundle?.notes[0]).toMatch(/offline/);
  });
});
