import { Tokenizer as HubTokenizer } from '@huggingface/tokenizers';
import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import { parseJson, validate } from './json.ts';

const PART = v.nullish(v.looseObject({ type: v.string() }), null);

const TOKENIZER_JSON = v.looseObject({
  added_tokens: v.optional(
    v.array(v.looseObject({ id: v.pipe(v.number(), v.integer(), v.minValue(0)), content: v.string(), special: v.optional(v.boolean()) })),
    [],
  ),
  normalizer: PART,
  pre_tokenizer: PART,
  post_processor: PART,
  decoder: PART,
  // Kept by reference: valibot's `record` would copy without the words "constructor" and "prototype", which vocabularies hold.
  model: v.looseObject({ vocab: v.custom<object>(isVocabulary, 'must map tokens to ids, or list them') }),
});

function isVocabulary(value: unknown): boolean {
  if (Array.isArray(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).every((id) => Number.isSafeInteger(id) && (id as number) >= 0);
}

/** A special token is written as its text or as an object with its matching rules. */
const SPECIAL_TOKEN = v.nullish(v.union([v.string(), v.looseObject({ content: v.string() })]));

const TOKENIZER_CONFIG = v.looseObject({
  bos_token: SPECIAL_TOKEN,
  eos_token: SPECIAL_TOKEN,
});

export interface EncodeOptions {
  /** Add what the tokenizer's post-processor adds (usually BOS). Default true. */
  readonly addSpecial?: boolean;
}

export interface DecodeOptions {
  /** Leave out special tokens such as end-of-text. Default true. */
  readonly skipSpecial?: boolean;
}

/** Text to token ids and back, as described by a Hugging Face `tokenizer.json`. */
export class Tokenizer {
  readonly bosId: number | undefined;
  readonly eosId: number | undefined;
  /** One more than the largest token id. Models may have more embedding rows than this. */
  readonly vocabSize: number;
  readonly specialIds: ReadonlySet<number>;
  private readonly hub: HubTokenizer;

  private constructor(hub: HubTokenizer, specialIds: ReadonlySet<number>, bosToken: string | undefined, eosToken: string | undefined) {
    this.hub = hub;
    this.specialIds = specialIds;
    this.bosId = bosToken === undefined ? undefined : hub.token_to_id(bosToken);
    this.eosId = eosToken === undefined ? undefined : hub.token_to_id(eosToken);
    this.vocabSize = [...hub.get_vocab(true).values()].reduce((top, id) => Math.max(top, id + 1), 0);
  }

  /**
   * @param tokenizerJson the file's text, or the parsed object; @param tokenizerConfig `tokenizer_config.json`, likewise.
   * @throws {NacreError} `bad-json`, `bad-field` or `bad-tokenizer` naming the file and what is wrong in it.
   */
  static fromJson(tokenizerJson: unknown, tokenizerConfig?: unknown): Tokenizer {
    const json = validate('tokenizer.json', TOKENIZER_JSON, asObject('tokenizer.json', tokenizerJson));
    const config = validate('tokenizer_config.json', TOKENIZER_CONFIG, asObject('tokenizer_config.json', tokenizerConfig ?? {}));
    try {
      const special = new Set(json.added_tokens.filter((token) => token.special === true).map((token) => token.id));
      return new Tokenizer(new HubTokenizer(json, config), special, tokenText(config.bos_token), tokenText(config.eos_token));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new NacreError(
        'bad-tokenizer',
        `tokenizer.json cannot be used: ${reason}.`,
        'Use the tokenizer.json that belongs to the model (BPE, Unigram or WordPiece).',
        { cause },
      );
    }
  }

  encode(text: string, options: EncodeOptions = {}): number[] {
    if (text === '' && options.addSpecial === false) return [];
    return this.hub.encode(text, { add_special_tokens: options.addSpecial ?? true }).ids;
  }

  /**
   * The text of ids, byte for byte (no clean-up of spaces). Ids that only pad the embedding table stand for no text.
   * @throws {NacreError} `bad-token-id` for a negative or fractional id.
   */
  decode(ids: readonly number[], options: DecodeOptions = {}): string {
    const known = ids.filter((id) => this.known(id));
    if (known.length === 0) return '';
    return this.hub.decode(known, { skip_special_tokens: options.skipSpecial ?? true, clean_up_tokenization_spaces: false });
  }

  /** The text that `ids` add behind `prefix`; keeps a leading space that decoding `ids` alone would lose. */
  decodeAfter(prefix: readonly number[], ids: readonly number[], options: DecodeOptions = {}): string {
    const before = this.decode(prefix, options);
    const whole = this.decode([...prefix, ...ids], options);
    return whole.startsWith(before) ? whole.slice(before.length) : this.decode(ids, options);
  }

  /** The vocabulary entry of one id, as stored (`Ġthe`, `▁the`, `<0x0A>`); `[id]` for an id without an entry. */
  tokenText(id: number): string {
    return this.known(id) ? (this.hub.id_to_token(id) as string) : `[${id}]`;
  }

  /** The id of a vocabulary entry, or undefined. */
  idOf(token: string): number | undefined {
    return this.hub.token_to_id(token);
  }

  private known(id: number): boolean {
    if (!Number.isInteger(id) || id < 0) {
      throw new NacreError('bad-token-id', `${id} is not a token id.`, `Token ids are whole numbers from 0 to ${this.vocabSize - 1}.`);
    }
    return this.hub.id_to_token(id) !== undefined;
  }
}

function asObject(file: string, value: unknown): unknown {
  return typeof value === 'string' ? parseJson(file, value) : value;
}

function tokenText(token: string | { content: string } | null | undefined): string | undefined {
  return typeof token === 'string' ? token : token?.content;
}
