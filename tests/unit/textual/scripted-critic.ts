import { NO_USAGE } from '../../../src/core/ledger.ts';
import type { Message } from '../../../src/core/types.ts';
import type { GenerateOptions, Generation, ModelInfo } from '../../../src/models/types.ts';
import { type Asker, ask, type CriticModel } from '../../../src/textual/ask.ts';

export interface Heard {
  readonly kind: string;
  readonly user: string;
  readonly messages: readonly Message[];
}

/** What a scripted critic says: an object as JSON, text as it is, an error as a failed call. */
export type Reply = object | string | Error;

/** A critic whose answers the test decides; it remembers what it was asked. */
export class ScriptedCritic implements CriticModel {
  readonly heard: Heard[] = [];
  readonly info: ModelInfo = {
    id: 'scripted',
    title: 'Scripted',
    parameters: 1,
    backend: 'test',
    adapter: 'none',
    contextLength: 1e6,
    capabilities: { chat: true, json: true, logprobs: false, probe: false, train: false },
  };
  private readonly reply: (heard: Heard, call: number) => Reply;

  constructor(reply: (heard: Heard, call: number) => Reply) {
    this.reply = reply;
  }

  async generate(messages: readonly Message[], _options: GenerateOptions): Promise<Generation> {
    const user = messages.find(({ role }) => role === 'user')?.content ?? '';
    const heard = { kind: /kind="([a-z]+)"/.exec(user)?.[1] ?? '', user, messages };
    this.heard.push(heard);
    const reply = this.reply(heard, this.heard.length - 1);
    if (reply instanceof Error) throw reply;
    const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
    return { text, finish: 'stop', usage: { ...NO_USAGE, calls: 1, inputTokens: 100, outputTokens: 20 } };
  }

  /** Asks without journal and ledger. */
  get asker(): Asker {
    return (_key, _role, question) => ask(this, { ...question, seed: 1, signal: new AbortController().signal });
  }
}
