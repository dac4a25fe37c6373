import type { Rollout, Turn } from '../core/types.ts';
import type { TaskBlock, Trajectory } from './dedupe.ts';
import type { Edit, VerifiedCard } from './types.ts';

/**
 * How critics are shown what happened. Lines at the left margin are structure, everything recorded is indented, so that the
 * text reads well and can still be parsed without doubt, whatever an observation contains.
 */
const INDENT = '  ';

export function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => INDENT + line)
    .join('\n');
}

/** A task with its distinct trajectories. @param keepTurns elides the middle of longer trajectories, visibly. */
export function renderBlock(block: TaskBlock, keepTurns = Number.POSITIVE_INFINITY): string {
  const { task, route, successes, outcomes, trajectories } = block;
  const head = `<task id=${JSON.stringify(task.id)} route="${route}" successes="${successes}" attempts="${outcomes}">`;
  const bodies = trajectories.map((trajectory) => renderTrajectory(trajectory, keepTurns));
  return [head, 'input:', indent(task.input), ...bodies, '</task>'].join('\n');
}

function renderTrajectory({ rollout, success, multiplicity }: Trajectory, keepTurns: number): string {
  const head = `<trajectory id=${JSON.stringify(rollout.id)} outcome="${success ? 'success' : 'failure'}" copies="${multiplicity}">`;
  return [head, ...renderTurns(rollout, keepTurns), '</trajectory>'].join('\n');
}

function renderTurns(rollout: Rollout, keepTurns: number): string[] {
  const { turns } = rollout;
  const lines: string[] = [];
  const add = (turn: Turn, i: number): void => {
    lines.push(`observation ${i + 1}:`, indent(turn.observation), `action ${i + 1}:`, indent(turn.action));
  };
  if (turns.length <= keepTurns) {
    turns.forEach(add);
  } else {
    const head = Math.ceil(keepTurns / 2);
    const tail = keepTurns - head;
    turns.slice(0, head).forEach(add);
    lines.push(`(${turns.length - keepTurns} turns elided)`);
    turns.slice(turns.length - tail).forEach((turn, i) => {
      add(turn, turns.length - tail + i);
    });
  }
  lines.push('last observation:', indent(rollout.finalObservation));
  if (rollout.answer.trim() !== '') lines.push('answer:', indent(rollout.answer));
  return lines;
}

export function renderEdit(edit: Edit): string {
  return JSON.stringify({
    id: edit.id,
    op: edit.op,
    ...(edit.target === undefined ? {} : { target: edit.target }),
    ...(edit.content === undefined ? {} : { content: edit.content }),
    kind: edit.kind,
    support: edit.support,
  });
}

export function renderCard(card: VerifiedCard): string {
  return JSON.stringify({
    task_id: card.taskId,
    rollout_id: card.rolloutId,
    route: card.route,
    condition: card.condition,
    behavior: card.behavior,
    observed_effect: card.observedEffect,
    quote: card.quote,
  });
}
