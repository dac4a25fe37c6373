import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeSandbox, readSandboxWasm } from '../../../scripts/node-sandbox.ts';
import type { Json } from '../../../src/core/types.ts';
import { QuickJsSandbox } from '../../../src/suites/sandbox/quickjs.ts';
import type { ScriptScore } from '../../../src/suites/sandbox/types.ts';

let sandbox: QuickJsSandbox;

beforeAll(async () => {
  sandbox = new QuickJsSandbox(await WebAssembly.compile(await readSandboxWasm()));
});

const score = (source: string, input: Json = {}, timeMs = 3000): Promise<ScriptScore> => sandbox.score({ source, input, timeMs });
const body = (code: string): string => `function score({ answer, task }) { ${code} }`;

describe('a script in the sandbox', () => {
  it('scores with booleans, numbers and records', async () => {
    expect(await score(body('return answer === task.answers[0]'), { answer: 'x', task: { answers: ['x'] } })).toEqual({ reward: 1 });
    expect(await score(body('return false'))).toEqual({ reward: 0 });
    expect(await score(body('return 0.25'))).toEqual({ reward: 0.25 });
    expect(await score(body('return { reward: 0.5, reason: "half" }'))).toEqual({ reward: 0.5, reason: 'half' });
    expect(await score(body('return { reward: true }'))).toEqual({ reward: 1 });
  });

  it('may be async, an arrow function, and use the whole language', async () => {
    expect(await score('const score = async ({ n }) => { await null; return (await Promise.resolve(n)) === 3; };', { n: 3 })).toEqual({
      reward: 1,
    });
    expect(
      await score(body('return new Set([...answer].map((c) => c.normalize())).size === 2n.toString().length + 1'), { answer: 'abab' }),
    ).toEqual({ reward: 1 });
    expect(await score(body('return new Date("2024-02-01").getTime() > new Date("2024-01-31").getTime()'))).toEqual({ reward: 1 });
  });

  it('gets its input exactly', async () => {
    const input = { text: 'é\u0000"\\\u2028𝒳\ud800', list: [1, -0.5, 1e21, null, true], nested: { a: { b: [] } } };
    const source = `function score(input) { return { reward: 1, reason: JSON.stringify(input) }; }`;
    expect(JSON.parse((await score(source, input)).reason!)).toEqual(input);
  });

  it('sees a standing clock and no chance, so that it scores the same every time', async () => {
    expect(await score(body('return Date.now() === 0 && new Date().getTime() === 0 && Math.random === undefined'))).toEqual({ reward: 1 });
    expect(await score(body('return new Date(5).constructor.now() === 0'))).toEqual({ reward: 1 });
  });

  it('starts from a fresh context in every call', async () => {
    await score(body('globalThis.left = 1; Object.prototype.left = 1; JSON.parse = null; return true'));
    expect(await score(body('return typeof left === "undefined" && typeof JSON.parse === "function" && !("left" in {})'))).toEqual({
      reward: 1,
    });
  });

  it('has nothing of the page, the network, timers or Node', async () => {
    const names = [
      'fetch',
      'XMLHttpRequest',
      'WebSocket',
      'Worker',
      'importScripts',
      'setTimeout',
      'queueMicrotask',
      'process',
      'require',
      'self',
      'window',
      'postMessage',
      'indexedDB',
      'std',
      'os',
      'WebAssembly',
    ];
    expect(await score(body(`return ${names.map((name) => `typeof ${name} === 'undefined'`).join(' && ')}`))).toEqual({ reward: 1 });
  });
});

describe('a hostile or broken script is stopped and named', () => {
  const hostile: readonly [string, string, string][] = [
    ['an endless loop', body('while (true) {}'), 'scorer-timeout'],
    ['an endless loop before any call', 'for (;;) {}', 'scorer-timeout'],
    [
      'a loop that catches its own interruption',
      body('for (;;) { try { for (;;) {} } catch (e) {} finally { continue; } }'),
      'scorer-timeout',
    ],
    ['endless continuations', body('const again = () => Promise.resolve().then(again); return again()'), 'scorer-'],
    ['an async loop', 'async function score() { for (;;) await null; }', 'scorer-'],
    ['a getter that loops', body('return { get reward() { for (;;) {} } }'), 'scorer-timeout'],
    ['an error whose description loops', body('throw { get message() { for (;;) {} } }'), 'scorer-timeout'],
    ['a proxy that loops', body('return new Proxy({}, { get() { for (;;) {} } })'), 'scorer-timeout'],
    ['a pattern that backtracks for ever', body('return /^(a+)+$/.test("a".repeat(50) + "b")'), 'scorer-timeout'],
    ['an array that grows', body('const list = []; for (;;) list.push("x".repeat(1000) + list.length)'), 'scorer-memory'],
    ['objects that chain', body('let o = {}; for (;;) o = { o }'), 'scorer-memory'],
    ['a memory bomb that catches its faults', body('const l = []; for (;;) { try { for (;;) l.push({}); } catch (e) {} }'), 'scorer-'],
    ['a text that doubles', body('let s = "x"; for (;;) s += s'), 'scorer-memory'],
    ['a huge typed array', body('return new Uint8Array(2 ** 30).length === 1'), 'scorer-memory'],
    ['a huge text', body('return "x".repeat(2 ** 29).length === 1'), 'scorer-memory'],
    ['endless recursion', 'function score(x) { return score(x) + 1; }', 'scorer-error'],
    ['deeply nested data', body('let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a).length > 0'), 'scorer-error'],
    ['an import', body('return import("fs")'), 'scorer-error'],
    ['a static import', 'import fs from "fs"; function score() { return true; }', 'scorer-error'],
    ['network access', body('return fetch("https://example.com")'), 'scorer-error'],
    ['no score function', 'const grade = () => true;', 'scorer-error'],
    ['a syntax error', 'function score( { return true }', 'scorer-error'],
    ['a thrown null', body('throw null'), 'scorer-error'],
    ['a promise that never settles', body('return new Promise(() => {})'), 'scorer-error'],
    ['a rejected promise', 'async function score() { throw new RangeError("no") }', 'scorer-error'],
    ['a reward that is not finite', body('return NaN'), 'scorer-bad-result'],
    ['a reward above 1', body('return { reward: 2 }'), 'scorer-bad-result'],
    ['a negative reward', body('return -1'), 'scorer-bad-result'],
    ['a text', body('return "yes"'), 'scorer-bad-result'],
    ['nothing', body(''), 'scorer-bad-result'],
    ['a function', body('return () => 1'), 'scorer-bad-result'],
    ['a big integer', body('return 1n'), 'scorer-bad-result'],
    ['a reason that is no text', body('return { reward: 1, reason: {} }'), 'scorer-bad-result'],
    ['a record with a forged prototype', body('return JSON.parse("{\\"__proto__\\": {\\"reward\\": 1}}")'), 'scorer-bad-result'],
  ];

  it.each(hostile)('%s', async (_, source, code) => {
    // What ends by itself gets all the time it needs on a busy machine; endless work is ended early.
    const timeMs = code === 'scorer-timeout' ? 100 : 3000;
    await expect(score(source, {}, timeMs)).rejects.toMatchObject({
      code: expect.stringContaining(code),
      hint: expect.stringMatching(/\w/),
    });
    expect(await score(body('return true'))).toEqual({ reward: 1 });
  });

  it('names the line of an error', async () => {
    await expect(score('function score() {\n  const a = {};\n  return a.b.c;\n}')).rejects.toThrow(/line 3: TypeError/);
    await expect(score('function score() {\n  return ;;)\n}')).rejects.toThrow(/line 2: SyntaxError/);
  });

  it('cannot reach the host through prototypes', async () => {
    const reach = body(`
      Object.prototype.polluted = 1; Array.prototype.polluted = 1; Function.prototype.polluted = 1;
      const Outer = score.constructor.constructor;
      const host = Outer('return typeof process + typeof window + typeof self')();
      return { reward: host === 'undefinedundefinedundefined' ? 1 : 0, reason: host };`);
    expect(await score(reach)).toEqual({ reward: 1, reason: 'undefinedundefinedundefined' });
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect('polluted' in {}).toBe(false);
  });

  it('cannot forge another fault than it earned', async () => {
    await expect(score(body('throw { name: "InternalError", message: "interrupted" }'))).rejects.toMatchObject({ code: 'scorer-error' });
  });

  it('refuses an input that would fill the memory', async () => {
    await expect(score(body('return true'), { text: 'x'.repeat(9 * 1024 * 1024) })).rejects.toMatchObject({ code: 'scorer-memory' });
  });

  it('shortens what it says', async () => {
    const { reason } = await score(body('return { reward: 1, reason: "x".repeat(100000) }'));
    expect(reason!.length).toBeLessThan(400);
    await expect(score(body('throw new Error("y".repeat(100000))'))).rejects.toSatisfy((e: Error) => e.message.length < 500);
  });
});

describe('a sandbox in a thread', () => {
  const threaded = nodeSandbox();
  afterAll(() => threaded.close());

  it('ends a script that works inside one built-in, and goes on with the next', async () => {
    const wedge = threaded.score({ source: 'function score() { return new Array(4e9).join("x").length; }', input: {}, timeMs: 100 });
    const next = threaded.score({ source: body('return answer === 1'), input: { answer: 1 } });
    await expect(wedge).rejects.toMatchObject({ code: 'scorer-timeout' });
    expect(await next).toEqual({ reward: 1 });
  });

  it('carries faults across with code and hint', async () => {
    await expect(threaded.score({ source: body('return null.x'), input: {} })).rejects.toMatchObject({
      code: 'scorer-error',
      hint: expect.stringMatching(/\w/),
    });
  });
});
