import { describe, expect, it } from 'vitest';
import { NacreError } from '../../../src/core/errors.ts';
import type { Message } from '../../../src/core/types.ts';
import { convTemplate, jinjaTemplate, nextText, PLAIN_TEMPLATE, parseConvTemplate } from '../../../src/transformer/chat-template.ts';

const CHATML =
  "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe brief.<|im_end|>\n' }}{% endif %}" +
  "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

const CONV = {
  name: 'chatml',
  system_template: '<|im_start|>system\n{system_message}<|im_end|>\n',
  system_message: 'Be brief.',
  add_role_after_system_message: true,
  roles: { user: '<|im_start|>user', assistant: '<|im_start|>assistant' },
  role_templates: { user: '{user_message}', assistant: '{assistant_message}' },
  seps: ['<|im_end|>\n'],
  role_content_sep: '\n',
  role_empty_sep: '\n',
  stop_token_ids: [2],
};

const talk: Message[] = [
  { role: 'user', content: 'Hi {user_message} $& there' },
  { role: 'assistant', content: 'Hello.' },
  { role: 'user', content: 'Bye' },
];

describe('chat templates', () => {
  it('renders ChatML the same from Jinja and from conv_template', () => {
    const conv = convTemplate(parseConvTemplate(CONV));
    const jinja = jinjaTemplate(CHATML);
    for (const addGenerationPrompt of [true, false]) {
      for (const messages of [talk, [{ role: 'system', content: 'Rule $1.' } as Message, ...talk]]) {
        expect(conv.render(messages, { addGenerationPrompt })).toBe(jinja.render(messages, { addGenerationPrompt }));
      }
    }
    expect(jinja.render(talk.slice(0, 1), { addGenerationPrompt: true })).toBe(
      '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi {user_message} $& there<|im_end|>\n<|im_start|>assistant\n',
    );
  });

  it('gives only the new text of the next turn while the template keeps its prefix', () => {
    const template = jinjaTemplate(CHATML);
    const consumed = `${template.render(talk.slice(0, 1), { addGenerationPrompt: true })}Hello.<|im_end|>`;
    expect(nextText(template, talk, consumed)).toEqual({
      text: '\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n',
      incremental: true,
    });
    expect(nextText(template, talk, '').incremental).toBe(false);
  });

  it('renders afresh when the template rewrites earlier turns', () => {
    const forgetful = jinjaTemplate("{% for m in messages %}{{ m.content.split('</think>')[-1] + '|' }}{% endfor %}");
    const messages: Message[] = [talk[0], { role: 'assistant', content: 'hm</think>ok' }, talk[2]];
    const next = nextText(forgetful, messages, `${talk[0].content}|hm</think>ok|`);
    expect(next).toEqual({ text: `${talk[0].content}|ok|Bye|`, incremental: false });
  });

  it('passes special tokens, variables and a date that never changes', () => {
    const template = jinjaTemplate("{{ bos_token }}{{ strftime_now('%d %b %Y') }}{% if enable_thinking %}T{% endif %}{{ eos_token }}", {
      bosToken: '<s>',
      eosToken: '</s>',
    });
    expect(template.render([], { addGenerationPrompt: false, variables: { enable_thinking: true } })).toBe('<s>26 Jul 2024T</s>');
  });

  it('names a template that does not parse or refuses the messages', () => {
    expect(() => jinjaTemplate('{% if %}')).toThrow(NacreError);
    const strict = jinjaTemplate("{{ raise_exception('roles must alternate') }}");
    expect(() => strict.render(talk, { addGenerationPrompt: true })).toThrow(/roles must alternate/);
    expect(() => parseConvTemplate({ ...CONV, seps: [] })).toThrow(/seps/);
  });

  it('lists contents for a model without a chat format', () => {
    expect(PLAIN_TEMPLATE.render(talk.slice(1), { addGenerationPrompt: true })).toBe('Hello.\nBye\n');
  });
});
