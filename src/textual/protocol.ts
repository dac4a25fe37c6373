import * as v from 'valibot';

/** What a critic answers, one schema a call. Edits and cards are read one by one later, so that a bad one costs only itself. */

const text = v.pipe(v.string(), v.trim(), v.minLength(1));
const id = v.pipe(v.union([v.string(), v.number()]), v.transform(String));

export const CritiqueAnswer = v.pipe(
  v.object({
    /** Mixed route: the decision at which successful and failed attempts part. */
    divergence: v.optional(v.nullable(v.string())),
    edits: v.optional(v.nullable(v.array(v.unknown()))),
    cards: v.optional(v.nullable(v.array(v.unknown()))),
  }),
  // Without this a single edit or card inside a malformed answer would pass for an empty answer.
  v.check(({ edits, cards }) => edits !== undefined || cards !== undefined, 'needs "edits" and "cards"'),
);
export type CritiqueAnswer = v.InferOutput<typeof CritiqueAnswer>;

/** One proposed edit as a critic writes it. `op` stays free text: an unknown one is reported by the patch, not hidden here. */
export const ProposedEdit = v.object({
  op: text,
  target: v.optional(v.nullable(v.string())),
  content: v.optional(v.nullable(v.string())),
  kind: v.optional(v.nullable(v.string())),
  support: v.optional(v.nullable(v.array(id)), []),
  sources: v.optional(v.nullable(v.array(id)), []),
});
export type ProposedEdit = v.InferOutput<typeof ProposedEdit>;

export const MergeAnswer = v.object({ edits: v.array(ProposedEdit) });

export const VERDICTS = ['retain', 'narrow', 'revise', 'insufficient_evidence'] as const;
export const RELATIONS = ['supports', 'limits', 'contradicts'] as const;

export const ReviewAnswer = v.object({
  reviews: v.array(
    v.object({
      edit_id: id,
      verdict: v.picklist(VERDICTS),
      reason: v.optional(v.nullable(v.string()), ''),
      content: v.optional(v.nullable(v.string())),
      target: v.optional(v.nullable(v.string())),
      evidence: v.optional(v.nullable(v.array(v.unknown())), []),
    }),
  ),
});

export const ReviewEvidence = v.object({
  task_id: id,
  rollout_id: id,
  relation: v.picklist(RELATIONS),
  reason: v.optional(v.nullable(v.string()), ''),
});

export const RankAnswer = v.object({ order: v.pipe(v.array(id), v.minLength(1)) });

/** The same shapes as JSON Schema, for models that can be held to one. */
const string = { type: 'string' } as const;
const strings = { type: 'array', items: string } as const;
const object = (properties: Record<string, object>, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const list = (items: object) => ({ type: 'array', items });

const EDIT_FIELDS = {
  op: { enum: ['append', 'insert_after', 'replace', 'delete'] },
  target: string,
  content: string,
  kind: { enum: ['corrective', 'preservation'] },
};

export const CRITIQUE_JSON = object(
  {
    divergence: string,
    edits: list(object({ ...EDIT_FIELDS, support: strings }, ['op', 'kind', 'support'])),
    cards: list(
      object({ task_id: string, rollout_id: string, quote: string, condition: string, behavior: string, observed_effect: string }, [
        'task_id',
        'rollout_id',
        'quote',
        'condition',
        'behavior',
        'observed_effect',
      ]),
    ),
  },
  ['edits', 'cards'],
);

export const MERGE_JSON = object({ edits: list(object({ ...EDIT_FIELDS, sources: strings }, ['op', 'kind', 'sources'])) }, ['edits']);

export const REVIEW_JSON = object(
  {
    reviews: list(
      object(
        {
          edit_id: string,
          verdict: { enum: VERDICTS },
          reason: string,
          target: string,
          content: string,
          evidence: list(
            object({ task_id: string, rollout_id: string, relation: { enum: RELATIONS }, reason: string }, [
              'task_id',
              'rollout_id',
              'relation',
              'reason',
            ]),
          ),
        },
        ['edit_id', 'verdict', 'reason', 'evidence'],
      ),
    ),
  },
  ['reviews'],
);

export const RANK_JSON = object({ order: strings }, ['order']);
