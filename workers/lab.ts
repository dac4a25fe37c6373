import { NacreError } from '../src/core/errors.ts';
import { type Connection, connectService, exposeService } from '../src/core/rpc.ts';
import { Lab, type LabPlatform } from '../src/lab/lab.ts';
import { type AdapterReport, chooseBackend } from '../src/lab/machine.ts';
import { probeText } from '../src/lab/probe.ts';
import type { MachineState } from '../src/lab/service.ts';
import type { EngineHandle, OwnEngine } from '../src/models/own/engine.ts';
import { PooledPolicy } from '../src/models/own/policy.ts';
import { isShipped, type ModelSource } from '../src/models/own/source.ts';
import { openDatabase } from '../src/storage/database.ts';
import { describeAdapter } from '../src/tensor/adapter.ts';
import { workerEndpoint } from './endpoint.ts';

/** Workers are served from assets/, one folder below the page. */
const BASE = new URL(import.meta.env.DEV ? '/' : '../', self.location.href).href;

function startEngine(): Connection<OwnEngine> {
  return connectService<OwnEngine>(new Worker(new URL('./engine.ts', import.meta.url), { type: 'module', name: 'engine' }));
}

function modelSource(model: string): ModelSource {
  if (isShipped(model)) return { kind: 'shipped', id: model };
  if (/^https?:\/\//.test(model)) return { kind: 'url', url: model };
  throw new NacreError(
    'unknown-model',
    `target.model: "${model}" is neither a shipped model nor an address.`,
    'Use nacre-tiny, or the https address of a folder in MLC format.',
  );
}

const adapter: Promise<AdapterReport> = describeAdapter();

let probeEngine: Promise<EngineHandle> | undefined;

/** The shipped model on an engine of its own, so that a running experiment does not make the probe wait. */
async function openProbe(): Promise<EngineHandle> {
  const { remote } = startEngine();
  await remote.load({ kind: 'shipped', id: 'nacre-tiny' }, BASE, { backend: 'cpu' });
  return remote;
}

const platform: LabPlatform = {
  async machine(): Promise<MachineState> {
    const report = await adapter;
    const { usage = 0, quota = 0 } = await navigator.storage.estimate();
    const { deviceMemory } = navigator as { deviceMemory?: number };
    return {
      webgpu: report,
      backend: chooseBackend('auto', report, navigator.hardwareConcurrency),
      cores: navigator.hardwareConcurrency,
      ...(deviceMemory === undefined ? {} : { memoryGiB: deviceMemory }),
      isolated: self.crossOriginIsolated,
      storage: { usedBytes: usage, quotaBytes: quota, persisted: await navigator.storage.persisted() },
    };
  },

  async connect({ model, backend }) {
    const choice = chooseBackend(backend, await adapter, navigator.hardwareConcurrency);
    const source = modelSource(model);
    const engines = Array.from({ length: choice.workers }, startEngine);
    await Promise.all(engines.map(({ remote }) => remote.load(source, BASE, { backend: choice.kind })));
    return PooledPolicy.connect(engines.map(({ remote }): EngineHandle => remote));
  },

  async probe(request) {
    probeEngine ??= openProbe();
    // A model that failed to load must not be remembered as loaded; the caller gets the reason.
    probeEngine.catch(() => {
      probeEngine = undefined;
    });
    return probeText(await probeEngine, request);
  },

  lock: (runId) =>
    new Promise((resolve, reject) => {
      navigator.locks
        .request(`nacre-run-${runId}`, { ifAvailable: true }, (lock) => {
          if (!lock) {
            resolve(undefined);
            return undefined;
          }
          return new Promise<void>((release) => resolve(release));
        })
        .catch(reject);
    }),
};

exposeService(new Lab(openDatabase(), platform), workerEndpoint());
