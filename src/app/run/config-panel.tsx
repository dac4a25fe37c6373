import { createMemo, createSignal, For, Show } from 'solid-js';
import { settingsOf } from '../config-diff.ts';
import { CommandButton } from '../ui/command-button.tsx';
import { Panel } from '../ui/panel.tsx';
import type { Session } from './session.ts';

/** The run's configuration, read-only: by default only what differs from the defaults. */
export function ConfigPanel(props: {
  readonly session: Session;
  /** What a configuration that names nothing gets. */
  readonly defaults: object;
  /** What the button says that starts another run from it; absent takes the command's own words. */
  readonly again?: string;
}) {
  const [all, setAll] = createSignal(false);
  const settings = createMemo(() => {
    const config = props.session.summary()?.config;
    return config ? settingsOf(config, props.defaults) : [];
  });
  const shown = () => (all() ? settings() : settings().filter(({ differs }) => differs));
  return (
    <Panel title="Configuration">
      <div class="stack">
        <label class="small check">
          <input type="checkbox" checked={!all()} onChange={(event) => setAll(!event.currentTarget.checked)} />
          <span>Only what differs from the defaults</span>
        </label>
        <Show when={settings().length > 0} fallback={<p class="text-2">Reading the run …</p>}>
          <dl class="settings">
            <For each={shown()} fallback={<p class="text-2">Everything is at its default.</p>}>
              {(setting) => (
                <div classList={{ differs: setting.differs && all() }}>
                  <dt>{label(setting.path)}</dt>
                  <dd class="num">{setting.value}</dd>
                </div>
              )}
            </For>
          </dl>
        </Show>
        <CommandButton id="run.again" class="small">
          {props.again}
        </CommandButton>
      </div>
    </Panel>
  );
}

/** `textual.rolloutsPerTask` as `rollouts per task`; the section is clear from the words. */
function label(path: string): string {
  const parts = path.split('.');
  const name = parts.at(-1) ?? path;
  const words = name.replace(/([A-Z])/g, ' $1').toLowerCase();
  return parts[0] === 'suite' && name !== 'id' ? `${words} tasks` : parts[0] === 'suite' ? 'suite' : words;
}
