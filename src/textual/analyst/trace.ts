import type { RuleId } from '../../suites/household/rules.ts';
import type { ReadTask, ReadTrajectory } from './parse.ts';

/** What a household task asks for, read from its text. */
export interface AskedGoal {
  readonly object: string;
  readonly treatment?: 'clean' | 'heat' | 'cool' | undefined;
  readonly lamp: boolean;
  readonly two: boolean;
}

/** One telling moment of a trajectory: a rule kept or broken, with words of the trajectory that show it. */
export interface Moment {
  readonly rule: RuleId;
  readonly kept: boolean;
  readonly quote: string;
}

const NAME = '([a-z]+ \\d+)';
const GO = new RegExp(`^go to ${NAME}$`);
const OPEN = new RegExp(`^open ${NAME}$`);
const TAKE = new RegExp(`^take ${NAME} from ${NAME}$`);
const PUT = new RegExp(`^(?:put|move) ${NAME} (?:in/on|to|in|on) ${NAME}$`);
const TREAT = new RegExp(`^(clean|heat|cool) ${NAME} with ${NAME}$`);
const USE = new RegExp(`^use ${NAME}$`);

const WISHES: Readonly<Record<string, AskedGoal['treatment']>> = {
  clean: 'clean',
  cleaned: 'clean',
  hot: 'heat',
  heat: 'heat',
  heated: 'heat',
  cool: 'cool',
  cold: 'cool',
  cooled: 'cool',
};

/** Reads ALFWorld's ways of stating a task; undefined for tasks of another kind. */
export function readGoal(input: string): AskedGoal | undefined {
  const text = input.toLowerCase();
  const lamp = /(?:look at|examine)(?: an?| the| some)? ([a-z]+) (?:under|with) the desklamp/.exec(text);
  if (lamp) return { object: lamp[1] as string, lamp: true, two: false };
  const two = /(?:find two|put two) ([a-z]+)/.exec(text);
  if (two) return { object: two[1] as string, lamp: false, two: true };
  const treated = /(?:put|find)(?: an?| some)? (clean|cleaned|hot|cool|cold|heated|cooled) ([a-z]+)/.exec(text);
  if (treated) return { object: treated[2] as string, treatment: WISHES[treated[1] as string], lamp: false, two: false };
  const verb = /^(clean|heat|cool)(?: an?| some)? ([a-z]+) and put/.exec(text);
  if (verb) return { object: verb[2] as string, treatment: WISHES[verb[1] as string], lamp: false, two: false };
  const plain = /put(?: an?| some)? ([a-z]+) (?:in|on)/.exec(text);
  return plain ? { object: plain[1] as string, lamp: false, two: false } : undefined;
}

/** Replays a trajectory's commands and notes where a rule was kept or broken; moments in order of time. */
export function moments(goal: AskedGoal, trajectory: ReadTrajectory): Moment[] {
  const found: Moment[] = [];
  const visited = new Set<string>();
  const treated = new Set<string>();
  let holding: string | undefined;
  let closedHere: string | undefined;
  let placed = 0;
  let taken = 0;
  let lastPut = '';
  const note = (rule: RuleId, kept: boolean, quote: string): void => {
    found.push({ rule, kept, quote });
  };
  const { turns, last } = trajectory;
  turns.forEach(({ observation, action }, i) => {
    const answer = turns[i + 1]?.observation ?? last;
    if (/^nothing happens/i.test(answer)) return;
    const command = action.trim().toLowerCase();
    const searching = holding === undefined && (taken === 0 || goal.two);
    if (closedHere !== undefined && searching && !OPEN.test(command)) note('open', false, observation);
    const go = GO.exec(command);
    if (go) {
      const place = go[1] as string;
      if (searching && taken === 0 && visited.has(place)) note('new-place', false, answer);
      else if (searching && visited.size >= 2) note('new-place', true, answer);
      visited.add(place);
    }
    if (OPEN.test(command) && searching) note('open', true, answer);
    const take = TAKE.exec(command);
    if (take) {
      holding = take[1] as string;
      taken++;
      const exact = typeOf(holding) === goal.object;
      note('exact', exact, answer);
    }
    const treat = TREAT.exec(command);
    if (treat && goal.treatment === treat[1]) {
      treated.add(treat[2] as string);
      note('treat', true, answer);
    }
    const put = PUT.exec(command);
    if (put) {
      const object = put[1] as string;
      holding = undefined;
      placed++;
      lastPut = answer;
      if (goal.treatment !== undefined && !treated.has(object)) note('treat', false, answer);
      if (goal.two && placed === 2) note('two', true, answer);
    }
    if (USE.test(command) && goal.lamp) note('lamp', holding !== undefined, answer);
    closedHere = /^(?:you arrive at .*)?(?:the )?[a-z]+ \d+ is closed\.?/i.test(answer.trim())
      ? answer
      : go
        ? undefined
        : OPEN.test(command)
          ? undefined
          : closedHere;
  });
  if (goal.two && placed === 1) note('two', false, lastPut);
  return found;
}

/** The rules that a task's trajectories broke or kept, each with the share of the trajectories that did. */
export function shares(
  task: ReadTask,
  goal: AskedGoal,
  success: boolean,
): { readonly n: number; readonly broken: Map<RuleId, number>; readonly kept: Map<RuleId, number> } {
  const broken = new Map<RuleId, number>();
  const kept = new Map<RuleId, number>();
  let n = 0;
  for (const trajectory of task.trajectories) {
    if (trajectory.success !== success) continue;
    n += trajectory.copies;
    const seen = moments(goal, trajectory);
    for (const rule of new Set(seen.map((moment) => moment.rule))) {
      // A rule that was broken once was not kept.
      const into = seen.some((moment) => moment.rule === rule && !moment.kept) ? broken : kept;
      into.set(rule, (into.get(rule) ?? 0) + trajectory.copies);
    }
  }
  const share = (counts: Map<RuleId, number>) => new Map(Array.from(counts, ([rule, count]) => [rule, count / Math.max(1, n)]));
  return { n, broken: share(broken), kept: share(kept) };
}

function typeOf(name: string): string {
  return name.slice(0, name.lastIndexOf(' '));
}
