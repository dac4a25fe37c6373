import { useNavigate, useSearchParams } from '@solidjs/router';
import { createMemo, createResource, createSignal, For, Show } from 'solid-js';
import { NacreError } from '../../core/errors.ts';
import { type AnyConfig, parseAnyConfig } from '../../lab/any-config.ts';
import { notify } from '../announce.ts';
import { configToLink, linkToConfig } from '../config-link.ts';
import { EXAMPLES, type ExampleId, loadExample } from '../examples.ts';
import { copyText, saveFile } from '../files.ts';
import { plural } from '../format.ts';
import { useLab } from '../lab.ts';
import { Page } from '../shell/page.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { ConfigForm } from './config-form.tsx';
import { checkDraft, type Draft, isPearl } from './draft.ts';
import './new-run.css';

/** A configuration to edit and run. The address holds it, so that the page can be shared and reloaded. */
export function NewRun() {
  const lab = useLab();
  const navigate = useNavigate();
  const [params, setParams] = useSearchParams<{ c?: string }>();
  const [error, setError] = createSignal<unknown>();
  const [draft, setDraft] = createSignal<Draft>();
  const [text, setText] = createSignal('');
  const [textError, setTextError] = createSignal<unknown>();
  const [view, setView] = createSignal<'form' | 'json'>('form');
  const [busy, setBusy] = createSignal(false);
  const checked = createMemo(() => checkDraft(draft() ?? {}));

  /** Defaults are filled in where the draft is valid, so that the form shows what will be run. */
  const adopt = (config: unknown) => {
    const { config: complete } = checkDraft(config);
    const next = (complete ?? config) as Draft;
    setDraft(next);
    setText(JSON.stringify(next, null, 2));
    setTextError(undefined);
  };
  const load = async (id: ExampleId) => {
    try {
      adopt(await loadExample(id));
      setParams({ c: undefined }, { replace: true });
    } catch (cause) {
      setError(cause);
    }
  };
  const startFrom = (id: ExampleId) => {
    setError(undefined);
    void load(id);
  };
  createResource(async () => {
    if (params.c) {
      try {
        return adopt(linkToConfig(params.c));
      } catch (cause) {
        setError(cause);
      }
    }
    return load('textual-quick');
  });

  const change = (next: Draft) => {
    setDraft(next);
    setText(JSON.stringify(next, null, 2));
    setTextError(undefined);
    setParams({ c: configToLink(next) }, { replace: true, scroll: false });
  };
  const changeText = (next: string) => {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
        throw new SyntaxError('a configuration is an object in braces');
      setDraft(parsed as Draft);
      setTextError(undefined);
      setParams({ c: configToLink(parsed) }, { replace: true, scroll: false });
    } catch (cause) {
      setTextError(
        new NacreError(
          'config-not-json',
          `This is not JSON yet: ${cause instanceof Error ? cause.message : String(cause)}.`,
          'Correct the place the message names; the form keeps the last readable state.',
        ),
      );
    }
  };
  const start = async () => {
    setError(undefined);
    setBusy(true);
    try {
      navigate(`/run/${await lab.createRun(parseAnyConfig(draft()))}`);
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const copyLink = async () => {
    const url = new URL(location.href);
    url.hash = `#/new?c=${configToLink(draft())}`;
    await copyText(url.href);
    notify('Link copied. It holds the whole configuration.');
  };
  const problems = () => (textError() ? 1 : checked().errors.size);

  return (
    <Page title="New run">
      <form
        class="page-narrow new-run"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <div class="row spread">
          <h1>New run</h1>
          <div class="row">
            <span class="text-2 small">Start from</span>
            <For each={EXAMPLES}>
              {(example) => (
                <button type="button" class="button small" title={example.about} onClick={() => startFrom(example.id)}>
                  {example.title}
                </button>
              )}
            </For>
          </div>
        </div>
        <Show when={error()}>
          <ErrorNote error={error()} dismiss={() => setError(undefined)} />
        </Show>
        <div class="panel new-panel">
          <Show when={draft()} fallback={<p class="panel-body text-2">Reading the configuration …</p>}>
            {(current) => (
              <Tabs
                label="Ways to edit"
                selected={view()}
                onSelect={setView}
                tabs={[
                  {
                    id: 'form',
                    title: 'Form',
                    panel: () => (
                      <Show when={!isPearl(current())} fallback={<PearlNote />}>
                        <ConfigForm draft={current()} errors={checked().errors} onChange={change} />
                      </Show>
                    ),
                  },
                  {
                    id: 'json',
                    title: 'JSON',
                    panel: () => (
                      <div class="stack">
                        <textarea
                          class="input mono json"
                          aria-label="Configuration as JSON"
                          spellcheck={false}
                          value={text()}
                          aria-invalid={problems() > 0 ? 'true' : undefined}
                          onInput={(event) => changeText(event.currentTarget.value)}
                        />
                        <Show when={textError()}>
                          <ErrorNote error={textError()} />
                        </Show>
                      </div>
                    ),
                  },
                ]}
              />
            )}
          </Show>
        </div>
        <Show when={!textError() && problems() > 0}>
          <div class="error-list" role="status">
            <p>
              <span class="mark failure" aria-hidden="true">
                ✕
              </span>{' '}
              {plural(problems(), 'field')} to correct:
            </p>
            <ul>
              <For each={[...checked().errors]}>
                {([path, message]) => (
                  <li class="wrap">
                    <code>{path || 'configuration'}</code> {message}
                  </li>
                )}
              </For>
            </ul>
          </div>
        </Show>
        <div class="row new-actions">
          <button type="submit" class="button primary big" disabled={busy() || problems() > 0}>
            {busy() ? 'Preparing the run …' : 'Run this experiment'}
          </button>
          <button type="button" class="button" disabled={!draft()} onClick={() => void copyLink()}>
            Copy link
          </button>
          <button type="button" class="button" disabled={!draft()} onClick={() => saveFile('experiment.json', 'application/json', text())}>
            Save JSON
          </button>
          <Show when={checked().config}>{(config) => <span class="text-2 small num">{cost(config())}</span>}</Show>
        </div>
      </form>
    </Page>
  );
}

/** PEARL's many settings have no form: the JSON holds them all, checked as it is typed. */
function PearlNote() {
  return <p class="panel-body text-2">A PEARL experiment is edited as JSON, on the other tab; every field is checked as you type.</p>;
}

function cost(config: AnyConfig): string {
  if (config.kind === 'pearl') {
    const { pearl, study } = config;
    const runs = study ? study.seeds.length * study.variants.length : 1;
    const each = `${plural(pearl.updates, 'update')} of ${plural(pearl.prompts * pearl.rollouts.group, 'trajectory', 'trajectories')}`;
    return study ? `${plural(runs, 'run')}, each ${each}` : each;
  }
  const { suite, textual } = config;
  const perStep = Math.min(textual.batchTasks, suite.train);
  const steps = Math.ceil(suite.train / perStep) * textual.epochs;
  const rollouts =
    suite.train * textual.epochs * textual.rolloutsPerTask + (steps + 1) * suite.val + 2 * (suite.train + suite.test + suite.unseen);
  return `${plural(steps, 'step')}, at most ${plural(rollouts, 'rollout')}`;
}
