import { NacreError, toPlainError } from '../../src/core/errors.ts';
import { type AnyConfig, parseAnyConfig } from '../../src/lab/any-config.ts';
import { type ExperimentConfig, parseConfig } from '../../src/lab/config.ts';
import { type PearlConfig, parsePearlConfig } from '../../src/lab/pearl-config.ts';
import type { LabService, ProbeResult, RunStatus, RunSummary, RunUpdate } from '../../src/lab/service.ts';
import type { PearlEvent } from '../../src/pearl/types.ts';
import type { RunEvent } from '../../src/textual/types.ts';
import { fakeRun } from './fake-events.ts';
import { fakeModels } from './fake-models.ts';
import { fakePearl } from './fake-pearl.ts';

/**
 * A lab without a model, for tests of the interface. `?fake=` in the address names faults and shapes, comma separated:
 * `machine-error`, `open-error`, `create-error`, `empty`, `gpu`, `fast`, `fail-midway`, `read-only`, `delete-error`, `pearl`
 * (training runs besides).
 */
const flags = new Set((new URLSearchParams(location.search).get('fake') ?? '').split(','));
const TICK_MS = 50;

type LabEvent = RunEvent | PearlEvent;

interface FakeEntry {
  summary: RunSummary;
  events: readonly LabEvent[];
  position: number;
  listener?: ((update: RunUpdate) => void) | undefined;
  timer?: ReturnType<typeof setInterval> | undefined;
}

function quick(seed: number): ExperimentConfig {
  return parseConfig({
    schema: 'nacre.experiment/1',
    kind: 'textual',
    name: 'Quick: household rules from outcomes',
    seed,
    suite: { id: 'household', train: 24, val: 28, test: 160, unseen: 64 },
    textual: { epochs: 4, rolloutsPerTask: 4, batchTasks: 12 },
  });
}

function pearl(seed: number, optimiser: 'pearl' | 'grpo' = 'pearl'): PearlConfig {
  return parsePearlConfig({
    schema: 'nacre.experiment/1',
    kind: 'pearl',
    name: optimiser === 'pearl' ? 'PEARL on the tiny policy' : 'GRPO on the tiny policy',
    seed,
    suite: { id: 'household', train: 24, val: 64, test: 96 },
    pearl: { optimiser, updates: 24, prompts: 3, rollouts: { group: 10, roots: 5 }, evaluation: { every: 6 } },
  });
}

/** Entries that make the banks of the run "crowd" large. */
const CROWD = 1000;

function eventsOf(config: AnyConfig, ballast = 0): readonly LabEvent[] {
  if (config.kind === 'textual') return fakeRun(config).events;
  return fakePearl({ seed: config.seed, settings: config.pearl, val: config.suite.val, test: config.suite.test, ballast });
}

export function connectLab(): LabService {
  const runs = new Map<string, FakeEntry>();
  const add = (id: string, config: AnyConfig, status: RunStatus, share: number, extra: Partial<RunSummary> = {}, ballast = 0) => {
    const events = eventsOf(config, ballast);
    const position = Math.round(events.length * share);
    const summary: RunSummary = {
      id,
      name: config.name,
      kind: config.kind,
      status,
      createdAt: Date.now() - runs.size * 3_700_000,
      seed: config.seed,
      config,
      readOnly: flags.has('read-only'),
      seconds: Math.round(52 * share),
      bytes: Math.round(3_400_000 * share),
      recorded: false,
      ...extra,
    };
    runs.set(id, { summary: { ...summary, ...rates(events.slice(0, position)) }, events, position });
  };
  if (!flags.has('empty')) {
    add('done', quick(1), 'finished', 1);
    add('midway', quick(2), 'paused', 0.45);
    add('broken', { ...quick(3), name: 'A run that failed' }, 'failed', 0.3, {
      error: toPlainError(
        new NacreError('device-lost', 'The GPU was lost during validation.', 'Reload the page: the run goes on from its journal.'),
      ),
    });
    if (flags.has('pearl')) {
      add('pearl', pearl(1), 'finished', 1);
      add('pearl-midway', pearl(2), 'paused', 0.2);
      add('pearl-2', pearl(2), 'finished', 1);
      add('grpo', pearl(1, 'grpo'), 'finished', 1);
      add('grpo-2', pearl(2, 'grpo'), 'finished', 1);
      add('crowd', pearl(3), 'finished', 1, {}, CROWD);
    }
  }

  const find = (id: string): FakeEntry => {
    const entry = runs.get(id);
    if (!entry)
      throw new NacreError(
        'run-missing',
        `There is no run "${id}" in this browser.`,
        'Open one from the start page, or import its bundle.',
      );
    return entry;
  };
  const send = (entry: FakeEntry, events: readonly LabEvent[]) => {
    const { status, error, readOnly } = entry.summary;
    const left = (entry.events.length - entry.position) * 0.03;
    const done = entry.position;
    entry.listener?.({
      events,
      status,
      progress: { done, total: entry.events.length, label: 'units', ...(status === 'running' ? { secondsLeft: left } : {}) },
      ...(error ? { error } : {}),
      readOnly,
      seconds: entry.summary.seconds,
    });
  };
  const setStatus = (entry: FakeEntry, status: RunStatus, extra: Partial<RunSummary> = {}) => {
    entry.summary = { ...entry.summary, status, ...extra };
  };
  const advance = (entry: FakeEntry) => {
    const from = entry.position;
    entry.position = Math.min(entry.events.length, from + (flags.has('fast') ? 400 : 12));
    const events = entry.events.slice(from, entry.position);
    setStatus(entry, 'running', { seconds: entry.summary.seconds + TICK_MS / 1000, ...rates(entry.events.slice(0, entry.position)) });
    if (flags.has('fail-midway') && entry.position > 400) {
      halt(entry);
      setStatus(entry, 'failed', {
        error: toPlainError(
          new NacreError(
            'storage-full',
            'The browser refused to store the unit "s2/train-004/k1".',
            'Free space on the start page, then resume.',
          ),
        ),
      });
    } else if (entry.position === entry.events.length) {
      halt(entry);
      setStatus(entry, 'finished');
    }
    send(entry, events);
  };
  const halt = (entry: FakeEntry) => {
    clearInterval(entry.timer);
    entry.timer = undefined;
  };
  const start = (entry: FakeEntry) => {
    entry.timer ??= setInterval(() => advance(entry), TICK_MS);
  };

  return {
    ...fakeModels(flags),
    async machine() {
      if (flags.has('machine-error')) throw new NacreError('worker-failed', 'The lab worker could not start.', 'Reload the page.');
      const gpu = flags.has('gpu');
      return {
        webgpu: { available: true, adapter: gpu ? 'NVIDIA RTX A2000' : 'SwiftShader', software: !gpu },
        backend: gpu
          ? { kind: 'webgpu', reason: 'A hardware WebGPU adapter was found.', workers: 1 }
          : { kind: 'cpu', reason: 'The WebGPU adapter is a software one, slower than the CPU kernels, so those run.', workers: 4 },
        cores: 4,
        memoryGiB: 8,
        isolated: window.crossOriginIsolated,
        storage: { usedBytes: 7_300_000, quotaBytes: 61_000_000_000, persisted: false },
      };
    },
    async createRun(config) {
      if (flags.has('create-error')) throw new NacreError('storage-full', 'There is no room for another run.', 'Delete a run below.');
      const id = `run${runs.size + 1}`;
      add(id, parseAnyConfig(config), 'new', 0);
      return id;
    },
    async listRuns() {
      return [...runs.values()].map(({ summary }) => summary);
    },
    async openRun(id, listener) {
      if (flags.has('open-error'))
        throw new NacreError(
          'journal-unreadable',
          `The journal of the run "${id}" cannot be read.`,
          'Import its bundle, or delete the run.',
        );
      const entry = find(id);
      entry.listener = listener;
      setTimeout(() => {
        send(entry, entry.events.slice(0, entry.position));
        if (entry.summary.status === 'new' || entry.summary.status === 'running') start(entry);
      });
      return entry.summary;
    },
    async closeRun(id) {
      const entry = find(id);
      entry.listener = undefined;
      halt(entry);
    },
    async pause(id) {
      const entry = find(id);
      halt(entry);
      setStatus(entry, 'paused');
      send(entry, []);
    },
    async resume(id) {
      const entry = find(id);
      setStatus(entry, 'running');
      start(entry);
    },
    async stop(id) {
      const entry = find(id);
      halt(entry);
      setStatus(entry, 'stopped');
      send(entry, []);
    },
    async noteLongTask(id) {
      find(id);
    },
    async deleteRun(id) {
      if (flags.has('delete-error')) throw new NacreError('run-locked', 'The run is open in another tab.', 'Close that tab first.');
      const { bytes } = find(id).summary;
      runs.delete(id);
      return { freedBytes: bytes };
    },
    async exportRun(id, format) {
      const { summary, events } = find(id);
      if (format === 'result') {
        if (summary.status !== 'finished' && summary.status !== 'stopped') {
          throw new NacreError('run-unfinished', 'This run has no result yet.', 'Let it finish, or stop it.');
        }
        return {
          name: 'result.json',
          mime: 'application/json',
          bytes: new TextEncoder().encode(JSON.stringify(fakeResult(summary, events))),
        };
      }
      return { name: `${id}-${format}.txt`, mime: 'text/plain', bytes: new TextEncoder().encode(`${summary.name}\n`) };
    },
    async importRun(bundle) {
      if (bundle.length > 100) return 'done';
      throw new NacreError(
        'bundle-invalid',
        'The bundle cannot be used: manifest.json is missing.',
        'Export it again from Nacre; a bundle must not be edited by hand.',
      );
    },
    async probe({ text }) {
      if (text.trim() === '') throw new NacreError('probe-empty', 'There is no text to probe.', 'Type a few words.');
      return fakeProbe(text);
    },
  };
}

/** The rates a summary shows, from the events so far. */
function rates(events: readonly LabEvent[]): Partial<RunSummary> {
  const found: { -readonly [K in keyof RunSummary]?: RunSummary[K] } = {};
  for (const event of events) {
    if (event.type === 'policy-score') {
      const { split, rate } = event.score;
      if (split === 'val') found[event.which === 'initial' ? 'initialRate' : 'bestRate'] = rate;
      if (split === 'test') found[event.which === 'initial' ? 'testInitial' : 'testBest'] = rate;
    }
    if (event.type !== 'score') continue;
    const { split, rate } = event.score;
    if (split === 'val') found[event.which === 'initial' ? 'initialRate' : 'bestRate'] = rate;
    if (split === 'test') found[event.which === 'initial' ? 'testInitial' : 'testBest'] = rate;
  }
  if (found.bestRate === undefined && found.initialRate !== undefined) found.bestRate = found.initialRate;
  return found;
}

/** As much of `result.json` as the comparison of runs reads. */
function fakeResult({ config, seed, kind }: RunSummary, events: readonly LabEvent[]): object {
  const head = { schema: 'nacre.result/1', kind, config, seed };
  const end = events.find((event) => event.type === 'pearl-finished');
  if (end?.type === 'pearl-finished') {
    const updates = events.flatMap((event) => (event.type === 'update' ? [event.record] : []));
    return {
      ...head,
      pearl: { optimiser: config.kind === 'pearl' ? config.pearl.optimiser : '', initial: end.initial, final: end.final, updates },
    };
  }
  const finished = events.find((event) => event.type === 'finished');
  const steps = events.flatMap((event) => (event.type === 'step' ? [event.record] : []));
  return {
    ...head,
    textual: {
      ...(finished?.type === 'finished' ? { initial: finished.initial, best: finished.best } : {}),
      steps: steps.map(({ step, decision, reference, candidateScore, edits }) => ({
        step,
        decision,
        reference,
        candidate: candidateScore?.rate ?? null,
        edits: { applied: edits.applied.length },
      })),
    },
  };
}

function fakeProbe(text: string): ProbeResult {
  const words = text.match(/\s*\S+/g) ?? [];
  const layers = 8;
  const top = (at: number) =>
    ['You', ' cabinet', ' open', ' go to', ' the'].map((word, i) => ({ id: i, text: word, probability: 0.62 * 0.45 ** ((i + at) % 5) }));
  return {
    model: 'nacre-tiny',
    layers,
    tokens: words.map((word, at) => {
      const swing = Math.sin(at * 2.3);
      return {
        id: at,
        text: word,
        ...(at === 0 ? {} : { logprob: -1.2 - swing * 1.15, entropy: 1 + swing * 0.8 }),
        top: top(at),
        raw: Array.from({ length: layers }, (_, layer) => (at === 0 ? 0 : layer * 1.4 * (1 + swing * 0.3) - 2)),
        normed: Array.from({ length: layers }, (_, layer) => (at === 0 ? 0 : 10 / (1 + Math.exp(4 - layer)) + swing)),
      };
    }),
    next: top(0),
    selfCheck: 3.1e-6,
  };
}
