import { foldKey } from '../core/fold.ts';
import type { Edit } from './types.ts';

/**
 * Dependency filter (App. A): edits that rely on what the target cannot see at run time are dropped. Patterns find a mention;
 * a negation within eight words before it in the same clause makes it a prohibition, which may stay. Linear in the text.
 */
const HIDDEN = [
  '(?:gold(?:en)?|gold-standard|reference|ground[ -]truth|oracle|labell?ed) (?:standard |target )?(?:answers?|labels?|solutions?|responses?|outputs?|values?|results?|annotations?|targets?|actions?|trajector(?:y|ies))',
  'ground[ -]truths?',
  'gold[ -]standards?',
  'answer[ -]keys?',
  "(?:evaluator|evaluation|grader|grading|scorer|scoring|judge|verifier)(?:'s|s')? (?:feedback|notes?|comments?|scores?|verdicts?|outputs?|messages?|signals?|results?|expectations?|logs?)",
  '(?:feedback|scores?|verdicts?|comments?|messages?|results?) (?:from|of|by) (?:the |an? )?(?:evaluators?|graders?|scorers?|judges?|verifiers?)',
  '(?:evaluator|grader|scorer|verifier) (?:expects?|wants?|says?|accepts?|marks?|confirms?|approves?|reports?)',
  'reward (?:signals?|scores?|values?|functions?|models?|feedback)',
  '(?:the|its|your|observed|received|returned|training|final|high|higher|highest|positive|maximum|maximal|maximi[sz]e|maximi[sz]ing) rewards?(?! (?:points?|programs?|programmes?|cards?|members?|numbers?|balance|miles))',
  '(?:hidden|held-out|heldout|private|unseen|secret) (?:unit )?(?:tests?|test cases?|checks?|labels?|test suites?|validation(?: tasks?| items?| set)?)',
  '(?:sibling|parallel|peer|other|successful|failed) (?:rollouts?|trajector(?:y|ies))',
  '(?:sibling|parallel|peer) (?:attempts?|runs?|samples?|episodes?|answers?)',
];
const MENTION = new RegExp(`(?<![a-z0-9])(?:${HIDDEN.join('|')})(?![a-z0-9])`, 'g');

/** Words that turn what they govern into its opposite; `do not` and its like are two tokens. */
const AUXILIARIES = new Set(['do', 'does', 'did', 'must', 'should', 'can', 'could', 'may', 'will', 'would', 'shall', 'need']);
const NEGATIONS = new Set([
  ...['never', 'avoid', 'avoiding', 'without', 'ignore', 'ignoring', 'cannot', 'nor'],
  ...["don't", 'dont', "doesn't", "didn't", "mustn't", "shouldn't", "can't", "won't", "needn't"],
]);
/** Verbs of omission and deviation: under a negation they demand what they govern (`never forget to check …`). */
const OMISSIONS =
  /^(?:forget|fail|neglect|omit|hesitat|refus|skip|miss|overlook|disregard|stop|ceas|quit|finish|delay|postpon|differ|deviat|diverg|depart|contradict|disagree|conflict)(?:e|s|es|ting|ing|ping)?$/;
/** Connectives that start a condition of their own: the negated verb governs it, not the mention behind it. */
const CONDITIONS = new Set(['until', 'unless', 'till', 'before', 'except', 'if', 'when', 'whenever', 'once']);
/** Words after which a clause turns affirmative again. */
const TURNS = new Set(['but', 'instead', 'rather', 'however', 'then', 'always', 'only', 'just']);
const IMPERATIVES =
  /^(?:check|compare|use|consult|look|match|verify|read|copy|follow|ask|wait|see|refer|rely|get|find|answer|submit|return|choose|pick|keep|make|ensure|try|open|take|confirm|inspect|query|request|align|fit|optimi[sz]e|maximi[sz]e)$/;

const WINDOW = 8;

/** The first mention of hidden information that the text relies on, or undefined when there is none. */
export function hiddenDependency(text: string): string | undefined {
  const folded = foldKey(text).toLowerCase().replace(/[*_`]/g, '');
  const tokens = tokenise(folded);
  let cursor = 0;
  for (const match of folded.matchAll(MENTION)) {
    while (cursor < tokens.length && (tokens[cursor] as Token).at < match.index) cursor++;
    if (!isProhibited(tokens, cursor)) return match[0];
  }
  return undefined;
}

/** Splits edits into those that stand on what the target can see and those that do not. Deletions are exempt. */
export function filterDependencies(edits: readonly Edit[]): {
  readonly kept: readonly Edit[];
  readonly dropped: readonly { readonly edit: Edit; readonly reason: string }[];
} {
  const kept: Edit[] = [];
  const dropped: { edit: Edit; reason: string }[] = [];
  for (const edit of edits) {
    const found = edit.op === 'delete' || typeof edit.content !== 'string' ? undefined : hiddenDependency(edit.content);
    if (found === undefined) kept.push(edit);
    else dropped.push({ edit, reason: 'hidden-dependency' });
  }
  return { kept, dropped };
}

interface Token {
  readonly text: string;
  readonly at: number;
}

function tokenise(text: string): Token[] {
  return Array.from(text.matchAll(/[a-z0-9]+(?:['-][a-z0-9]+)*|[.;:!?,()]/g), (match) => ({ text: match[0], at: match.index }));
}

/** Whether the mention at token `mention` stands under a negation of its clause. */
function isProhibited(tokens: readonly Token[], mention: number): boolean {
  const before = clauseBefore(tokens, mention);
  const last = findLastNegation(before);
  if (last === undefined) return false;
  const between = before.slice(last.end);
  if (between.some((word) => CONDITIONS.has(word) || TURNS.has(word))) return false;
  // Count what turns the meaning: the nearest negation, verbs of omission under it, and negations that govern it in turn.
  let turns = 1 + between.filter((word) => OMISSIONS.test(word)).length;
  let rest = before.slice(0, last.start);
  for (let outer = findLastNegation(rest); outer !== undefined; outer = findLastNegation(rest)) {
    const joint = before.slice(outer.end, last.start);
    const coordinated = ['and', 'or', 'nor', ','].includes(joint.at(-1) ?? '') || joint.includes(',');
    if (coordinated) break;
    turns++;
    rest = rest.slice(0, outer.start);
  }
  return turns % 2 === 1;
}

/** Up to eight words before the mention, back to the start of its clause; commas inside the clause stay as tokens. */
function clauseBefore(tokens: readonly Token[], mention: number): string[] {
  const words: string[] = [];
  let count = 0;
  let sawOr = false;
  for (let i = mention - 1; i >= 0; i--) {
    const { text } = tokens[i] as Token;
    // Commas do not count as words; the second bound keeps long runs of them cheap.
    if ('.;:!?()'.includes(text) || words.length > 3 * WINDOW) break;
    if (text === ',') {
      // `never guess, check …` starts anew; `never copy, quote, or use …` goes on under its negation.
      if (!sawOr && IMPERATIVES.test(words[0] ?? '')) break;
    } else {
      // Two-token negations may start one word before the window.
      if (count === WINDOW && !(words[0] === 'not' && AUXILIARIES.has(text))) break;
      if (count > WINDOW) break;
      count++;
      if (text === 'or' || text === 'nor') sawOr = true;
    }
    words.unshift(text);
  }
  return words;
}

function findLastNegation(words: readonly string[]): { readonly start: number; readonly end: number } | undefined {
  for (let i = words.length - 1; i >= 0; i--) {
    const word = words[i] as string;
    if (NEGATIONS.has(word)) return { start: i, end: i + 1 };
    if (word === 'not' && AUXILIARIES.has(words[i - 1] ?? '')) return { start: i - 1, end: i + 1 };
  }
  return undefined;
}
