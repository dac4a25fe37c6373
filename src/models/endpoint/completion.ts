import * as v from 'valibot';
import type { Message, Usage } from '../../core/types.ts';
import { divideThinking } from '../think.ts';
import { EndpointError, malformed, responseError, streamCut } from './errors.ts';
import { SseParser } from './sse.ts';
import { parseReply, type Reply, readServerError } from './transport.ts';

/** One answer of a server, put together. */
export interface Completion {
  /** What counts as the answer: without reasoning. */
  readonly text: string;
  readonly thinking: string;
  readonly finish: 'stop' | 'length';
  /** As the server counts; undefined where it does not. */
  readonly counted: CountedTokens | undefined;
}

export interface CountedTokens {
  readonly prompt: number;
  readonly completion: number;
  /** Part of `completion`; undefined where the server does not tell it apart. */
  readonly reasoning: number | undefined;
}

const count = v.pipe(v.number(), v.finite(), v.minValue(0));
const Content = v.nullish(v.union([v.string(), v.array(v.object({ text: v.nullish(v.string()) }))]));
const Said = v.object({ content: Content, reasoning_content: v.nullish(v.string()), reasoning: v.nullish(v.string()) });
/** A whole completion or one chunk of a stream: the same but for `message` and `delta`. */
const Chunk = v.object({
  choices: v.nullish(v.array(v.object({ message: v.nullish(Said), delta: v.nullish(Said), finish_reason: v.nullish(v.string()) }))),
  usage: v.nullish(
    v.object({
      prompt_tokens: v.nullish(count),
      completion_tokens: v.nullish(count),
      completion_tokens_details: v.nullish(v.object({ reasoning_tokens: v.nullish(count) })),
    }),
  ),
  error: v.nullish(v.unknown()),
});

/** What is needed to name the model and hide the key in errors. */
export interface ReadContext {
  readonly model: string;
  readonly key: string | undefined;
}

/** @throws {EndpointError} `endpoint-malformed`, or what an error inside the answer says */
export async function readCompletion(reply: Reply, context: ReadContext): Promise<Completion> {
  const builder = new CompletionBuilder(reply.url, context);
  builder.add(parseReply(reply.url, await reply.text()));
  return builder.whole();
}

/**
 * Reads a streamed answer; a server that answers in one piece instead is understood too.
 * @param onText the visible text so far, as it grows
 * @throws {EndpointError} `endpoint-stream-cut`, `endpoint-malformed`, or what an error inside the stream says
 */
export async function readStream(reply: Reply, context: ReadContext, onText: ((text: string) => void) | undefined): Promise<Completion> {
  if (reply.contentType.includes('json')) return readCompletion(reply, context);
  const builder = new CompletionBuilder(reply.url, context);
  const parser = new SseParser();
  let done = false;
  for await (const piece of reply.chunks()) {
    for (const { event, data } of parser.push(piece)) {
      done ||= data.trim() === '[DONE]';
      if (done) break;
      const parsed = parseReply(reply.url, data);
      builder.add(event === 'error' ? { error: parsed } : parsed);
    }
    onText?.(builder.visible());
    if (done) break;
  }
  return builder.streamed(done);
}

class CompletionBuilder {
  private content = '';
  private reasoning = '';
  private finish: string | undefined;
  private counted: CountedTokens | undefined;
  private choices = 0;

  constructor(
    private readonly url: string,
    private readonly context: ReadContext,
  ) {}

  add(piece: unknown): void {
    const parsed = v.safeParse(Chunk, piece);
    if (!parsed.success) {
      const [issue] = parsed.issues;
      throw malformed(this.url, `${v.getDotPath(issue) ?? 'the answer'} is not as expected`);
    }
    const { choices, usage, error } = parsed.output;
    if (error != null) throw this.failure(error);
    const choice = choices?.[0];
    if (choice) {
      this.choices++;
      const said = choice.message ?? choice.delta;
      this.content += contentText(said?.content);
      this.reasoning += said?.reasoning_content ?? said?.reasoning ?? '';
      this.finish = choice.finish_reason ?? this.finish;
    }
    if (usage?.prompt_tokens != null && usage.completion_tokens != null) {
      this.counted = {
        prompt: usage.prompt_tokens,
        completion: usage.completion_tokens,
        reasoning: usage.completion_tokens_details?.reasoning_tokens ?? undefined,
      };
    }
  }

  visible(): string {
    return divideThinking(this.content).visible;
  }

  whole(): Completion {
    if (this.choices === 0) throw malformed(this.url, 'it holds no choices');
    return this.build();
  }

  streamed(done: boolean): Completion {
    // Without a word that it is finished, what came is only the beginning.
    if (this.finish === undefined && !done) throw streamCut(this.url);
    return this.whole();
  }

  private build(): Completion {
    if (this.finish === 'content_filter') {
      throw new EndpointError(
        'endpoint-filtered',
        `The content filter of ${new URL(this.url).host} stopped the answer.`,
        'Reword the context or the task, or use a server without such a filter.',
        { passing: false },
      );
    }
    const { visible, thinking } = divideThinking(this.content);
    const finish = this.finish === 'length' || this.finish === 'max_tokens' ? 'length' : 'stop';
    return { text: visible, thinking: this.reasoning + thinking, finish, counted: this.counted };
  }

  private failure(error: unknown): EndpointError {
    const { said, code } = readServerError(JSON.stringify({ error }), this.context.key);
    const given = typeof error === 'object' && error !== null && 'code' in error ? Number(error.code) : Number.NaN;
    const status = Number.isInteger(given) && given >= 400 && given < 600 ? given : 500;
    return responseError({ url: this.url, model: this.context.model, status, said, serverCode: code, waitMs: undefined });
  }
}

function contentText(content: v.InferOutput<typeof Content>): string {
  if (content == null) return '';
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}

/**
 * The cost of one call. Reasoning counts as output but not into the text volume. Where the server does not count, tokens are
 * estimated at four bytes each and the call is marked as estimated.
 */
export function usageOf(messages: readonly Message[], completion: Completion, ms: number): Usage {
  const visibleBytes = bytes(completion.text);
  const thinkingBytes = bytes(completion.thinking);
  const { counted } = completion;
  if (!counted) {
    const inputTokens = messages.reduce((sum, { content }) => sum + estimate(bytes(content)) + TOKENS_A_MESSAGE, 0);
    const visible = estimate(visibleBytes);
    return {
      calls: 1,
      inputTokens,
      outputTokens: visible + estimate(thinkingBytes),
      textVolume: inputTokens + visible,
      ms,
      estimatedCalls: 1,
    };
  }
  const { prompt, completion: outputTokens } = counted;
  const share = visibleBytes + thinkingBytes === 0 ? 0 : thinkingBytes / (visibleBytes + thinkingBytes);
  const reasoning = Math.min(outputTokens, counted.reasoning ?? Math.round(outputTokens * share));
  return { calls: 1, inputTokens: prompt, outputTokens, textVolume: prompt + outputTokens - reasoning, ms };
}

/** What chat templates add around a message, about. */
const TOKENS_A_MESSAGE = 4;

function estimate(byteCount: number): number {
  return Math.ceil(byteCount / 4);
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
