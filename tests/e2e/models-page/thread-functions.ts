/**
 * The libraries at hand were compiled when WebLLM still supplied two functions of TVM's thread pool, which do nothing in a
 * browser. Today's package does not; with them added it takes the library of its own era of TVM.
 */
const MISSING: WebAssembly.ModuleImports = {
  _ZN3tvm7runtime9threading15ResetThreadPoolEv: () => undefined,
  _ZN3tvm7runtime9threading10NumThreadsEv: () => 1,
};

const instantiate = WebAssembly.instantiate as (source: BufferSource, imports?: WebAssembly.Imports) => Promise<unknown>;

WebAssembly.instantiate = ((source: BufferSource, imports?: WebAssembly.Imports) =>
  instantiate(source, imports && { ...imports, env: { ...MISSING, ...imports.env } })) as typeof WebAssembly.instantiate;
