import { Random } from '../../src/core/random.ts';
import type { Episode, Step, Task } from '../../src/core/types.ts';
import type { LoadedModel } from '../../src/models/own/source.ts';
import { type ChatTemplate, jinjaTemplate } from '../../src/transformer/chat-template.ts';
import { countParameters } from '../../src/transformer/device-weights.ts';
import { mlcFiles } from '../../src/transformer/mlc/write.ts';
import { Tokenizer } from '../../src/transformer/tokenizer.ts';
import { tinyConfig, tinyWeights } from './models.ts';

const SPECIAL = ['<|unk|>', '<|ctx|>', '<|obs|>', '<|act|>', '<|end|>'];
const WORDS = [' red', ' blue', ' go', ' stay', ' left', ' right', ' x'];

const TOKENIZER_JSON = JSON.stringify({
  version: '1.0',
  added_tokens: SPECIAL.map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })),
  normalizer: null,
  pre_tokenizer: null,
  post_processor: null,
  decoder: { type: 'Fuse' },
  model: { type: 'Unigram', unk_id: 0, vocab: [...SPECIAL, ...WORDS].map((token) => [token, -1]), byte_fallback: false },
});

export const GROWING_TEMPLATE =
  "<|ctx|>{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}{% elif m.role == 'user' %}<|obs|>{{ m.content }}<|act|>{% else %}{{ m.content }}<|end|>{% endif %}{% endfor %}";

/** Keeps only the last action, so that every later turn must be read afresh. */
export const FORGETFUL_TEMPLATE =
  "<|ctx|>{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}{% elif m.role == 'user' %}<|obs|>{{ m.content }}<|act|>{% elif loop.index > messages|length - 2 %}{{ m.content }}<|end|>{% endif %}{% endfor %}";

/** A random model with twelve words, so that it ends its answers now and then. */
export function toyModel(template: string = GROWING_TEMPLATE, contextLength = 400): LoadedModel {
  const config = tinyConfig('qwen3', { vocab: SPECIAL.length + WORDS.length, contextLength, eosIds: [4] });
  const weights = tinyWeights(config, 3);
  const tokenizer = Tokenizer.fromJson(TOKENIZER_JSON, { eos_token: '<|end|>' });
  const chatTemplate: ChatTemplate = jinjaTemplate(template);
  return {
    id: 'toy',
    weights,
    tokenizer,
    tokenizerJson: TOKENIZER_JSON,
    chatTemplate,
    sampling: {},
    parameters: countParameters(weights),
    bytes: 0,
  };
}

/** The toy model's files in MLC format (weights rounded to float16). */
export function toyModelFiles(): Map<string, Uint8Array> {
  const { weights, tokenizerJson } = toyModel();
  const tokenizerConfig = JSON.stringify({ eos_token: '<|end|>', chat_template: GROWING_TEMPLATE });
  return mlcFiles(weights, { quantisation: 'q0f16', tokenizerJson, tokenizerConfig });
}

/** A corridor: done at the first answer that says " red", rewarded when that happens at a turn of the task's own parity. */
export function toyEpisode(seed: number): Episode {
  const random = new Random(seed, 'toy episode');
  let turn = 0;
  const words = (): string => random.pick(WORDS) + random.pick(WORDS);
  const episode = {
    observation: words(),
    act(text: string): Step {
      turn++;
      episode.observation = words();
      const done = text.includes('red');
      const success = done && turn % 2 === seed % 2;
      return { observation: episode.observation, reward: success ? 1 : 0, done, success };
    },
  };
  return episode;
}

export function toyTask(n: number): Task {
  return { id: `toy/${n}`, split: 'train', type: 'toy', input: '', data: n };
}
