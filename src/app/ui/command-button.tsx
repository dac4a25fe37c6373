import { type JSX, Show } from 'solid-js';
import { findCommand, isAvailable } from '../commands.ts';
import { ariaKeys, showKeys } from '../keys.ts';
import { isApple } from '../platform.ts';

/** A button for a command of the table; it is absent while the command cannot be done. */
export function CommandButton(props: { readonly id: string; readonly class?: string; readonly children?: JSX.Element }) {
  const command = () => {
    const found = findCommand(props.id);
    return found && isAvailable(found) ? found : undefined;
  };
  return (
    <Show when={command()}>
      {(found) => (
        <button
          type="button"
          class={`button ${props.class ?? ''}`}
          aria-keyshortcuts={found().keys?.map(ariaKeys).join(' ')}
          onClick={() => found().run()}
        >
          {props.children ?? found().title}
          <Show when={found().keys?.[0]}>
            {(keys) => (
              <span class="kbd" aria-hidden="true">
                {showKeys(keys(), isApple())}
              </span>
            )}
          </Show>
        </button>
      )}
    </Show>
  );
}
