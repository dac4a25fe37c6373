import { createMemo, createSignal, For, Show } from 'solid-js';
import { type Command, commands, isAvailable, searchCommands } from '../commands.ts';
import { showKeys } from '../keys.ts';
import { isApple } from '../platform.ts';
import { Dialog } from '../ui/dialog.tsx';

/** Every command that can be done now, found by typing. A combobox: the input keeps the focus, arrows move the choice. */
export function Palette(props: { readonly onClose: () => void }) {
  const [query, setQuery] = createSignal('');
  const [choice, setChoice] = createSignal(0);
  const found = createMemo(() =>
    searchCommands(
      commands()
        .filter(isAvailable)
        .filter(({ id }) => id !== 'view.palette'),
      query(),
    ),
  );
  const at = () => Math.min(choice(), found().length - 1);

  const run = (command: Command | undefined) => {
    if (!command) return;
    props.onClose();
    // After the dialog has given the focus back, so that the command may move it.
    queueMicrotask(() => command.run());
  };
  const onKey = (event: KeyboardEvent) => {
    const count = found().length;
    if (event.key === 'ArrowDown') setChoice((at() + 1) % Math.max(1, count));
    else if (event.key === 'ArrowUp') setChoice((at() - 1 + count) % Math.max(1, count));
    else if (event.key === 'Enter') run(found()[at()]);
    else return;
    event.preventDefault();
    document.getElementById(`palette-${at()}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <Dialog title="All commands" hideTitle class="palette" onClose={props.onClose}>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Find a command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found().length > 0 ? `palette-${at()}` : undefined}
        aria-autocomplete="list"
        placeholder="Type what you want to do"
        autofocus
        value={query()}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setChoice(0);
        }}
        onKeyDown={onKey}
      />
      <div id="palette-list" class="palette-list" role="listbox" aria-label="Commands">
        <For each={found()}>
          {(command, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox handles the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the combobox keeps the focus (aria-activedescendant)
            <div class="palette-item" id={`palette-${index()}`} role="option" aria-selected={index() === at()} onClick={() => run(command)}>
              <span class="group">{command.group}</span>
              <span class="grow">{command.title}</span>
              <Show when={command.keys?.[0]}>{(keys) => <kbd>{showKeys(keys(), isApple())}</kbd>}</Show>
            </div>
          )}
        </For>
      </div>
      <Show when={found().length === 0}>
        <p class="dialog-body text-2">No command matches. Fewer letters find more.</p>
      </Show>
    </Dialog>
  );
}
