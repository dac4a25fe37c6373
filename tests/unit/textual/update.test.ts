import { describe, expect, it } from 'vitest';
import type { Bundle } from '../../../src/textual/critic.ts';
import { concatenate, mergeProposals } from '../../../src/textual/merge.ts';
import type { CritiqueBrief } from '../../../src/textual/prompts.ts';
import { rankBySupport, selectEdits } from '../../../src/textual/rank.ts';
import { relevantCards, reviewEdits } from '../../../src/textual/review.ts';
import type { Edit } from '../../../src/textual/types.ts';
import { append, makeCard } from './builders.ts';
import { type Reply, ScriptedCritic } from './scripted-critic.ts';

const BRIEF: CritiqueBrief = { context: '- A', maxContextChars: 12_000, maxEditChars: 600, history: [], avoid: [] };
const TEXTS = ['Open closed drawers.', 'Heat food before serving it.', 'Fetch both objects.', 'Hold it beside the lamp.'];
const bundle = (i: number, change: Partial<Edit> = {}): Bundle => ({
  callId: `c${i}`,
  route: 'mixed',
  edits: [append(TEXTS[i % 4] ?? '', { id: `c${i}#0`, support: [`t${i}`], ...change })],
  dropped: [],
  cards: [],
  rejectedCards: [],
  unusable: 0,
  notes: [],
});
const merge = (bundles: readonly Bundle[], reply: (user: string) => Reply, mergeBatch = 8) => {
  const critic = new ScriptedCritic(({ user }) => reply(user));
  return mergeProposals(bundles, { prefix: 'p', mergeBatch, brief: BRIEF, ask: critic.asker }).then((merged) => ({ merged, critic }));
};
/** Merges everything it is shown into one edit. */
const unite = (user: string) => ({
  edits: [{ op: 'append', content: 'united', sources: Array.from(user.matchAll(/"id":"([^"]+)"/g), (m) => m[1]) }],
});

describe('mergeProposals', () => {
  it('needs no call for a single bundle', async () => {
    const { merged, critic } = await merge([bundle(0)], unite);
    expect(critic.heard).toEqual([]);
    expect(merged.edits).toMatchObject([{ content: TEXTS[0] }]);
    expect(merged.nodes).toMatchObject([{ call: false, inputs: ['c0'] }]);
  });

  it('merges level by level, a singleton passing up without a call', async () => {
    const { merged, critic } = await merge(
      [0, 1, 2, 3, 4].map((i) => bundle(i)),
      unite,
      2,
    );
    expect(merged.nodes.map(({ level, call }) => [level, call])).toEqual([
      [1, true],
      [1, true],
      [1, false],
      [2, true],
      [2, false],
      [3, true],
    ]);
    expect(critic.heard).toHaveLength(4);
    expect(merged.edits).toMatchObject([
      { content: 'united', support: ['t0', 't1', 't2', 't3', 't4'], sources: ['c0#0', 'c1#0', 'c2#0', 'c3#0', 'c4#0'] },
    ]);
  });

  it('merges corrective and preservation apart, then combines', async () => {
    const bundles = [bundle(0), bundle(1), bundle(2, { kind: 'preservation' }), bundle(3, { kind: 'preservation' })];
    const { merged } = await merge(bundles, unite);
    expect(merged.nodes.map(({ branch }) => branch)).toEqual(['corrective', 'preservation', 'combined']);
    expect(merged.nodes[2]?.inputs).toEqual(['p/corrective/1.0', 'p/preservation/1.0']);
  });

  it('takes support from the sources, not from claims', async () => {
    const { merged } = await merge([bundle(0), bundle(1)], () => ({
      edits: [{ op: 'append', content: 'x', sources: ['c1#0', 'made-up'], support: ['t8', 't9'] }],
    }));
    expect(merged.edits).toMatchObject([{ support: ['t1'], sources: ['c1#0'] }]);
  });

  it.each<[string, Reply]>([
    ['prose', 'cannot do that'],
    ['an empty list', { edits: [] }],
    ['unknown sources', { edits: [{ op: 'append', content: 'x', sources: ['nope'] }] }],
    ['a failing call', new Error('offline')],
  ])('falls back to concatenation on %s and loses nothing', async (_, reply) => {
    const { merged } = await merge([bundle(0), bundle(1)], () => reply);
    expect(merged.edits.map(({ content }) => content)).toEqual([TEXTS[0], TEXTS[1]]);
    expect(merged.nodes).toMatchObject([{ call: true, fallback: true }]);
    expect(merged.notes[0]).toMatch(/concatenation/);
  });

  it('unites near-equal edits when concatenating', () => {
    const edits = concatenate([
      append('Open closed drawers.', { id: 'a', support: ['t0'] }),
      append('Open closed drawers!', { id: 'b', support: ['t1'] }),
    ]);
    expect(edits).toMatchObject([{ id: 'a', support: ['t0', 't1'], sources: ['a', 'b'] }]);
  });
});

describe('reviewEdits', () => {
  const edit = append('Open closed drawers while searching.', { id: 'e', support: ['t0'], sources: ['e1/b1/mixed/0#0'] });
  const cards = [
    makeCard('t0', 'walked past the closed drawer'),
    makeCard('t1', 'opened the closed drawer while searching', { route: 'all-success', callId: 'e1/b1/all-success/0' }),
    makeCard('t2', 'sang a song', { callId: 'e1/b1/mixed/1' }),
  ];
  const review = async (reply: Reply, options: { intraGroupCardsOnly?: boolean; cards?: typeof cards } = {}) => {
    const critic = new ScriptedCritic(() => reply);
    const reviewed = await reviewEdits([edit], options.cards ?? cards, {
      key: 'review',
      brief: BRIEF,
      ask: critic.asker,
      intraGroupCardsOnly: options.intraGroupCardsOnly ?? false,
    });
    return { reviewed, critic };
  };
  const says = (verdict: string, change: object = {}) => ({
    reviews: [{ edit_id: 'e', verdict, reason: 'because', evidence: [], ...change }],
  });

  it('makes no call without cards', async () => {
    const { reviewed, critic } = await review(says('retain'), { cards: [] });
    expect(critic.heard).toEqual([]);
    expect(reviewed.edits).toEqual([edit]);
  });

  it('pools relevant cards of every route', () => {
    expect(relevantCards(edit, cards).map(({ taskId }) => taskId)).toEqual(['t1', 't0']);
  });

  it('uses only cards of the contributing groups in the ablation', async () => {
    const { critic } = await review(says('retain'), { intraGroupCardsOnly: true });
    expect(critic.heard[0]?.user).toContain('"task_id":"t0"');
    expect(critic.heard[0]?.user).not.toContain('"task_id":"t1"');
  });

  it('retains, with the supporting tasks added', async () => {
    const evidence = [
      { task_id: 't1', rollout_id: 't1/k0', relation: 'supports', reason: 'x' },
      { task_id: 't9', rollout_id: 't9/k0', relation: 'supports', reason: 'never shown' },
      { task_id: 't0', rollout_id: 't0/k0', relation: 'admires' },
    ];
    const { reviewed } = await review(says('retain', { evidence }));
    expect(reviewed.edits).toEqual([{ ...edit, support: ['t0', 't1'] }]);
    expect(reviewed.decisions[0]?.evidence).toEqual([{ taskId: 't1', rolloutId: 't1/k0', relation: 'supports', reason: 'x' }]);
  });

  it.each(['narrow', 'revise'])('%s takes the new wording', async (verdict) => {
    const { reviewed } = await review(says(verdict, { content: 'Open closed drawers only in kitchens.' }));
    expect(reviewed.edits[0]?.content).toBe('Open closed drawers only in kitchens.');
    expect(reviewed.decisions[0]?.before).toEqual(edit);
  });

  it('keeps the old wording when the new one leans on hidden information', async () => {
    const { reviewed } = await review(says('revise', { content: 'Check the answer key.' }));
    expect(reviewed.edits[0]?.content).toBe(edit.content);
  });

  it('does not apply edits without evidence', async () => {
    const { reviewed } = await review(says('insufficient_evidence'));
    expect(reviewed.edits).toEqual([]);
    expect(reviewed.decisions).toMatchObject([{ verdict: 'insufficient_evidence', before: edit }]);
  });

  it('keeps edits the review forgot or could not judge', async () => {
    expect((await review({ reviews: [] })).reviewed.edits).toEqual([edit]);
    const { reviewed } = await review(new Error('offline'));
    expect(reviewed.edits).toEqual([edit]);
    expect(reviewed.notes[0]).toMatch(/no review, offline/);
  });

  it('never puts review metadata into the edit', async () => {
    const { reviewed } = await review(
      says('retain', { evidence: [{ task_id: 't1', rollout_id: 't1/k0', relation: 'supports', reason: 'SECRET' }] }),
    );
    expect(JSON.stringify(reviewed.edits)).not.toMatch(/SECRET|because|retain/);
  });
});

describe('selectEdits', () => {
  const edits = TEXTS.map((text, i) => append(text, { id: `e${i}`, support: Array.from({ length: i % 3 }, (_, t) => `t${t}`) }));
  const select = (reply: Reply, budget: number) => {
    const critic = new ScriptedCritic(() => reply);
    return selectEdits(edits, budget, { key: 'rank', brief: BRIEF, ask: critic.asker }).then((selection) => ({
      ids: selection.edits.map(({ id }) => id),
      calls: critic.heard.length,
    }));
  };

  it('asks only above the budget', async () => {
    expect(await select({ order: ['e3'] }, 4)).toEqual({ ids: ['e0', 'e1', 'e2', 'e3'], calls: 0 });
  });

  it('follows the ranking, then support', async () => {
    expect((await select({ order: ['e3', 'x', 'e3'] }, 2)).ids).toEqual(['e3', 'e2']);
  });

  it('falls back to support, then order', async () => {
    expect((await select('no', 3)).ids).toEqual(['e2', 'e1', 'e0']);
    expect(rankBySupport(edits).map(({ id }) => id)).toEqual(['e2', 'e1', 'e0', 'e3']);
  });
});
