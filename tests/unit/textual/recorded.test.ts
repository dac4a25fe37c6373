import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readRecorded, recordedRoutes } from '../../../src/textual/recorded.ts';
import { sharedPath } from '../../shared.ts';

const say = (content: string) => [
  { role: 'system', content: 'policy' },
  { role: 'assistant', content },
];
const routes = (data: unknown) => recordedRoutes(readRecorded(data, 'file.json'));

describe('recordedRoutes', () => {
  it('routes by task and counts distinct trajectories', () => {
    const data = [
      { task_id: 1, reward: 1, messages: say('a') },
      { task_id: '1', reward: 0, messages: say('a') },
      { task_id: 2, reward: 1, messages: say('a') },
      { task_id: 2, reward: 1, messages: say(' a\n') },
      { task_id: 3, reward: 0, turns: [{ observation: 'x', action: 'y' }] },
    ];
    expect(routes(data)).toEqual({ tasks: 3, mixed: 1, allSuccess: 1, allFailure: 1, unique: 4 });
    expect(routes({ rollouts: data })).toEqual(routes(data));
  });

  it('counts what could not run apart', () => {
    const data = [
      { task_id: 1, reward: 1, messages: say('a') },
      { task_id: 1, reward: null, error: 'rate limit' },
    ];
    expect(routes(data)).toEqual({ tasks: 1, mixed: 0, allSuccess: 1, allFailure: 0, unique: 1, errors: 1 });
  });

  it.each([
    ['no list', 'text', /file\.json: the file: expected a list/],
    ['an empty list', [], /holds no rollouts/],
    ['no task', [{ reward: 1, messages: say('a') }], /rollout 0: task_id is missing/],
    ['no reward', [{ task_id: 7, messages: say('a') }], /rollout 0 \(task 7\): reward is missing/],
    ['a reward that is text', [{ task_id: 1, reward: 'x', messages: say('a') }], /rollout 0\.reward: expected a finite number/],
    ['no messages', [{ task_id: 1, reward: 1 }], /messages \(or turns\) are missing/],
    ['a message that is no object', [{ task_id: 1, reward: 1, messages: ['hi'] }], /rollout 0\.messages/],
  ])('refuses %s and says where', (_, data, message) => {
    expect(() => routes(data)).toThrowError(message);
    expect(() => routes(data)).toThrowError(expect.objectContaining({ code: 'trajectories-invalid' }));
  });

  const file = sharedPath('data/trajectories/tau-airline-25x4.json');
  it.skipIf(file === undefined)('reads published tau-bench trajectories', () => {
    const data: unknown = JSON.parse(readFileSync(file as string, 'utf8'));
    expect(routes(data)).toEqual({ tasks: 25, mixed: 9, allSuccess: 8, allFailure: 8, unique: 100 });
  });
});
