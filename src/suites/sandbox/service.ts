import { NacreError } from '../../core/errors.ts';
import { QuickJsSandbox } from './quickjs.ts';
import type { ScriptCall, ScriptSandbox, ScriptScore } from './types.ts';

/** The sandbox as a worker serves it. */
export class SandboxService implements ScriptSandbox {
  private sandbox: QuickJsSandbox | undefined;

  /** Must come first. @param wasm the engine's WebAssembly file. */
  async open(wasm: ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<void> {
    this.sandbox = new QuickJsSandbox(await WebAssembly.compile(wasm));
  }

  score(call: ScriptCall): Promise<ScriptScore> {
    if (!this.sandbox) throw new NacreError('sandbox-closed', 'The sandbox was not opened.', 'Call open first.');
    return this.sandbox.score(call);
  }
}
