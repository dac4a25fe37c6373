import baseVariant from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  Scope,
} from 'quickjs-emscripten-core';
import { NacreError } from '../../core/errors.ts';
import { badResult, clip, MEMORY_BYTES, memoryFault, SCRIPT_NAME, scriptFault, thrownFault, timeoutFault } from './faults.ts';
import { FIND_SCORE, PRELUDE } from './prelude.ts';
import { DEFAULT_TIME_MS, type ScriptCall, type ScriptSandbox, type ScriptScore } from './types.ts';

const PAGE_BYTES = 65_536;
/** What the engine's file asks for at the start. */
const INITIAL_BYTES = 16 * 1024 * 1024;
const STACK_BYTES = 256 * 1024;
/** Jobs (continuations of promises) one call may run. */
const MAX_JOBS = 10_000;

/**
 * Scripts in QuickJS, a JavaScript engine compiled to WebAssembly: they see the language and their input, nothing else — no
 * network, no timers, no modules, nothing of the page. Every call gets a fresh context that is thrown away.
 *
 * The time limit acts between the engine's instructions. A few built-ins can work for minutes inside one of them
 * (`new Array(4e9).join()`), so foreign code belongs in a worker under a `SupervisedSandbox`, which ends the worker.
 */
export class QuickJsSandbox implements ScriptSandbox {
  private readonly wasm: WebAssembly.Module;
  private engine: Engine | undefined;

  /** @param wasm the compiled engine: `emscripten-module.wasm` of `@jitl/quickjs-wasmfile-release-sync`. */
  constructor(wasm: WebAssembly.Module) {
    this.wasm = wasm;
  }

  async score(call: ScriptCall): Promise<ScriptScore> {
    const engine = this.engine ?? (await startEngine(this.wasm));
    // Kept only after a call that ended well: what a stopped script leaves behind (a full memory, a broken stack) goes with it.
    this.engine = undefined;
    const score = playSafely(engine, call);
    this.engine = engine;
    return score;
  }
}

interface Engine {
  readonly quickjs: QuickJSWASMModule;
  readonly memory: WebAssembly.Memory;
}

/**
 * The memory has a maximum of its own because QuickJS cannot count what it allocates here: its own limit does not see small
 * allocations when compiled to WebAssembly, and a script could fill gigabytes.
 */
async function startEngine(wasm: WebAssembly.Module): Promise<Engine> {
  const memory = new WebAssembly.Memory({ initial: INITIAL_BYTES / PAGE_BYTES, maximum: MEMORY_BYTES / PAGE_BYTES });
  const variant = newVariant(baseVariant, { wasmModule: wasm, wasmMemory: memory });
  return { quickjs: await newQuickJSWASMModuleFromVariant(variant), memory };
}

/** @throws {NacreError} nothing else, whatever the script does to the engine. */
function playSafely({ quickjs, memory }: Engine, call: ScriptCall): ScriptScore {
  try {
    return runScript(quickjs, call);
  } catch (thrown) {
    // Memory grows in steps and only ever grows; the last step that would fit may be a small one.
    const full = memory.buffer.byteLength >= 0.9 * MEMORY_BYTES;
    if (thrown instanceof NacreError) throw full && thrown.code === 'scorer-error' ? memoryFault() : thrown;
    // The engine itself gave up: its stack ran out, or an assertion of its C code failed.
    throw full ? memoryFault() : scriptFault(`it broke the engine that ran it (${clip(String(thrown))})`);
  }
}

/** A context under its limits, and what the prelude holds there. */
interface Room {
  readonly context: QuickJSContext;
  readonly runtime: QuickJSRuntime;
  readonly timeMs: number;
  readonly prelude: QuickJSHandle;
  timedOut(): boolean;
}

function runScript(engine: QuickJSWASMModule, call: ScriptCall): ScriptScore {
  const timeMs = call.timeMs ?? DEFAULT_TIME_MS;
  const input = JSON.stringify(call.input);
  // Text, parsed values and the script's own work share the memory; beyond this the input alone could exhaust it.
  if (input.length > MEMORY_BYTES / 8) throw memoryFault();
  return Scope.withScope((scope) => {
    const runtime = scope.manage(engine.newRuntime());
    runtime.setMaxStackSize(STACK_BYTES);
    const context = scope.manage(runtime.newContext());
    const deadline = performance.now() + timeMs;
    let timedOut = false;
    runtime.setInterruptHandler(() => {
      timedOut ||= performance.now() > deadline;
      return timedOut;
    });
    const prelude = scope.manage(context.unwrapResult(context.evalCode(PRELUDE, 'prelude.js', { type: 'global' })));
    const room: Room = { context, runtime, timeMs, prelude, timedOut: () => timedOut };
    return playScript(scope, room, call.source, input);
  });
}

function playScript(scope: Scope, room: Room, source: string, input: string): ScriptScore {
  const { context } = room;
  value(scope, room, context.evalCode(source, SCRIPT_NAME, { type: 'global' }));
  const score = value(scope, room, context.evalCode(FIND_SCORE, 'prelude.js', { type: 'global' }));
  if (context.typeof(score) !== 'function') throw scriptFault('it defines no function named score');
  const returned = preludeCall(scope, room, 'call', [score, scope.manage(context.newString(input))]);
  return readScore(scope, room, settled(scope, room, returned));
}

/** The value of a result. @throws {NacreError} the fault where the script threw, or was stopped. */
function value(scope: Scope, room: Room, result: ReturnType<QuickJSContext['evalCode']>): QuickJSHandle {
  if (!result.error && !room.timedOut()) return scope.manage(result.value);
  const handle = scope.manage(result.error ?? result.value);
  if (room.timedOut()) throw timeoutFault(room.timeMs);
  throw faultOf(room, handle);
}

/** The fault behind an error in the context. Describing it runs the script's getters, which may reach the time limit too. */
function faultOf(room: Room, error: QuickJSHandle): NacreError {
  const thrown: unknown = room.context.dump(error);
  return room.timedOut() ? timeoutFault(room.timeMs) : thrownFault(thrown);
}

function preludeCall(scope: Scope, room: Room, name: 'call' | 'part', parts: QuickJSHandle[]): QuickJSHandle {
  const { context, prelude } = room;
  const method = scope.manage(context.getProp(prelude, name));
  return value(scope, room, context.callFunction(method, context.undefined, parts));
}

/** What a returned promise settles to; other values as they are. */
function settled(scope: Scope, room: Room, returned: QuickJSHandle): QuickJSHandle {
  const { context, runtime } = room;
  const jobs = runtime.executePendingJobs(MAX_JOBS);
  const failed = jobs.error && scope.manage(jobs.error);
  if (room.timedOut()) throw timeoutFault(room.timeMs);
  if (failed) throw faultOf(room, failed);
  const state = context.getPromiseState(returned);
  if (state.type === 'pending') throw scriptFault('it returned a promise that never settles (there are no timers)');
  if (state.type === 'rejected') throw faultOf(room, scope.manage(state.error));
  return state.notAPromise ? returned : scope.manage(state.value);
}

function readScore(scope: Scope, room: Room, returned: QuickJSHandle): ScriptScore {
  const { context } = room;
  const part = (name: string): unknown => {
    const handle = preludeCall(scope, room, 'part', [returned, scope.manage(context.newString(name))]);
    const type = context.typeof(handle);
    if (type === 'number') return context.getNumber(handle);
    if (type === 'string') return context.getString(handle);
    if (type === 'boolean' || type === 'undefined') return context.dump(handle);
    return { type };
  };
  return checkScore(part('reward'), part('reason'));
}

/** @throws {NacreError} `scorer-bad-result` unless these are a reward and perhaps a reason. */
function checkScore(reward: unknown, reason: unknown): ScriptScore {
  if (typeof reward !== 'number' && typeof reward !== 'boolean') throw badResult(`${describe(reward)} where the reward should be`);
  const number = Number(reward);
  if (!(number >= 0 && number <= 1)) throw badResult(`the reward ${number}`);
  if (reason === undefined) return { reward: number };
  if (typeof reason !== 'string') throw badResult(`${describe(reason)} where the reason should be`);
  return { reward: number, reason: clip(reason) };
}

function describe(part: unknown): string {
  if (typeof part === 'string') return 'a text';
  if (typeof part === 'object' && part !== null && 'type' in part) return `a value of type ${String(part.type)}`;
  return part === undefined ? 'nothing' : `a ${typeof part}`;
}
