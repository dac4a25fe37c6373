import { connectService, exposeService } from '../src/core/rpc.ts';
import { Lab, type LabPlatform } from '../src/lab/lab.ts';
import { type AdapterReport, chooseBackend } from '../src/lab/machine.ts';
import { probeText } from '../src/lab/probe.ts';
import type { MachineState } from '../src/lab/service.ts';
import type { EngineHandle, OwnEngine } from '../src/models/own/engine.ts';
import { openDatabase } from '../src/storage/database.ts';
import type { SupervisedSandbox } from '../src/suites/sandbox/supervised.ts';
import { describeAdapter } from '../src/tensor/adapter.ts';
import { workerEndpoint } from './endpoint.ts';

/** Workers are served from assets/, one folder below the page. */
const BASE = new URL(import.meta.env.DEV ? '/' : '../', self.location.href).href;

const adapter: Promise<AdapterReport> = describeAdapter();

let probeEngine: Promise<EngineHandle> | undefined;

/** The shipped model on an engine of its own, so that a running experiment does not make the probe wait. */
async function openProbe(): Promise<EngineHandle> {
  const { remote } = connectService<OwnEngine>(new Worker(new URL('./engine.ts', import.meta.url), { type: 'module', name: 'engine' }));
  await remote.load({ kind: 'shipped', id: 'nacre-tiny' }, BASE, { backend: 'cpu' });
  return remote;
}

/** The code of models is fetched when the first one is wanted. */
const models = () => import('./lab-models.ts');

let sandbox: Promise<SupervisedSandbox> | undefined;

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

  async connect(choice, onTransfer) {
    const { startModel } = await models();
    return startModel(choice, { adapter: await adapter, cores: navigator.hardwareConcurrency, base: BASE }, onTransfer);
  },

  async connectPolicy(target) {
    const { startPolicy } = await models();
    return startPolicy(target, { adapter: await adapter, cores: navigator.hardwareConcurrency, base: BASE });
  },

  async loadModel(model) {
    return (await models()).loadShipped(model, BASE);
  },

  async library() {
    return (await models()).library;
  },

  async openSandbox() {
    sandbox ??= import('./sandbox-thread.ts').then(({ browserSandbox }) => browserSandbox());
    return sandbox;
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
