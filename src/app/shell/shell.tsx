import { type RouteSectionProps, useNavigate } from '@solidjs/router';
import { createSignal, ErrorBoundary, onCleanup, onMount, Show, Suspense } from 'solid-js';
import { announcement, shownToast } from '../announce.ts';
import { commandFor, useCommands } from '../commands.ts';
import { nextTheme, setTheme } from '../theme.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { DropZone } from './drop-zone.tsx';
import { Help } from './help.tsx';
import { Palette } from './palette.tsx';
import { TopBar } from './top-bar.tsx';
import './shell.css';

/** What surrounds every route: navigation, commands and their keys, dropped files, the live region, errors nobody caught. */
export function Shell(props: RouteSectionProps) {
  const navigate = useNavigate();
  const [open, setOpen] = createSignal<'palette' | 'help'>();
  const [stray, setStray] = createSignal<unknown>();

  useCommands([
    { id: 'go.home', title: 'Home', group: 'Go to', run: () => navigate('/') },
    { id: 'go.new', title: 'New run: edit a configuration', group: 'Go to', keys: ['n'], run: () => navigate('/new') },
    { id: 'go.models', title: 'Models: download, add, try', group: 'Go to', keys: ['m'], run: () => navigate('/models') },
    { id: 'go.suites', title: 'Suites: import questions', group: 'Go to', keys: ['s'], run: () => navigate('/suites') },
    { id: 'go.compare', title: 'Compare runs', group: 'Go to', keys: ['c'], run: () => navigate('/compare') },
    { id: 'go.probe', title: 'Probe a text', group: 'Go to', keys: ['p'], run: () => navigate('/probe') },
    { id: 'view.theme', title: 'Switch theme', group: 'View', keys: ['t'], run: nextTheme },
    { id: 'view.theme.light', title: 'Theme: light', group: 'View', run: () => setTheme('light') },
    { id: 'view.theme.dark', title: 'Theme: dark', group: 'View', run: () => setTheme('dark') },
    { id: 'view.theme.system', title: 'Theme: as the system', group: 'View', run: () => setTheme('system') },
    { id: 'view.palette', title: 'All commands', group: 'View', keys: ['Mod+K'], run: () => setOpen('palette') },
    { id: 'view.help', title: 'Keyboard shortcuts', group: 'View', keys: ['?'], run: () => setOpen('help') },
  ]);

  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]')) return;
    const command = commandFor(event);
    if (!command) return;
    event.preventDefault();
    command.run();
  };
  const onRejection = (event: PromiseRejectionEvent) => setStray(() => event.reason);
  const onError = (event: ErrorEvent) => setStray(() => event.error ?? event.message);
  onMount(() => {
    document.addEventListener('keydown', onKey);
    window.addEventListener('unhandledrejection', onRejection);
    window.addEventListener('error', onError);
  });
  onCleanup(() => {
    document.removeEventListener('keydown', onKey);
    window.removeEventListener('unhandledrejection', onRejection);
    window.removeEventListener('error', onError);
  });

  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <TopBar />
      <ErrorBoundary fallback={(error, reset) => <main class="page page-narrow">{<ErrorNote error={error} retry={reset} />}</main>}>
        <Suspense fallback={<main class="page page-narrow text-2">Loading this page …</main>}>{props.children}</Suspense>
      </ErrorBoundary>
      <div class="visually-hidden" role="status" aria-live="polite">
        {announcement()}
      </div>
      <div class="toasts">
        <Show when={shownToast()}>{(text) => <p class="toast">{text()}</p>}</Show>
        <Show when={stray()}>{(error) => <ErrorNote error={error()} dismiss={() => setStray(undefined)} />}</Show>
      </div>
      <DropZone />
      <Show when={open() === 'palette'}>
        <Palette onClose={() => setOpen(undefined)} />
      </Show>
      <Show when={open() === 'help'}>
        <Help onClose={() => setOpen(undefined)} />
      </Show>
    </>
  );
}
