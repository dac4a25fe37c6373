import { useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from 'solid-js';
import type { ProbeResult } from '../../lab/service.ts';
import { useLab } from '../lab.ts';
import { Page } from '../shell/page.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Empty, Panel } from '../ui/panel.tsx';
import { LayerCurve } from './layer-curve.tsx';
import { NextTokens } from './next-tokens.tsx';
import { TokenChips } from './token-chips.tsx';
import { formatProbeUrl, MAX_PROBE_CHARS, PROBE_EXAMPLES, type ProbeUrl, parseProbeUrl } from './url.ts';
import './probe.css';

/** Shortest pause in typing after which the text is probed. */
const PAUSE_MS = 250;
const TOP_TOKENS = 8;

/** Any text under the shipped model: its tokens, how surely each was expected, and layer by layer how the model came to it. */
export function Probe() {
  const lab = useLab();
  const [params, setParams] = useSearchParams<Record<string, string>>();
  const url = createMemo(() => parseProbeUrl({ ...params }), undefined, {
    equals: (a, b) => a.text === b.text && a.raw === b.raw && a.token === b.token,
  });
  const go = (change: Partial<ProbeUrl>) => setParams(formatProbeUrl({ ...url(), ...change }), { replace: true, scroll: false });
  const [result, setResult] = createSignal<ProbeResult>();
  const [error, setError] = createSignal<unknown>();
  const [busy, setBusy] = createSignal(false);
  const text = createMemo(() => url().text);
  const raw = createMemo(() => url().raw);

  let asked = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const probe = async () => {
    asked += 1;
    const mine = asked;
    setBusy(true);
    try {
      const found = await lab.probe({ text: text(), raw: raw(), topTokens: TOP_TOKENS });
      // A later question may have been asked meanwhile; only its answer counts.
      if (mine !== asked) return;
      setError(undefined);
      setResult(found);
    } catch (cause) {
      if (mine === asked) setError(cause);
    } finally {
      if (mine === asked) setBusy(false);
    }
  };
  createEffect(
    on([text, raw], (_, before) => {
      clearTimeout(timer);
      timer = setTimeout(() => void probe(), before === undefined ? 0 : PAUSE_MS);
    }),
  );
  onCleanup(() => clearTimeout(timer));

  const chosen = createMemo(() => {
    const tokens = result()?.tokens ?? [];
    if (tokens.length === 0) return undefined;
    return Math.min(url().token ?? tokens.length - 1, tokens.length - 1);
  });

  return (
    <Page title="Probe">
      <div class="page-narrow probe">
        <div>
          <h1>Probe</h1>
          <p class="text-2">
            What the shipped model expects at every place of a text, and in which layer it makes up its mind. Choose a token to see its
            layers.
          </p>
        </div>
        <section class="panel probe-input" aria-label="Text to probe">
          <label class="visually-hidden" for="probe-text">
            Text to probe
          </label>
          <textarea
            id="probe-text"
            class="input mono"
            rows="4"
            maxlength={MAX_PROBE_CHARS}
            value={text()}
            onInput={(event) => go({ text: event.currentTarget.value, token: undefined })}
          />
          <div class="row spread">
            <div class="row">
              <span class="small text-2">Try</span>
              <For each={PROBE_EXAMPLES}>
                {(example) => (
                  <button type="button" class="button small" onClick={() => go({ text: example.text, raw: example.raw, token: undefined })}>
                    {example.title}
                  </button>
                )}
              </For>
            </div>
            <label class="small check">
              <input type="checkbox" checked={raw()} onChange={(event) => go({ raw: event.currentTarget.checked })} />
              <span>As it is (else: context, a line ---, observation)</span>
            </label>
          </div>
        </section>
        <Show when={error()}>
          <ErrorNote error={error()} retry={() => void probe()} />
        </Show>
        <Panel title={busy() ? 'Tokens: reading …' : 'Tokens'}>
          <Show
            when={result()}
            fallback={<Empty>The tokens of the text will appear here, shaded by how surely the model expected each.</Empty>}
          >
            {(found) => <TokenChips tokens={found().tokens} chosen={chosen() ?? 0} onChoose={(token) => go({ token })} />}
          </Show>
        </Panel>
        <Show when={result()}>
          {(found) => (
            <div class="probe-pair">
              <Panel title="Layers" hideTitle>
                <LayerCurve result={found()} index={chosen() ?? 0} />
              </Panel>
              <Panel title="Predictions" hideTitle>
                <NextTokens result={found()} index={chosen() ?? 0} />
              </Panel>
            </div>
          )}
        </Show>
        <Show when={result()}>
          {(found) => (
            <p class="small text-2">
              <span class="mono">{found().model}</span>, {found().layers} layers. Self-check: the normed logit of the last layer and the
              model's own differ by at most <span class="num">{found().selfCheck.toExponential(1)}</span>
              {found().selfCheck < 1e-3 ? ' ● as they should.' : ' ✕ more than rounding: do not trust these curves.'}
            </p>
          )}
        </Show>
      </div>
    </Page>
  );
}
