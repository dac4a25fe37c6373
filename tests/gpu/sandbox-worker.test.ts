import { afterAll, expect, it } from 'vitest';
import { browserSandbox } from '../../workers/sandbox-thread.ts';

const sandbox = browserSandbox();
afterAll(() => sandbox.close());

it('scores in a worker of its own', async () => {
  const source = 'function score({ answer, task }) { return answer === task.answers[0]; }';
  expect(await sandbox.score({ source, input: { answer: 'x', task: { answers: ['x'] } } })).toEqual({ reward: 1 });
});

it('has no network, not even of its worker', async () => {
  const source =
    'function score() { return typeof fetch + typeof XMLHttpRequest + typeof WebSocket + typeof importScripts === "undefined".repeat(4); }';
  expect(await sandbox.score({ source, input: {} })).toEqual({ reward: 1 });
});

it('replaces a worker that a script has wedged', async () => {
  const wedge = sandbox.score({ source: 'function score() { return new Array(4e9).join("x").length; }', input: {}, timeMs: 100 });
  const next = sandbox.score({ source: 'function score() { return 0.5; }', input: {} });
  await expect(wedge).rejects.toMatchObject({ code: 'scorer-timeout', hint: expect.stringMatching(/\w/) });
  expect(await next).toEqual({ reward: 0.5 });
});

it('names loops and memory bombs', async () => {
  await expect(sandbox.score({ source: 'for (;;) {}', input: {}, timeMs: 100 })).rejects.toMatchObject({ code: 'scorer-timeout' });
  const bomb = 'function score() { const list = []; for (;;) list.push("x".repeat(1000) + list.length); }';
  await expect(sandbox.score({ source: bomb, input: {}, timeMs: 5000 })).rejects.toMatchObject({ code: 'scorer-memory' });
});
