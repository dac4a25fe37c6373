import { Template } from '@huggingface/jinja';
import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';
import type { Message } from '../core/types.ts';
import { validate } from './json.ts';

export interface RenderOptions {
  /** End with the words that open the assistant's turn. */
  readonly addGenerationPrompt: boolean;
  /** Further template variables, e.g. `{enable_thinking: false}` for Qwen3. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** How messages become the text a model was trained on. */
export interface ChatTemplate {
  readonly source: 'jinja' | 'conv_template' | 'plain';
  /** Whether the tokenizer must add special tokens to the text of a whole conversation; most templates write them themselves. */
  readonly addSpecial: boolean;
  render(messages: readonly Message[], options: RenderOptions): string;
}

export interface TemplateTokens {
  readonly bosToken?: string;
  readonly eosToken?: string;
}

/**
 * A Jinja template as in `tokenizer_config.json`.
 * @throws {NacreError} `bad-chat-template` when it does not parse, and from `render` when it refuses the messages.
 */
export function jinjaTemplate(source: string, tokens: TemplateTokens = {}): ChatTemplate {
  const template = guarded('does not parse', () => new Template(source.replace(/\bstrftime_now\b/g, 'fixed_date')));
  return {
    source: 'jinja',
    addSpecial: false,
    render: (messages, options) =>
      guarded('cannot render these messages', () =>
        template.render({
          messages: messages.map(({ role, content }) => ({ role, content })),
          add_generation_prompt: options.addGenerationPrompt,
          bos_token: tokens.bosToken ?? '',
          eos_token: tokens.eosToken ?? '',
          fixed_date: fixedDate,
          ...options.variables,
        }),
      ),
  };
}

/**
 * Templates may ask for today's date (`strftime_now`, which the library defines and does not let us redefine, hence the
 * renaming). A fixed one keeps the same seed at the same rollouts on any day.
 */
function fixedDate(format: string): string {
  const parts: Record<string, string> = { '%d': '26', '%b': 'Jul', '%B': 'July', '%m': '07', '%Y': '2024', '%y': '24' };
  return format.replace(/%[a-zA-Z]/g, (directive) => parts[directive] ?? directive);
}

export const CONV_TEMPLATE = v.looseObject({
  name: v.optional(v.string(), ''),
  system_template: v.optional(v.string(), '{system_message}'),
  system_message: v.optional(v.string(), ''),
  add_role_after_system_message: v.optional(v.boolean(), true),
  roles: v.record(v.string(), v.string()),
  role_templates: v.optional(v.record(v.string(), v.string()), {}),
  seps: v.pipe(v.array(v.string()), v.minLength(1)),
  role_content_sep: v.optional(v.string(), ''),
  role_empty_sep: v.optional(v.string(), ''),
  stop_str: v.optional(v.array(v.string()), []),
  stop_token_ids: v.optional(v.array(v.number()), []),
  system_prefix_token_ids: v.nullish(v.array(v.number()), []),
});
export type ConvTemplate = v.InferOutput<typeof CONV_TEMPLATE>;

/** The `conv_template` object of `mlc-chat-config.json`, checked. @throws {NacreError} `bad-field`. */
export function parseConvTemplate(value: unknown): ConvTemplate {
  return validate('mlc-chat-config.json, conv_template', CONV_TEMPLATE, value);
}

/** @param prefix text of `system_prefix_token_ids`, which open every conversation. */
export function convTemplate(conv: ConvTemplate, prefix = ''): ChatTemplate {
  const opening = (role: string): string => conv.roles[role] ?? role;
  return {
    source: 'conv_template',
    addSpecial: false,
    render(messages, options) {
      const first = messages[0];
      const systemGiven = first?.role === 'system';
      const system = conv.system_template.replace('{system_message}', () => (systemGiven ? first.content : conv.system_message));
      const turns = systemGiven ? messages.slice(1) : messages;
      let text = prefix + system;
      turns.forEach(({ role, content }, index) => {
        const body = (conv.role_templates[role] ?? `{${role}_message}`).replace(`{${role}_message}`, () => content);
        const bare = index === 0 && system !== '' && !conv.add_role_after_system_message;
        const separator = role === 'assistant' ? (conv.seps[1] ?? conv.seps[0]) : conv.seps[0];
        text += (bare ? '' : opening(role) + conv.role_content_sep) + body + separator;
      });
      return options.addGenerationPrompt ? text + opening('assistant') + conv.role_empty_sep : text;
    },
  };
}

/** For base models that have no chat format: contents one below the other. */
export const PLAIN_TEMPLATE: ChatTemplate = {
  source: 'plain',
  addSpecial: true,
  render: (messages) => messages.map((message) => `${message.content}\n`).join(''),
};

export interface NextText {
  /** What to feed after the text already consumed, or the whole conversation. */
  readonly text: string;
  /** False when the template rewrote earlier turns (Qwen3 drops old thoughts), so the cache must start afresh. */
  readonly incremental: boolean;
}

/**
 * The text a session still has to read for the next assistant turn.
 * @param consumed everything the session has read and generated so far, special tokens included.
 */
export function nextText(
  template: ChatTemplate,
  messages: readonly Message[],
  consumed: string,
  options: Partial<RenderOptions> = {},
): NextText {
  const whole = template.render(messages, { addGenerationPrompt: true, ...options });
  if (!whole.startsWith(consumed)) return { text: whole, incremental: false };
  return { text: whole.slice(consumed.length), incremental: consumed !== '' };
}

function guarded<T>(problem: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError(
      'bad-chat-template',
      `The chat template ${problem}: ${reason}.`,
      "Check chat_template in tokenizer_config.json, and that the messages' roles are ones the model knows.",
      { cause },
    );
  }
}
