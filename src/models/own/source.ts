import * as v from 'valibot';
import { NacreError } from '../../core/errors.ts';
import { type ChatTemplate, type ConvTemplate, convTemplate, jinjaTemplate, PLAIN_TEMPLATE } from '../../transformer/chat-template.ts';
import { countParameters } from '../../transformer/device-weights.ts';
import {
  directorySource,
  type FileSource,
  ggufSource,
  isGgufName,
  memorySource,
  pickedFilesSource,
  type ReadOptions,
  readText,
  readTextIfPresent,
  urlSource,
} from '../../transformer/file-source.ts';
import { readGguf } from '../../transformer/gguf/read.ts';
import { parseJson, validate } from '../../transformer/json.ts';
import type { SamplingDefaults } from '../../transformer/mlc/config.ts';
import { type MlcOptions, readMlc } from '../../transformer/mlc/read.ts';
import { Tokenizer } from '../../transformer/tokenizer.ts';
import type { DecoderWeights } from '../../transformer/weights.ts';
import type { ShippedModel } from './shipped.ts';
import { filesUrl, webllmCacheSource } from './webllm-cache.ts';

export { isShipped, SHIPPED_MODELS, type ShippedModel } from './shipped.ts';

/** Where a model's files are. Plain data that can be posted to a worker. */
export type ModelSource =
  | { readonly kind: 'shipped'; readonly id: ShippedModel }
  /** The address of a folder in MLC format, or of a GGUF file (it ends in `.gguf`). */
  | { readonly kind: 'url'; readonly url: string }
  /** The same, as WebLLM has stored it in this browser. */
  | { readonly kind: 'webllm'; readonly url: string }
  /** One GGUF file: its bytes, or a file that a person picked, of which only the parts needed are read at a time. */
  | { readonly kind: 'gguf'; readonly id: string; readonly file: Uint8Array | Blob }
  | { readonly kind: 'directory'; readonly handle: FileSystemDirectoryHandle }
  /** The files of a folder in MLC format, or one GGUF file. */
  | { readonly kind: 'files'; readonly id: string; readonly files: readonly File[] }
  | { readonly kind: 'memory'; readonly id: string; readonly files: ReadonlyMap<string, Uint8Array> };

export interface OpenedSource {
  readonly id: string;
  readonly source: FileSource;
}

/** @param base address of the page's folder (`document.baseURI`), below which shipped models lie. */
export function openSource(model: ModelSource, base: string): OpenedSource {
  switch (model.kind) {
    case 'shipped':
      return { id: model.id, source: urlSource(new URL(`models/${model.id}/`, base)) };
    case 'url': {
      const url = new URL(model.url, base);
      if (isGgufName(url.pathname)) return { id: fileName(url), source: ggufSource(fileName(url), url) };
      return { id: modelName(model.url), source: urlSource(folderUrl(url)) };
    }
    case 'gguf':
      return { id: model.id, source: ggufSource(model.id, model.file) };
    case 'webllm':
      return { id: modelName(model.url), source: webllmCacheSource(model.url) };
    case 'directory':
      return { id: model.handle.name, source: directorySource(model.handle) };
    case 'files': {
      const [file] = model.files;
      if (model.files.length === 1 && isGgufName(file.name)) return { id: model.id, source: ggufSource(file.name, file) };
      return { id: model.id, source: pickedFilesSource(model.files) };
    }
    case 'memory': {
      const [[name, bytes] = ['', new Uint8Array()]] = model.files;
      if (model.files.size === 1 && isGgufName(name)) return { id: model.id, source: ggufSource(name, bytes) };
      return { id: model.id, source: memorySource(model.id, model.files) };
    }
  }
}

/** A model's page on Hugging Face stands for the files of its main branch. */
function folderUrl(url: URL): string {
  return url.hostname === 'huggingface.co' ? filesUrl(url.href) : url.href;
}

function fileName(url: URL): string {
  return decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
}

/** The last part of an address that names a model: not `resolve/main`. */
function modelName(url: string): string {
  const path = url.replace(/[?#].*$/, '').replace(/\/resolve\/[^/]+\/?$/, '');
  return path.split('/').findLast((part) => part !== '') ?? url;
}

/** A model in memory, ready to be put on a backend. */
export interface LoadedModel {
  readonly id: string;
  readonly weights: DecoderWeights;
  readonly tokenizer: Tokenizer;
  /** The files' texts, for writing the model again. */
  readonly tokenizerJson: string;
  readonly tokenizerConfig?: string;
  readonly chatTemplate: ChatTemplate;
  /** Chat format of an MLC configuration, for writing the model again. */
  readonly conv?: ConvTemplate;
  readonly sampling: SamplingDefaults;
  readonly parameters: number;
  /** Size of the weights as stored. */
  readonly bytes: number;
}

/** What the two formats have in common once they are read. */
interface Content extends Pick<LoadedModel, 'weights' | 'tokenizerJson' | 'tokenizerConfig' | 'conv' | 'sampling' | 'bytes'> {
  /** Where the tokenizer came from, for messages. */
  readonly tokenizerFile: string;
}

/**
 * Loads a model with its tokenizer and chat template from a folder in MLC format or from a GGUF file. A template in
 * `tokenizer_config.json` (or `chat_template.jinja`) comes before the `conv_template` of `mlc-chat-config.json`.
 * @throws {NacreError} naming the file, field, metadata key or tensor at fault.
 */
export async function loadModel(source: FileSource, id: string, options: MlcOptions = {}): Promise<LoadedModel> {
  const { tokenizerFile, ...content } = await (source.openGguf ? readGgufContent(source, options) : readMlcContent(source, options));
  const { weights, tokenizerJson, tokenizerConfig, conv } = content;
  const tokenizer = Tokenizer.fromJson(tokenizerJson, tokenizerConfig);
  const { vocab } = weights.config;
  if (tokenizer.vocabSize > vocab) {
    throw new NacreError(
      'tokenizer-mismatch',
      `${tokenizerFile} has token ids up to ${tokenizer.vocabSize - 1}, but the model's vocabulary is ${vocab}.`,
      'Use the tokenizer that belongs to this model.',
    );
  }
  return {
    ...content,
    id,
    weights: withSpecialTokens(weights, tokenizer),
    tokenizer,
    chatTemplate: chatTemplateOf(jinjaSource(tokenizerConfig), conv, tokenizer),
    parameters: countParameters(weights),
  };
}

async function readGgufContent(source: FileSource, options: MlcOptions): Promise<Content> {
  const read = options.signal === undefined ? {} : { signal: options.signal };
  const file = await source.openGguf!(read);
  return { ...(await readGguf(file, options)), sampling: {}, tokenizerFile: file.name };
}

async function readMlcContent(source: FileSource, options: MlcOptions): Promise<Content> {
  const read = options.signal === undefined ? {} : { signal: options.signal };
  const { chat, weights, bytes } = await readMlc(source, options);
  const tokenizerJson = await readText(source, 'tokenizer.json', read);
  const tokenizerConfig = await readTokenizerConfig(source, read);
  return {
    weights,
    tokenizerJson,
    ...(tokenizerConfig === undefined ? {} : { tokenizerConfig }),
    ...(chat.conv === undefined ? {} : { conv: chat.conv }),
    sampling: chat.sampling,
    bytes,
    tokenizerFile: 'tokenizer.json',
  };
}

/** `tokenizer_config.json`, with the chat template of newer models, which keep it in a file of its own. */
async function readTokenizerConfig(source: FileSource, options: ReadOptions): Promise<string | undefined> {
  const text = await readTextIfPresent(source, 'tokenizer_config.json', options);
  if (jinjaSource(text) !== undefined) return text;
  const template = await readTextIfPresent(source, 'chat_template.jinja', options);
  if (template === undefined) return text;
  const config = text === undefined ? {} : validate('tokenizer_config.json', v.looseObject({}), parseJson('tokenizer_config.json', text));
  return JSON.stringify({ ...config, chat_template: template });
}

/** Where the chat configuration names no ends or BOS, the tokenizer's are used. */
function withSpecialTokens(weights: DecoderWeights, tokenizer: Tokenizer): DecoderWeights {
  const { config } = weights;
  const eosIds = config.eosIds.length > 0 || tokenizer.eosId === undefined ? config.eosIds : [tokenizer.eosId];
  const bosId = config.bosId ?? tokenizer.bosId;
  return { ...weights, config: { ...config, eosIds, ...(bosId === undefined ? {} : { bosId }) } };
}

function chatTemplateOf(jinja: string | undefined, conv: ConvTemplate | undefined, tokenizer: Tokenizer): ChatTemplate {
  if (jinja !== undefined) {
    const text = (id: number | undefined): string => (id === undefined ? '' : tokenizer.tokenText(id));
    return jinjaTemplate(jinja, { bosToken: text(tokenizer.bosId), eosToken: text(tokenizer.eosId) });
  }
  if (conv === undefined) return PLAIN_TEMPLATE;
  return convTemplate(conv, (conv.system_prefix_token_ids ?? []).map((id) => tokenizer.tokenText(id)).join(''));
}

const TEMPLATE_FIELD = v.looseObject({
  chat_template: v.nullish(v.union([v.string(), v.array(v.looseObject({ name: v.string(), template: v.string() }))])),
});

/** The template text; of several named ones the default. */
function jinjaSource(tokenizerConfig: string | undefined): string | undefined {
  if (tokenizerConfig === undefined) return undefined;
  const file = 'tokenizer_config.json';
  const { chat_template: template } = validate(file, TEMPLATE_FIELD, parseJson(file, tokenizerConfig));
  if (!Array.isArray(template)) return template ?? undefined;
  return (template.find(({ name }) => name === 'default') ?? template[0])?.template;
}
