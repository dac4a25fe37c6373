import type { Random } from '../../core/random.ts';
import { RULE_IDS, type RuleId } from '../../suites/household/rules.ts';
import type { ReadHistory, ReadPrompt, ReadTask } from './parse.ts';
import { type AskedGoal, moments, readGoal, shares } from './trace.ts';
import { CARD_TEXTS, sentenceKey, statedRules, wordingFor } from './wordings.ts';

/** A task whose wish the analyst understands. */
interface KnownTask {
  readonly task: ReadTask;
  readonly goal: AskedGoal;
}

/** One mechanism the analyst holds responsible, with the tasks that show it. */
interface Finding {
  readonly rule: RuleId;
  readonly tasks: readonly string[];
  readonly strength: number;
}

/** Answers a critique call from rules over the trajectories: what failures did that successes did not, or what many did alike. */
export function answerCritique(prompt: ReadPrompt, random: Random): object {
  const known = prompt.tasks.flatMap((task): KnownTask[] => {
    const goal = readGoal(task.input);
    return goal ? [{ task, goal }] : [];
  });
  const route = prompt.attributes.route ?? '';
  const findings = route === 'mixed' || route === 'pooled' ? contrasts(known) : shared(known, route);
  const edits = proposals(findings, prompt, random);
  const top = findings[0];
  const divergence = route === 'mixed' && top ? `${CARD_TEXTS[top.rule].condition}: ${CARD_TEXTS[top.rule].broken.toLowerCase()}` : '';
  return { divergence, edits, cards: known.flatMap((entry) => cardsOf(entry, findings)) };
}

/** Rules broken more often by failed than by successful attempts at the same task. */
function contrasts(known: readonly KnownTask[]): Finding[] {
  const found = new Map<RuleId, { tasks: string[]; strength: number }>();
  for (const { task, goal } of known) {
    const failed = shares(task, goal, false);
    const won = shares(task, goal, true);
    for (const rule of RULE_IDS) {
      const difference = (failed.broken.get(rule) ?? 0) - (won.broken.get(rule) ?? 0);
      if (difference > 0.2) gather(found, rule, task.id, difference);
    }
  }
  return ordered(found);
}

/** Rules that all attempts broke (failures) or kept (successes) in at least two tasks. */
function shared(known: readonly KnownTask[], route: string): Finding[] {
  const found = new Map<RuleId, { tasks: string[]; strength: number }>();
  for (const { task, goal } of known) {
    const attempts = shares(task, goal, route === 'all-success');
    const told = route === 'all-success' ? attempts.kept : attempts.broken;
    for (const [rule, share] of told) if (share >= 0.5) gather(found, rule, task.id, share);
  }
  return ordered(found).filter(({ tasks }) => tasks.length >= 2);
}

function gather(found: Map<RuleId, { tasks: string[]; strength: number }>, rule: RuleId, taskId: string, strength: number): void {
  const entry = found.get(rule);
  if (entry) {
    entry.tasks.push(taskId);
    entry.strength += strength;
  } else found.set(rule, { tasks: [taskId], strength });
}

function ordered(found: ReadonlyMap<RuleId, { readonly tasks: string[]; readonly strength: number }>): Finding[] {
  return Array.from(found, ([rule, { tasks, strength }]) => ({ rule, tasks, strength })).sort((a, b) => b.strength - a.strength);
}

/** Edits for the findings: a bullet for a rule the context lacks, another wording for one it states in vain. */
function proposals(findings: readonly Finding[], prompt: ReadPrompt, random: Random): object[] {
  const { context, attributes, history, avoid } = prompt;
  const maxEdits = Number(attributes.max_edits ?? 1);
  const preserving = attributes.route === 'all-success';
  const stated = statedRules(context);
  const tried = triedWordings(history, avoid, context);
  const edits: object[] = [];
  for (const { rule, tasks } of findings) {
    if (edits.length >= maxEdits) break;
    const line = stated.get(rule);
    // A stated rule that successes keep needs no edit; one that failures break may be worded badly.
    if (line !== undefined && (preserving || random.chance(0.5))) continue;
    const content = `- ${wordingFor(rule, tried, random)}`;
    const kind = preserving ? 'preservation' : 'corrective';
    edits.push(
      line === undefined ? { op: 'append', content, kind, support: tasks } : { op: 'replace', target: line, content, kind, support: tasks },
    );
  }
  return edits;
}

/** Sentences that stand in the context, were in a rejected candidate, or are to be avoided. */
function triedWordings(history: readonly ReadHistory[], avoid: ReadPrompt['avoid'], context: string): Set<string> {
  const rejected = history.filter(({ decision }) => decision !== 'accepted').flatMap(({ edits }) => edits);
  const texts = [...rejected, ...avoid].map(({ content }) => content ?? '');
  return new Set([...texts, ...context.split('\n')].map(sentenceKey));
}

/** One card an attempt: the moment that tells most about the findings, else any telling moment. */
function cardsOf({ task, goal }: KnownTask, findings: readonly Finding[]): object[] {
  return task.trajectories.flatMap((trajectory) => {
    const seen = moments(goal, trajectory).filter(({ quote, kept }) => quote.trim().length >= 8 && (kept || !trajectory.success));
    const rank = (rule: RuleId) => {
      const at = findings.findIndex((finding) => finding.rule === rule);
      return at === -1 ? findings.length : at;
    };
    const telling = seen
      .filter(({ kept }) => kept === trajectory.success)
      .concat(seen)
      .sort((a, b) => Number(b.kept === trajectory.success) - Number(a.kept === trajectory.success) || rank(a.rule) - rank(b.rule))[0];
    if (!telling) return [];
    const texts = CARD_TEXTS[telling.rule];
    return [
      {
        task_id: task.id,
        rollout_id: trajectory.id,
        quote: telling.quote.slice(0, 400),
        condition: texts.condition,
        behavior: telling.kept ? texts.kept : texts.broken,
        observed_effect: trajectory.success ? 'The attempt succeeded' : 'The attempt failed',
      },
    ];
  });
}
