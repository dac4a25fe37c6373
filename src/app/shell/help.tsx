import { For } from 'solid-js';
import { commands } from '../commands.ts';
import { showKeys } from '../keys.ts';
import { isApple } from '../platform.ts';
import { Dialog } from '../ui/dialog.tsx';

/** Keys that belong to widgets rather than to commands. */
const WIDGET_KEYS = [
  ['↑ ↓ ← →', 'Move in grids, charts and token lists; Home and End go to the ends'],
  ['Enter', 'Open what is focused'],
  ['Escape', 'Close a dialog or panel'],
] as const;

export function Help(props: { readonly onClose: () => void }) {
  const keyed = () => commands().filter((command) => command.keys);
  return (
    <Dialog title="Keyboard shortcuts" onClose={props.onClose}>
      <dl class="dialog-body keys-list">
        <For each={keyed()}>
          {(command) => (
            <>
              <dt>
                <kbd>{showKeys(command.keys?.[0] ?? '', isApple())}</kbd>
              </dt>
              <dd>{command.title}</dd>
            </>
          )}
        </For>
        <For each={WIDGET_KEYS}>
          {([keys, what]) => (
            <>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{what}</dd>
            </>
          )}
        </For>
      </dl>
    </Dialog>
  );
}
