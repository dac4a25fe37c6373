import { useParams } from '@solidjs/router';
import { createEffect, lazy, Match, Show, Switch } from 'solid-js';
import { useLab } from '../lab.ts';
import { Page } from '../shell/page.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { notifyWhenDone } from './notification.ts';
import { openSession } from './session.ts';
import './run.css';

/** The two kinds of run are pieces of their own; a person who looks at one does not load the other. */
const TextualRun = lazy(async () => ({ default: (await import('./textual-run.tsx')).TextualRun }));
const PearlRun = lazy(async () => ({ default: (await import('../pearl/pearl-run.tsx')).PearlRun }));

export function Run() {
  const params = useParams<{ id: string }>();
  // A new run page for a new run: nothing of one run may leak into the next.
  return (
    <Show when={params.id} keyed>
      {(id) => <RunPage id={id} />}
    </Show>
  );
}

function RunPage(props: { readonly id: string }) {
  const session = openSession(useLab(), props.id);
  createEffect(() => notifyWhenDone(session.status(), session.summary()?.name ?? 'Run'));
  return (
    <Switch
      fallback={
        <Page title="Run" class="run">
          <h1 class="run-opening">{session.error() ? 'This run could not be opened' : 'Opening the run …'}</h1>
          <Show when={session.error()}>{(error) => <ErrorNote error={error()} retry={() => session.reopen()} />}</Show>
        </Page>
      }
    >
      <Match when={session.summary()?.kind === 'pearl'}>
        <PearlRun session={session} />
      </Match>
      <Match when={session.summary()}>
        <TextualRun session={session} />
      </Match>
    </Switch>
  );
}
