import { createSignal, For, onCleanup, Show } from 'solid-js';
import type { Message } from '../../core/types.ts';
import type { ListedModel, ModelUse } from '../../lab/service.ts';
import type { TransferProgress } from '../../models/download.ts';
import { announce } from '../announce.ts';
import { plural } from '../format.ts';
import { useLab } from '../lab.ts';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Meter } from '../ui/meter.tsx';
import { RUNTIME_WORDS } from './words.ts';

interface Spoken extends Message {
  /** What the answer took, for answers. */
  readonly note?: string;
}

/** A conversation of single lines with a model, to see whether it answers, how well and how fast. */
export function TryOut(props: { readonly model: ListedModel; readonly use: ModelUse; readonly onClose: () => void }) {
  const lab = useLab();
  const [spoken, setSpoken] = createSignal<readonly Spoken[]>([]);
  const [line, setLine] = createSignal('');
  const [answer, setAnswer] = createSignal<string>();
  const [loading, setLoading] = createSignal<TransferProgress>();
  const [error, setError] = createSignal<unknown>();
  const busy = () => answer() !== undefined;
  let input!: HTMLInputElement;

  const ask = async () => {
    const content = line().trim();
    if (content === '' || busy()) return;
    const messages: readonly Spoken[] = [...spoken(), { role: 'user', content }];
    setSpoken(messages);
    setLine('');
    setError(undefined);
    setAnswer('');
    try {
      const reply = await lab.chat(
        props.use.choice,
        messages.map(({ role, content }) => ({ role, content })),
        (text) => {
          setLoading(undefined);
          setAnswer(text);
        },
        setLoading,
      );
      const { outputTokens, ms } = reply.usage;
      setSpoken([...messages, { role: 'assistant', content: reply.text, note: speed(outputTokens, ms, reply.finish) }]);
      announce(`The model answered with ${plural(outputTokens, 'token')}.`);
    } catch (cause) {
      const partial = answer();
      if (partial) setSpoken([...messages, { role: 'assistant', content: partial, note: 'broken off' }]);
      setError(cause);
    } finally {
      setAnswer(undefined);
      setLoading(undefined);
      input.focus();
    }
  };
  onCleanup(() => {
    if (busy()) void lab.stopChat();
  });

  return (
    <Dialog title={`Try ${props.model.title}`} class="side" onClose={props.onClose}>
      <div class="dialog-body stack try-out">
        <p class="small text-2">
          On {RUNTIME_WORDS[props.use.runtime].about}.
          {props.model.kind === 'shipped' ? ' This model was trained on household tasks alone: it knows no ordinary conversation.' : ''}
        </p>
        <Show when={spoken().length === 0}>
          <p class="empty">Ask something in one line. The answer appears here as it is written; nothing of it is stored.</p>
        </Show>
        <ol class="said">
          <For each={spoken()}>
            {(message) => (
              <li class={message.role}>
                <span class="small text-2">{message.role === 'user' ? 'You' : 'Model'}</span>
                <p class="wrap pre">{message.content || '(nothing)'}</p>
                <Show when={message.note}>
                  <span class="small text-2 num">{message.note}</span>
                </Show>
              </li>
            )}
          </For>
          <Show when={busy()}>
            <li class="assistant" aria-live="off">
              <span class="small text-2">Model</span>
              <p class="wrap pre">{answer() || (loading() ? 'Getting ready …' : 'Reading the question …')}</p>
            </li>
          </Show>
        </ol>
        <Show when={loading()}>{(progress) => <Meter label="Loading the model" progress={progress()} />}</Show>
        <Show when={error()}>{(cause) => <ErrorNote error={cause()} dismiss={() => setError(undefined)} />}</Show>
      </div>
      <form
        class="dialog-foot try-form"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <input
          ref={input}
          class="input grow"
          aria-label="Message"
          placeholder="What is the capital of Norway?"
          autofocus
          value={line()}
          onInput={(event) => setLine(event.currentTarget.value)}
        />
        <Show
          when={busy()}
          fallback={
            <button type="submit" class="button primary" disabled={line().trim() === ''}>
              Send
            </button>
          }
        >
          <button type="button" class="button" onClick={() => void lab.stopChat()}>
            Stop
          </button>
        </Show>
      </form>
    </Dialog>
  );
}

/** `24 tokens · 0.4 s · 60 tokens/s`, and why it ended where that was not the model's own choice. */
function speed(tokens: number, ms: number, finish: string): string {
  const seconds = ms / 1000;
  return [
    plural(tokens, 'token'),
    `${seconds.toFixed(1)} s`,
    ...(seconds > 0 ? [`${(tokens / seconds).toFixed(1)} tokens/s`] : []),
    ...(finish === 'stop' ? [] : [{ length: 'cut at its limit', context: 'its context is full', cancelled: 'stopped' }[finish] ?? finish]),
  ].join(' · ');
}
