import { createEffect, type JSX, on, onMount } from 'solid-js';

/** The main region of a route: names the window and takes the focus after a navigation, so that a screen reader starts here. */
export function Page(props: { readonly title: string; readonly class?: string; readonly children: JSX.Element }) {
  let main!: HTMLElement;
  createEffect(
    on(
      () => props.title,
      (title) => {
        document.title = title === 'Nacre' ? title : `${title} · Nacre`;
      },
    ),
  );
  onMount(() => {
    // The first page keeps the browser's own start of the tab order.
    if (navigated) main.focus({ preventScroll: true });
    navigated = true;
  });
  return (
    <main ref={main} id="main" tabindex="-1" class={`page ${props.class ?? ''}`}>
      {props.children}
    </main>
  );
}

let navigated = false;
