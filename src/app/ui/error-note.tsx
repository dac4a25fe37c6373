import { Show } from 'solid-js';
import { type PlainError, toPlainError } from '../../core/errors.ts';
import { notify } from '../announce.ts';
import { copyText } from '../files.ts';
import './error-note.css';

/** An error with its remedy. Everything thrown in the page is shown by this one component. */
export function ErrorNote(props: { readonly error: unknown; readonly retry?: () => void; readonly dismiss?: () => void }) {
  const plain = (): PlainError => toPlainError(props.error);
  const copy = async () => {
    await copyText(errorDetails(props.error));
    notify('Details copied.');
  };
  return (
    <div class="error-note" role="alert">
      <p>
        <span class="mark failure" aria-hidden="true">
          ✕
        </span>{' '}
        <strong class="wrap">{plain().message}</strong>
      </p>
      <p class="wrap">{plain().hint}</p>
      <div class="row">
        <Show when={props.retry}>
          {(retry) => (
            <button type="button" class="button small" onClick={() => retry()()}>
              Retry
            </button>
          )}
        </Show>
        <button type="button" class="button small" onClick={() => void copy()}>
          Copy details
        </button>
        <Show when={props.dismiss}>
          {(dismiss) => (
            <button type="button" class="button small" onClick={() => dismiss()()}>
              Dismiss
            </button>
          )}
        </Show>
        <code class="text-2">{plain().code}</code>
      </div>
    </div>
  );
}

/** What a report of the error needs: code, message, hint, stack, page and browser. */
export function errorDetails(error: unknown): string {
  const { code, message, hint } = toPlainError(error);
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return [`code: ${code}`, `message: ${message}`, `hint: ${hint}`, `page: ${location.hash}`, `browser: ${navigator.userAgent}`, stack].join(
    '\n',
  );
}
