import { NacreError } from '../../core/errors.ts';
import { Random } from '../../core/random.ts';
import type { Message } from '../../core/types.ts';
import type { Backend } from '../../tensor/backend.ts';
import { Decoder } from '../../transformer/decoder.ts';
import { type ProbePoint, probeLayers } from '../../transformer/probe.ts';
import { SequencePool, type TurnFinish } from '../../transformer/session.ts';
import type { LoadedModel } from './source.ts';

/** What to go on from: exactly one of the three. */
export type Prompt =
  /** Special tokens are added as the tokenizer says. */
  | { readonly text: string }
  /** Put through the model's chat template. */
  | { readonly messages: readonly Message[] }
  /** Taken as they are. */
  | { readonly ids: readonly number[] };

export interface GenerateRequest {
  readonly prompt: Prompt;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topP: number;
  readonly seed: number;
}

export interface GenerateResult {
  readonly promptIds: readonly number[];
  /** Sampled ids, the stop token included. */
  readonly ids: readonly number[];
  /** Without special tokens. */
  readonly text: string;
  /** ln p of each sampled id at temperature 1. */
  readonly logprobs: readonly number[];
  readonly finish: TurnFinish;
  readonly seconds: { readonly prefill: number; readonly decode: number };
}

/** Ids of a prompt. @throws {NacreError} `empty-prompt`, or what the template throws. */
export function promptIds(model: LoadedModel, prompt: Prompt): readonly number[] {
  const ids = idsOf(model, prompt);
  if (ids.length === 0) {
    throw new NacreError('empty-prompt', 'The prompt has no tokens.', 'Give some text, or the id of the token that begins texts (BOS).');
  }
  return ids;
}

function idsOf(model: LoadedModel, prompt: Prompt): readonly number[] {
  if ('ids' in prompt) return prompt.ids;
  if ('text' in prompt) return model.tokenizer.encode(prompt.text);
  const { tokenizer, chatTemplate } = model;
  return tokenizer.encode(chatTemplate.render(prompt.messages, { addGenerationPrompt: true }), { addSpecial: chatTemplate.addSpecial });
}

/**
 * Generates from one prompt. The same on every backend up to rounding, and the same ids for the same seed.
 * @throws {NacreError} `empty-prompt`, `token-out-of-range`, `prompt-too-long`.
 */
export async function generateCommand(
  backend: Backend,
  model: LoadedModel,
  request: GenerateRequest,
  signal?: AbortSignal,
): Promise<GenerateResult> {
  const prompt = promptIds(model, request.prompt);
  const { contextLength, eosIds } = model.weights.config;
  if (prompt.length >= contextLength) {
    throw new NacreError(
      'prompt-too-long',
      `The prompt has ${prompt.length} tokens; the model reads ${contextLength} in all.`,
      'Shorten the prompt or use a model with a longer context.',
    );
  }
  const decoder = new Decoder(backend, model.weights);
  try {
    const pool = new SequencePool(decoder);
    const started = performance.now();
    let first = started;
    const [turn] = await pool.decodeTurn(
      [
        {
          sequence: pool.start(),
          tokens: prompt,
          maxTokens: request.maxTokens,
          stopIds: eosIds,
          temperature: request.temperature,
          topP: request.topP,
          random: new Random(request.seed, 'generate'),
        },
      ],
      {
        ...(signal === undefined ? {} : { signal }),
        onToken: () => {
          if (first === started) first = performance.now();
        },
      },
    );
    return {
      promptIds: prompt,
      ids: turn.ids,
      text: model.tokenizer.decodeAfter(prompt, turn.ids),
      logprobs: turn.logprobs,
      finish: turn.finish,
      seconds: { prefill: (first - started) / 1000, decode: (performance.now() - first) / 1000 },
    };
  } finally {
    decoder.free();
  }
}

export interface ProbeResult {
  readonly position: number;
  readonly token: number;
  /** One value a layer, without and with the final norm. */
  readonly raw: readonly number[];
  readonly normed: readonly number[];
  /** The model's own logit; equals the last of `normed` up to rounding. */
  readonly logit: number;
}

/** Layer logits of chosen tokens at chosen positions of a text. @throws {NacreError} `empty-prompt`, and what `probeLayers` throws. */
export async function probeCommand(
  backend: Backend,
  model: LoadedModel,
  ids: readonly number[],
  points: readonly ProbePoint[],
): Promise<ProbeResult[]> {
  const decoder = new Decoder(backend, model.weights);
  try {
    const { layers, raw, normed, logits } = await probeLayers(decoder, promptIds(model, { ids }), points);
    return points.map(({ position, token }, i) => ({
      position,
      token,
      raw: [...raw.subarray(i * layers, (i + 1) * layers)],
      normed: [...normed.subarray(i * layers, (i + 1) * layers)],
      logit: logits[i],
    }));
  } finally {
    decoder.free();
  }
}

/** A command as plain data, so that it can run where the GPU is. */
export type ModelTask =
  | { readonly command: 'generate'; readonly request: GenerateRequest }
  | { readonly command: 'probe'; readonly ids: readonly number[]; readonly points: readonly ProbePoint[] };

export function runTask(
  backend: Backend,
  model: LoadedModel,
  task: ModelTask,
  signal?: AbortSignal,
): Promise<GenerateResult | ProbeResult[]> {
  return task.command === 'generate'
    ? generateCommand(backend, model, task.request, signal)
    : probeCommand(backend, model, task.ids, task.points);
}
