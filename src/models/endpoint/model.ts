import { addUsage, NO_USAGE } from '../../core/ledger.ts';
import type { Message, Usage } from '../../core/types.ts';
import type { ChatModel, GenerateOptions, Generation, ModelInfo } from '../types.ts';
import { type Completion, readCompletion, readStream, usageOf } from './completion.ts';
import { type Dialect, learn, requestBody, roomForAnswer, STANDARD_DIALECT } from './dialect.ts';
import { EndpointError, modelUnknown } from './errors.ts';
import { Limiter } from './limiter.ts';
import { fetchModels, type OfferedModel } from './list.ts';
import type { EndpointSettings } from './settings.ts';
import {
  type AnswerFormat,
  formatFields,
  formatMessages,
  PROBE_MESSAGES,
  PROBE_SCHEMA,
  PROBE_TOKENS,
  probeFormat,
  weaker,
} from './structured.ts';
import { Transport, type TransportOptions } from './transport.ts';

/** Answers that may be longer than this are streamed even when nobody watches: gateways cut silent connections. */
const STREAM_FROM_TOKENS = 1024;

export interface EndpointAccess {
  /** The key of the server, asked before each request; it is sent and never kept. */
  readonly key?: () => string | undefined;
  readonly fetch?: TransportOptions['fetch'];
  readonly clock?: TransportOptions['clock'];
  /** Origin of the page; undefined outside of browsers. */
  readonly pageOrigin?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told once for each setting that the server does not take and that is left out from then on. */
  readonly onNotice?: (notice: string) => void;
}

/** The models of a server, for choosing one. @throws {EndpointError} that says why it cannot be asked */
export function listModels(settings: EndpointSettings, access: EndpointAccess = {}): Promise<readonly OfferedModel[]> {
  return fetchModels(createTransport(settings, settings.model, access), access.signal);
}

/** One model of an OpenAI-compatible server. */
export class EndpointModel implements ChatModel {
  readonly info: ModelInfo;
  private readonly settings: EndpointSettings;
  private readonly access: EndpointAccess;
  private readonly transport: Transport;
  private readonly limiter: Limiter;
  private dialect: Dialect = STANDARD_DIALECT;
  private format: AnswerFormat | undefined;
  private probing: Promise<AnswerFormat> | undefined;
  /** Spent on the probe, and charged to the next call. */
  private uncharged: Usage = NO_USAGE;

  private constructor(settings: EndpointSettings, access: EndpointAccess, model: OfferedModel) {
    this.settings = settings;
    this.access = access;
    this.transport = createTransport(settings, model.id, access);
    this.limiter = new Limiter(settings.parallel);
    this.info = {
      id: model.id,
      title: `${model.id} at ${new URL(settings.baseUrl).host}`,
      parameters: 0,
      backend: 'endpoint',
      adapter: new URL(settings.baseUrl).host,
      contextLength: model.contextLength ?? 0,
      capabilities: { chat: true, json: true, logprobs: false, probe: false, train: false },
    };
  }

  /**
   * Asks the server for its models and takes the one that the settings name, or its only one. A name the server does not list
   * may be an alias, so it is tried.
   * @throws {EndpointError} when the server cannot be reached or used, or offers several models and none was named
   */
  static async connect(settings: EndpointSettings, access: EndpointAccess = {}): Promise<EndpointModel> {
    const offered = await listOrNone(settings, access);
    const [only] = offered;
    if (settings.model === '' && (offered.length !== 1 || !only)) {
      throw modelUnknown(
        new URL(settings.baseUrl).host,
        '',
        offered.map(({ id }) => id),
      );
    }
    const listed = offered.find(({ id }) => id === settings.model);
    const model = settings.model === '' ? only : listed;
    return new EndpointModel(settings, access, model ?? { id: settings.model });
  }

  /**
   * Answers one conversation; waits while as many requests as allowed are open. Reasoning is counted and left out of the text.
   * @throws {EndpointError} that says why there is no answer; the signal's reason when it is aborted
   */
  generate(messages: readonly Message[], options: GenerateOptions): Promise<Generation> {
    return this.limiter.run(async () => {
      const started = performance.now();
      const completion = options.schema ? await this.structured(messages, options, options.schema) : await this.free(messages, options);
      const usage = addUsage(this.takeUncharged(), usageOf(messages, completion, performance.now() - started));
      const cut = cutAtStop(completion.text, options.stop ?? []);
      return cut === undefined ? { text: completion.text, finish: completion.finish, usage } : { text: cut, finish: 'stop', usage };
    }, options.signal);
  }

  async close(): Promise<void> {
    // Holds no connection: each request ends by itself.
  }

  private free(messages: readonly Message[], options: GenerateOptions): Promise<Completion> {
    return this.request(messages, options, {});
  }

  private async structured(messages: readonly Message[], options: GenerateOptions, schema: object): Promise<Completion> {
    const found = await this.answerFormat();
    options.signal?.throwIfAborted();
    for (let format = found; ; ) {
      try {
        const completion = await this.request(formatMessages(format, schema, messages), options, formatFields(format, schema));
        // The probe's schema was taken, this one was not.
        if (format !== found) this.weaken(format);
        return completion;
      } catch (error) {
        const next = weaker(format);
        if (!(error instanceof EndpointError) || error.code !== 'endpoint-refused' || !next) throw error;
        format = next;
      }
    }
  }

  private weaken(format: AnswerFormat): void {
    if (this.format === format) return;
    this.format = format;
    this.notice(`The server refuses the schema: JSON is asked for ${format === 'plain' ? 'in words' : 'by JSON mode'}.`);
  }

  /** The format found by one probe, shared by all calls that want to know it. */
  private answerFormat(): Promise<AnswerFormat> {
    if (this.format !== undefined) return Promise.resolve(this.format);
    this.probing ??= this.probe();
    return this.probing;
  }

  private async probe(): Promise<AnswerFormat> {
    try {
      this.format = await probeFormat(async (format) => {
        const messages = formatMessages(format, PROBE_SCHEMA, PROBE_MESSAGES);
        const started = performance.now();
        const options = { temperature: 0, topP: 1, maxTokens: PROBE_TOKENS, seed: 0 };
        const completion = await this.request(messages, options, formatFields(format, PROBE_SCHEMA));
        this.uncharged = addUsage(this.uncharged, usageOf(messages, completion, performance.now() - started));
        return { text: completion.text, cut: completion.finish === 'length' };
      });
      return this.format;
    } finally {
      // A probe that failed is tried again by the next call.
      this.probing = undefined;
    }
  }

  /** One answer, with the request put as this server takes it. */
  private async request(messages: readonly Message[], options: GenerateOptions, format: object): Promise<Completion> {
    let { maxTokens } = options;
    for (;;) {
      const { dialect } = this;
      try {
        return await this.send(messages, { ...options, maxTokens }, format);
      } catch (error) {
        if (!(error instanceof EndpointError)) throw error;
        const room = roomForAnswer(error, maxTokens);
        const learnt = learn(dialect, error);
        if (room !== undefined) maxTokens = room;
        else if (learnt) this.take(learnt, dialect);
        else throw error.code === 'endpoint-model-unknown' ? await this.withList(error) : error;
      }
    }
  }

  private send(messages: readonly Message[], options: GenerateOptions, format: object): Promise<Completion> {
    const { stream: wish } = this.settings;
    const stream = wish === 'always' || (wish === 'auto' && (options.onText !== undefined || options.maxTokens >= STREAM_FROM_TOKENS));
    const context = { model: this.info.id, key: this.access.key?.() };
    return this.transport.exchange({
      path: '/chat/completions',
      body: requestBody(this.info.id, messages, options, { dialect: this.dialect, stream, format }),
      signal: options.signal,
      read: (reply) => (stream ? readStream(reply, context, options.onText) : readCompletion(reply, context)),
    });
  }

  /** Requests run side by side: what one learnt must not be undone by another that learnt less. */
  private take(learnt: Dialect, from: Dialect): void {
    if (this.dialect !== from) return;
    this.dialect = learnt;
    const left = learnt.leftOut.find((name) => !from.leftOut.includes(name));
    if (left !== undefined) this.notice(`The server does not take "${left}": it is left out.`);
    if (learnt.system !== from.system) this.notice('The model takes no system message: it is put before the first user message.');
  }

  private async withList(error: EndpointError): Promise<EndpointError> {
    const offered = await listOrNone(this.settings, this.access);
    return offered.length === 0
      ? error
      : modelUnknown(
          this.info.adapter,
          this.info.id,
          offered.map(({ id }) => id),
        );
  }

  private takeUncharged(): Usage {
    const usage = this.uncharged;
    this.uncharged = NO_USAGE;
    return usage;
  }

  private notice(text: string): void {
    this.access.onNotice?.(`${this.info.title}: ${text}`);
  }
}

/** The models a server lists; none for one that has no list. */
async function listOrNone(settings: EndpointSettings, access: EndpointAccess): Promise<readonly OfferedModel[]> {
  try {
    return await listModels(settings, access);
  } catch (error) {
    if (error instanceof EndpointError && (error.status === 404 || error.status === 405) && settings.model !== '') return [];
    throw error;
  }
}

function createTransport(settings: EndpointSettings, model: string, access: EndpointAccess): Transport {
  const { baseUrl, retries, timeoutSeconds } = settings;
  return new Transport({
    baseUrl,
    model,
    key: access.key ?? (() => undefined),
    retries,
    timeoutMs: timeoutSeconds * 1000,
    pageOrigin: access.pageOrigin ?? pageOrigin(),
    ...(access.fetch ? { fetch: access.fetch } : {}),
    ...(access.clock ? { clock: access.clock } : {}),
  });
}

/** Node has no location. */
function pageOrigin(): string | undefined {
  const { location } = globalThis as { location?: { readonly origin: string } };
  return location?.origin;
}

/** The text before the first stop text, or undefined when none occurs: not every server honours all of them. */
function cutAtStop(text: string, stops: readonly string[]): string | undefined {
  const places = stops.map((stop) => (stop === '' ? -1 : text.indexOf(stop))).filter((at) => at !== -1);
  return places.length === 0 ? undefined : text.slice(0, Math.min(...places));
}
