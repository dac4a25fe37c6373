import { createResource, createSignal, Show } from 'solid-js';
import type { RunSummary } from '../../lab/service.ts';
import { useLab } from '../lab.ts';
import { Page } from '../shell/page.tsx';
import { CommandButton } from '../ui/command-button.tsx';
import { Panel } from '../ui/panel.tsx';
import { DeleteRun } from './delete-run.tsx';
import { Machine } from './machine.tsx';
import { QuickStart } from './quick-start.tsx';
import { RunsTable } from './runs-table.tsx';
import './home.css';

export function Home() {
  const lab = useLab();
  const [runs, { refetch }] = createResource(() => lab.listRuns());
  const [deleting, setDeleting] = createSignal<RunSummary>();
  return (
    <Page title="Nacre" class="home">
      <div class="page-narrow home-grid">
        <section class="hero" aria-labelledby="hero-title">
          <h1 id="hero-title">Teach a language model from outcomes alone, in this tab</h1>
          <p class="lede">
            Nacre lets a small model try household tasks many times, compares the tries that worked with those that did not, and writes down
            what made the difference as text the model reads next time. A change stays only if tasks it never learnt from go better.
          </p>
          <QuickStart />
          <Loop />
        </section>
        <Panel title="This machine" class="home-machine" loading="Asking the browser what this machine offers …">
          <Machine />
        </Panel>
        <Panel
          title="Runs"
          class="home-runs"
          loading="Reading the runs kept in this browser …"
          actions={
            <>
              <CommandButton id="go.compare" class="small">
                Compare
              </CommandButton>
              <CommandButton id="file.import" class="small">
                Import a file
              </CommandButton>
            </>
          }
        >
          <RunsTable runs={runs() ?? []} onDelete={setDeleting} />
        </Panel>
      </div>
      <Show when={deleting()} keyed>
        {(run) => <DeleteRun run={run} onClose={() => setDeleting(undefined)} onDeleted={() => void refetch()} />}
      </Show>
    </Page>
  );
}

/** The loop in five words, so that the names on a run's page are met before. */
function Loop() {
  return (
    <ol class="loop" aria-label="What one step does">
      <li>
        <strong>Try</strong> each task K times
      </li>
      <li>
        <strong>Contrast</strong> successes ● with failures ✕
      </li>
      <li>
        <strong>Quote</strong> the evidence
      </li>
      <li>
        <strong>Edit</strong> the context a little
      </li>
      <li>
        <strong>Gate</strong> on held-out tasks
      </li>
    </ol>
  );
}
