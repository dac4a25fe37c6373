import { createSignal, type JSX, Show } from 'solid-js';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

/** Asks before something is lost. The text names what goes; the button says the deed, not "OK". */
export function Confirm(props: {
  readonly title: string;
  readonly action: string;
  readonly run: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: JSX.Element;
}) {
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<unknown>();
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await props.run();
      props.onClose();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="dialog-body stack">
        {props.children}
        <Show when={error()}>{(cause) => <ErrorNote error={cause()} />}</Show>
      </div>
      <footer class="dialog-foot">
        <button type="button" class="button" autofocus onClick={() => props.onClose()}>
          Cancel
        </button>
        <button type="button" class="button danger" disabled={busy()} onClick={() => void confirm()}>
          {props.action}
        </button>
      </footer>
    </Dialog>
  );
}
