import { createResource, createSignal, Show } from 'solid-js';
import type { SuiteSummary } from '../../lab/service.ts';
import { notify } from '../announce.ts';
import { saveFile } from '../files.ts';
import { formatBytes } from '../format.ts';
import { useLab } from '../lab.ts';
import { Page } from '../shell/page.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import { Panel } from '../ui/panel.tsx';
import { ImportSuite } from './import-suite.tsx';
import { SuiteList } from './suite-list.tsx';
import './suites.css';

/** The suites that can be chosen for a run, and how a new one is made from a file. */
export function Suites() {
  const lab = useLab();
  const [suites, { refetch }] = createResource(() => lab.listSuites());
  const [deleting, setDeleting] = createSignal<SuiteSummary>();
  const [error, setError] = createSignal<unknown>();
  const save = async ({ id }: SuiteSummary) => {
    setError(undefined);
    try {
      const file = await lab.exportSuite(id);
      saveFile(file.name, file.mime, file.bytes);
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <Page title="Suites">
      <div class="page-narrow suites">
        <div>
          <h1>Suites</h1>
          <p class="text-2">
            Tasks to learn from and to be tested on. The household suite ships with Nacre; questions come from your files.
          </p>
        </div>
        <Show when={error()}>{(cause) => <ErrorNote error={cause()} dismiss={() => setError(undefined)} />}</Show>
        <Panel title="Suites in this browser" loading="Reading the suites kept in this browser …">
          <SuiteList suites={suites.latest ?? suites() ?? []} onDelete={setDeleting} onSave={(suite) => void save(suite)} />
        </Panel>
        <ImportSuite onImported={() => void refetch()} />
      </div>
      <Show when={deleting()} keyed>
        {(suite) => (
          <Confirm
            title="Delete this suite?"
            action="Delete the suite"
            onClose={() => setDeleting(undefined)}
            run={async () => {
              const { freedBytes } = await lab.deleteSuite(suite.id);
              notify(`"${suite.title}" was deleted; ${formatBytes(freedBytes)} are free again.`);
              void refetch();
            }}
          >
            <p class="wrap">
              <strong>{suite.title}</strong> and its {Object.values(suite.counts).reduce((sum, count) => sum + count, 0)} tasks go from this
              browser. This frees {formatBytes(suite.bytes)} and cannot be undone.
            </p>
            <p class="text-2">
              Runs made with it keep their own tasks: they can still be shown and resumed. Save its file first if you may want it again.
            </p>
          </Confirm>
        )}
      </Show>
    </Page>
  );
}
