import { createSignal, Match, Show, Switch } from 'solid-js';
import type { LabService, ListedModel, ModelVerification } from '../../lab/service.ts';
import { notify } from '../announce.ts';
import { plural } from '../format.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { startTransfer } from './transfers.ts';

/** Reads a stored model's files again and compares them with what they should be; what is damaged can be fetched anew. */
export function Verify(props: { readonly lab: LabService; readonly model: ListedModel; readonly onChanged: () => void }) {
  const [busy, setBusy] = createSignal(false);
  const [found, setFound] = createSignal<ModelVerification>();
  const [error, setError] = createSignal<unknown>();
  const bad = () => [...(found()?.damaged ?? []), ...(found()?.missing ?? [])];

  const verify = async (repair: boolean) => {
    setBusy(true);
    setError(undefined);
    try {
      const result = await props.lab.verifyModel(props.model.id, repair);
      setFound(result);
      if (!repair) return;
      setFound(undefined);
      notify('Damaged files were deleted; the rest is downloaded again.');
      props.onChanged();
      await startTransfer(props.lab, props.model.id);
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button
        type="button"
        class="button quiet small"
        aria-label={`Verify ${props.model.title}`}
        disabled={busy()}
        onClick={() => void verify(false)}
      >
        {busy() ? 'Reading its files …' : 'Verify'}
      </button>
      <Show when={found()}>
        {(result) => (
          <span class="small wrap" role="status">
            <Switch
              fallback={
                <span class="success">
                  <span aria-hidden="true">● </span>
                  {plural(result().good, 'file')} checked, all right
                </span>
              }
            >
              <Match when={bad().length > 0}>
                <span class="failure">
                  <span aria-hidden="true">✕ </span>
                  damaged or missing: {bad().join(', ')}
                </span>{' '}
                <Show
                  when={props.model.where === 'downloaded'}
                  fallback={<span class="text-2">Delete the model and add its files again.</span>}
                >
                  <button type="button" class="button small" onClick={() => void verify(true)}>
                    Download those again
                  </button>
                </Show>
              </Match>
            </Switch>
          </span>
        )}
      </Show>
      <Show when={error()}>{(cause) => <ErrorNote error={cause()} dismiss={() => setError(undefined)} />}</Show>
    </>
  );
}
