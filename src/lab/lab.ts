import { NacreError } from '../core/errors.ts';
import type { RolloutModel } from '../models/chat-rollouts.ts';
import { connectEndpoint } from '../models/endpoint/connect.ts';
import { KeyRing } from '../models/endpoint/keys.ts';
import type { OfferedModel } from '../models/endpoint/list.ts';
import { listModels } from '../models/endpoint/model.ts';
import { EndpointSettings } from '../models/endpoint/settings.ts';
import type { NacreDatabase } from '../storage/database.ts';
import { visibleText } from '../textual/context.ts';
import { exportBundle, importBundle } from './bundle.ts';
import { ENDPOINT, type ModelChoice, parseConfig, parseWith } from './config.ts';
import type { ConnectModel } from './experiment.ts';
import { type RunRecord, RunStore } from './runs.ts';
import type { ExportedFile, ExportFormat, LabService, MachineState, ProbeRequest, ProbeResult, RunSummary, RunUpdate } from './service.ts';
import { RunSession, resultOf } from './session.ts';
import { formatSkill } from './skill.ts';

/** What the lab needs from where it runs. */
export interface LabPlatform {
  machine(): Promise<MachineState>;
  connect: ConnectModel;
  probe(request: ProbeRequest): Promise<ProbeResult>;
  /** The right to work on a run; undefined when another tab has it. The function gives it back. */
  lock(runId: string): Promise<(() => void) | undefined>;
}

interface OpenRun {
  readonly session: RunSession;
  readonly unlock: () => void;
}

/** The lab behind the page: runs, their sessions, exports. */
export class Lab implements LabService {
  private readonly runs: RunStore;
  private readonly open = new Map<string, OpenRun>();
  /** In memory only: a key never reaches the database, an export or a log. */
  private readonly keys = new KeyRing();
  private readonly models = new Map<string, Promise<RolloutModel>>();

  constructor(
    database: Promise<NacreDatabase>,
    private readonly platform: LabPlatform,
  ) {
    this.runs = new RunStore(database);
  }

  machine(): Promise<MachineState> {
    return this.platform.machine();
  }

  async createRun(config: unknown): Promise<string> {
    return (await this.runs.create(parseConfig(config))).id;
  }

  listRuns(): Promise<readonly RunSummary[]> {
    return this.runs.list();
  }

  async openRun(runId: string, listener: (update: RunUpdate) => void): Promise<RunSummary> {
    await this.closeRun(runId);
    const record = await this.runs.get(runId);
    const unlock = await this.platform.lock(runId);
    const readOnly = record.recorded || unlock === undefined;
    const session = new RunSession({
      record,
      runs: this.runs,
      journal: await this.runs.journal(runId),
      connect: (choice) => this.connect(choice),
      listener,
      readOnly,
    });
    this.open.set(runId, { session, unlock: unlock ?? (() => undefined) });
    return this.runs.summary(record, readOnly);
  }

  async closeRun(runId: string): Promise<void> {
    const run = this.open.get(runId);
    if (!run) return;
    this.open.delete(runId);
    await run.session.close();
    run.unlock();
  }

  pause(runId: string): Promise<void> {
    return this.session(runId).pause();
  }

  resume(runId: string): Promise<void> {
    return this.session(runId).resume();
  }

  stop(runId: string): Promise<void> {
    return this.session(runId).stop();
  }

  async noteLongTask(runId: string, ms: number): Promise<void> {
    this.open.get(runId)?.session.noteLongTask(ms);
  }

  async deleteRun(runId: string): Promise<{ freedBytes: number }> {
    await this.closeRun(runId);
    return { freedBytes: await this.runs.delete(runId) };
  }

  async exportRun(runId: string, format: ExportFormat): Promise<ExportedFile> {
    const record = await this.runs.get(runId);
    const journal = await this.runs.journal(runId);
    const result = await resultOf(record, journal);
    const text = (name: string, mime: string, content: string): ExportedFile => ({ name, mime, bytes: new TextEncoder().encode(content) });
    switch (format) {
      case 'skill':
        return text('SKILL.md', 'text/markdown', formatSkill(result, new Date(record.createdAt)));
      case 'prompt':
        return text('prompt.txt', 'text/plain', visibleText(result.textual.best.context));
      case 'result':
        return text('result.json', 'application/json', `${JSON.stringify(result, null, 2)}\n`);
      case 'bundle': {
        const bundle = { config: record.config, createdAt: record.createdAt, result, units: journal.entries() };
        return { name: `nacre-${record.id}.zip`, mime: 'application/zip', bytes: await exportBundle(bundle) };
      }
    }
  }

  async importRun(bundle: Uint8Array): Promise<string> {
    const { config, seconds, units } = await importBundle(bundle);
    const record: RunRecord = await this.runs.create(config, true);
    await this.runs.fill(record.id, units);
    await this.runs.update(record.id, { seconds });
    return record.id;
  }

  probe(request: ProbeRequest): Promise<ProbeResult> {
    return this.platform.probe(request);
  }

  async setEndpointKey(baseUrl: string, key: string): Promise<void> {
    this.keys.set(parseWith(EndpointSettings, { baseUrl }, 'The endpoint').baseUrl, key);
  }

  async endpointModels(baseUrl: string): Promise<readonly OfferedModel[]> {
    const settings = parseWith(EndpointSettings, { baseUrl, retries: 1, timeoutSeconds: 20 }, 'The endpoint');
    return listModels(settings, { key: () => this.keys.get(settings.baseUrl) });
  }

  /** A model stays loaded for the runs that follow; there are as many as were chosen in this tab. */
  private connect(choice: ModelChoice): Promise<RolloutModel> {
    const key = JSON.stringify(choice);
    const known = this.models.get(key);
    if (known) return known;
    const model =
      choice.model === ENDPOINT && choice.endpoint ? connectEndpoint(choice.endpoint, this.keys) : this.platform.connect(choice);
    this.models.set(key, model);
    // A model that failed to load must not be remembered as loaded; the caller gets the reason.
    model.catch(() => this.models.delete(key));
    return model;
  }

  private session(runId: string): RunSession {
    const run = this.open.get(runId);
    if (!run) throw new NacreError('run-not-open', `The run "${runId}" is not open.`, 'Open it first.');
    return run.session;
  }
}
