import { ErrorBoundary, type JSX, Show, Suspense } from 'solid-js';
import { ErrorNote } from './error-note.tsx';
import './panel.css';

/**
 * A titled region of the workbench whose body scrolls on its own. What fails inside is shown inside, with a retry; the rest
 * of the page stays usable.
 */
export function Panel(props: {
  readonly title: string;
  /** Shown before the title only to assistive technology where the design needs no visible heading. */
  readonly hideTitle?: boolean;
  readonly actions?: JSX.Element;
  readonly class?: string;
  readonly loading?: string;
  readonly children: JSX.Element;
}) {
  return (
    <section class={`panel ${props.class ?? ''}`} aria-label={props.title}>
      <Show when={!props.hideTitle}>
        <header class="panel-head">
          <h2>{props.title}</h2>
          <div class="row">{props.actions}</div>
        </header>
      </Show>
      {/* biome-ignore lint/a11y/useSemanticElements: a group of read-only content is no fieldset */}
      <div class="panel-body" tabindex="0" role="group" aria-label={`${props.title}, content`}>
        <ErrorBoundary fallback={(error, reset) => <ErrorNote error={error} retry={reset} />}>
          <Suspense fallback={<p class="text-2">{props.loading ?? 'Loading …'}</p>}>{props.children}</Suspense>
        </ErrorBoundary>
      </div>
    </section>
  );
}

/** What will appear here, and how to make it appear. */
export function Empty(props: { readonly children: JSX.Element }) {
  return <p class="empty">{props.children}</p>;
}
