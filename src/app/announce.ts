import { createSignal } from 'solid-js';

const [message, setMessage] = createSignal('');
const [toast, setToast] = createSignal<string | undefined>(undefined);

/** What the page's one live region says. */
export const announcement = message;
/** What is shown for a moment at the foot of the page. */
export const shownToast = toast;

/** Speaks at a boundary (a step ended, a run finished); never per token. */
export function announce(text: string): void {
  setMessage(text);
}

const TOAST_MS = 5000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows and speaks the outcome of something the person just did. */
export function notify(text: string): void {
  announce(text);
  setToast(text);
  clearTimeout(timer);
  timer = setTimeout(() => setToast(undefined), TOAST_MS);
}
