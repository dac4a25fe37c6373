import { createSignal, createUniqueId, For, Show } from 'solid-js';
import { normaliseBaseUrl } from '../../models/endpoint/settings.ts';
import { announce } from '../announce.ts';
import { plural } from '../format.ts';
import { useLab } from '../lab.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field } from '../ui/field.tsx';

/** Where the usual servers listen when they run on this machine. */
const USUAL = [
  { url: 'http://127.0.0.1:11434/v1', title: 'Ollama' },
  { url: 'http://127.0.0.1:8080/v1', title: 'llama.cpp' },
  { url: 'http://127.0.0.1:8000/v1', title: 'vLLM' },
  { url: 'http://127.0.0.1:1234/v1', title: 'LM Studio' },
] as const;

interface Answer {
  readonly baseUrl: string;
  readonly models: readonly string[];
  readonly ms: number;
}

/** OpenAI-compatible servers: address, key, a test of the connection that says what stands in the way. */
export function Servers(props: { readonly url: string; readonly onUrl: (url: string) => void; readonly onListed: () => void }) {
  const lab = useLab();
  const list = createUniqueId();
  const [key, setKey] = createSignal('');
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<unknown>();
  const [answer, setAnswer] = createSignal<Answer>();

  const test = async () => {
    setBusy(true);
    setError(undefined);
    setAnswer(undefined);
    const startedAt = performance.now();
    try {
      const baseUrl = normaliseBaseUrl(props.url);
      props.onUrl(baseUrl);
      await lab.setEndpointKey(baseUrl, key());
      const models = (await lab.endpointModels(baseUrl)).map(({ id }) => id);
      setAnswer({ baseUrl, models, ms: performance.now() - startedAt });
      announce(`${new URL(baseUrl).host} offers ${plural(models.length, 'model')}.`);
      props.onListed();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="stack"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void test();
      }}
    >
      <Field
        label="Base URL"
        help="As OpenAI clients take it; for most servers it ends in /v1."
        control={(attributes) => (
          <input
            class="input"
            inputmode="url"
            list={list}
            placeholder="http://127.0.0.1:8000/v1"
            value={props.url}
            onInput={(event) => props.onUrl(event.currentTarget.value)}
            {...attributes}
          />
        )}
      />
      <datalist id={list}>
        <For each={USUAL}>{({ url, title }) => <option value={url}>{title} on this machine</option>}</For>
      </datalist>
      <Field
        label="Key, if it wants one"
        help="Held in memory until this tab closes; never stored, exported or logged, and sent to this server only."
        control={(attributes) => (
          <input
            class="input mono"
            type="password"
            autocomplete="off"
            value={key()}
            onInput={(event) => setKey(event.currentTarget.value)}
            {...attributes}
          />
        )}
      />
      <div class="row">
        <button type="submit" class="button" disabled={busy() || props.url.trim() === ''}>
          {busy() ? 'Asking the server …' : 'Test the connection'}
        </button>
      </div>
      <Show when={answer()}>
        {(found) => (
          <div role="status" class="server-answer">
            <p>
              <span class="success" aria-hidden="true">
                ●{' '}
              </span>
              {new URL(found().baseUrl).host} answered in {Math.round(found().ms)} ms with {plural(found().models.length, 'model')}
              {found().models.length > 0 ? '; they are in the list of models now.' : ': load one on the server.'}
            </p>
            <p class="small text-2 wrap">{found().models.slice(0, 12).join(', ')}</p>
          </div>
        )}
      </Show>
      <Show when={error()}>{(cause) => <ErrorNote error={cause()} retry={() => void test()} />}</Show>
    </form>
  );
}
