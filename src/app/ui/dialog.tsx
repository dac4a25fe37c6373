import { type JSX, onCleanup, onMount } from 'solid-js';
import './dialog.css';

/**
 * A modal dialog on the platform's own element: it traps focus, makes the page behind it inert, closes on Escape and gives
 * focus back to where it was.
 */
export function Dialog(props: {
  readonly title: string;
  readonly class?: string;
  readonly hideTitle?: boolean;
  readonly onClose: () => void;
  readonly children: JSX.Element;
}) {
  let element!: HTMLDialogElement;
  const before = document.activeElement;
  onMount(() => element.showModal());
  onCleanup(() => {
    element.close();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click on the backdrop is a convenience; Escape and the button close too
    <dialog
      ref={element}
      class={`dialog ${props.class ?? ''}`}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onClick={(event) => {
        if (event.target === element) props.onClose();
      }}
    >
      <div class="dialog-box">
        <header class="dialog-head" classList={{ 'visually-hidden': props.hideTitle === true }}>
          <h2>{props.title}</h2>
          <button type="button" class="button quiet small" aria-label="Close" onClick={() => props.onClose()}>
            ✕
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
