import { createSignal, Match, Show, Switch } from 'solid-js';
import type { ImportPreview } from '../../lab/service.ts';
import { type Mapping, suggestMapping } from '../../suites/import/mapping.ts';
import { suiteId } from '../../suites/import/suite-file.ts';
import { notify } from '../announce.ts';
import { useCommands } from '../commands.ts';
import { takeDropped } from '../dropped.ts';
import { plural } from '../format.ts';
import { useLab } from '../lab.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field } from '../ui/field.tsx';
import { Panel } from '../ui/panel.tsx';
import { mappingErrors } from './mapping-draft.ts';
import { MappingForm } from './mapping-form.tsx';
import { Preview } from './preview.tsx';

interface Source {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Time without a key press after which the preview is made again. */
const PAUSE_MS = 250;
/** The lab reads files up to 64 MiB; larger ones need not be sent to it. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A file of questions on its way to a suite: what it holds, what it would become, what is wrong with it. */
export function ImportSuite(props: { readonly onImported: () => void }) {
  const lab = useLab();
  const [source, setSource] = createSignal<Source>();
  const [preview, setPreview] = createSignal<ImportPreview>();
  const [mapping, setMapping] = createSignal<Mapping>();
  const [title, setTitle] = createSignal('');
  const [id, setId] = createSignal('');
  const [note, setNote] = createSignal('');
  const [pasted, setPasted] = createSignal('');
  /** Whether the preview is of an earlier mapping. */
  const [stale, setStale] = createSignal(false);
  const [exists, setExists] = createSignal(false);
  const [busy, setBusy] = createSignal<string>();
  const [error, setError] = createSignal<unknown>();
  let input!: HTMLInputElement;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;

  useCommands([{ id: 'suites.file', title: 'Import questions from a file', group: 'File', run: () => input.click() }]);

  /** Asks the lab what the file would become. Of answers that overtake each other the last question's counts. */
  const look = async (file: Source, wanted?: Mapping): Promise<ImportPreview | undefined> => {
    const turn = ++asked;
    setError(undefined);
    try {
      const found = await lab.previewImport(file.bytes, file.name, wanted);
      if (turn !== asked) return found;
      setPreview(found);
      setStale(false);
      return found;
    } catch (cause) {
      if (turn === asked) setError(cause);
      return undefined;
    }
  };
  const open = async (file: Source) => {
    setSource(file);
    setPreview(undefined);
    setMapping(undefined);
    setStale(false);
    setExists(false);
    setBusy(`Reading ${file.name} …`);
    const found = await look(file);
    setBusy(undefined);
    if (!found) return;
    setMapping(found.mapping);
    setTitle(found.suite?.title ?? file.name.replace(/\.[a-z0-9]{1,6}$/i, ''));
    setId(found.suite?.id ?? suiteId(file.name));
    setNote(found.suite?.origin.note ?? '');
  };
  const take = async (file: File | undefined) => {
    if (!file) return;
    const bytes =
      file.size > MAX_BYTES ? new Uint8Array(await file.slice(0, MAX_BYTES + 1).arrayBuffer()) : new Uint8Array(await file.arrayBuffer());
    await open({ name: file.name, bytes });
  };
  const change = (next: Mapping) => {
    setMapping(next);
    setStale(true);
    clearTimeout(timer);
    const file = source();
    if (file && mappingErrors(next).size === 0) timer = setTimeout(() => void look(file, next), PAUSE_MS);
  };
  const mapColumns = () => {
    const found = preview();
    if (found) change(suggestMapping({ file: '', format: 'csv', columns: found.columns, rows: [] }));
  };
  const close = () => {
    asked++;
    setSource(undefined);
    setPreview(undefined);
    setError(undefined);
    setPasted('');
  };
  const store = async (replace: boolean) => {
    const suite = preview()?.suite;
    if (!suite) return;
    setBusy('Storing the suite …');
    setError(undefined);
    setExists(false);
    try {
      const words = note().trim();
      const { note: _, ...origin } = suite.origin;
      const named = { ...suite, id: id().trim(), title: title().trim(), origin: { ...origin, ...(words === '' ? {} : { note: words }) } };
      const stored = await lab.importSuite(named, replace);
      notify(`"${stored.title}" was imported.`);
      close();
      props.onImported();
    } catch (cause) {
      setExists(typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'suite-exists');
      setError(cause);
    } finally {
      setBusy(undefined);
    }
  };
  takeDropped('suite', ([file]) => void take(file));
  const faults = () => mappingErrors(mapping());
  const ready = () => !stale() && preview()?.suite !== undefined && (mapping() === undefined || faults().size === 0);

  return (
    <Panel
      title={source() ? `Import ${source()?.name}` : 'Import a suite'}
      class="import"
      actions={
        <Show when={source()}>
          <button type="button" class="button quiet small" onClick={close}>
            Another file
          </button>
        </Show>
      }
    >
      <input
        ref={input}
        type="file"
        hidden
        accept=".csv,.tsv,.json,.jsonl,.ndjson,.txt"
        data-pick="suite"
        onChange={() => {
          const file = input.files?.[0];
          input.value = '';
          void take(file);
        }}
      />
      <div class="stack">
        <Switch>
          <Match when={!source()}>
            <div class="empty import-start">
              <p>
                Drop a file with questions anywhere on this page: JSONL, CSV, TSV, JSON, or a suite saved by Nacre. It stays on this device.
              </p>
              <button type="button" class="button primary" onClick={() => input.click()}>
                Choose a file …
              </button>
            </div>
            <details>
              <summary>Or paste the records</summary>
              <form
                class="stack"
                onSubmit={(event) => {
                  event.preventDefault();
                  void open({ name: 'pasted', bytes: new TextEncoder().encode(pasted()) });
                }}
              >
                <textarea
                  class="input mono"
                  rows="6"
                  aria-label="Records to import"
                  placeholder={'question,answer\n"What is 2 + 2?",4'}
                  spellcheck={false}
                  value={pasted()}
                  onInput={(event) => setPasted(event.currentTarget.value)}
                />
                <div>
                  <button type="submit" class="button" disabled={pasted().trim() === ''}>
                    Read what was pasted
                  </button>
                </div>
              </form>
            </details>
          </Match>
          <Match when={preview()}>
            {(found) => (
              <>
                <p class="text-2">
                  {found().formTitle}: {plural(found().rows, 'record')}
                  {found().columns.length > 0 ? `, ${plural(found().columns.length, 'column')}` : ''}.{' '}
                  <Show when={found().form !== 'table' && found().form !== 'suite' && mapping() === undefined}>
                    Nothing needs to be mapped.{' '}
                    <button type="button" class="link" onClick={mapColumns}>
                      Map its columns yourself
                    </button>
                  </Show>
                </p>
                <div class="import-pair" classList={{ alone: mapping() === undefined }}>
                  <Show when={mapping()}>
                    {(current) => (
                      <MappingForm
                        mapping={current()}
                        columns={found().columns}
                        tasks={found().tasks}
                        stale={stale()}
                        errors={faults()}
                        onChange={change}
                      />
                    )}
                  </Show>
                  <Preview preview={found()} />
                </div>
                <fieldset class="fields import-name">
                  <legend>Store it</legend>
                  <Field
                    label="Title"
                    control={(attributes) => (
                      <input class="input" value={title()} onInput={(event) => setTitle(event.currentTarget.value)} {...attributes} />
                    )}
                  />
                  <Field
                    label="Id"
                    help="Lower-case letters, digits and hyphens; configurations name the suite by it."
                    control={(attributes) => (
                      <input class="input mono" value={id()} onInput={(event) => setId(event.currentTarget.value)} {...attributes} />
                    )}
                  />
                  <Field
                    label="Note"
                    help="Where it is from, and what its licence asks to be said."
                    control={(attributes) => (
                      <input class="input" value={note()} onInput={(event) => setNote(event.currentTarget.value)} {...attributes} />
                    )}
                  />
                </fieldset>
                <div class="row">
                  <button
                    type="button"
                    class="button primary"
                    disabled={!ready() || busy() !== undefined || title().trim() === ''}
                    onClick={() => void store(false)}
                  >
                    Import {plural(found().suite?.tasks.length ?? 0, 'task')}
                  </button>
                  <Show when={exists()}>
                    <button type="button" class="button danger" disabled={busy() !== undefined} onClick={() => void store(true)}>
                      Replace the old one
                    </button>
                  </Show>
                  <Show when={!ready() && !stale()}>
                    <span class="small text-2">Correct what is marked first.</span>
                  </Show>
                </div>
              </>
            )}
          </Match>
        </Switch>
        <Show when={busy()}>
          {(text) => (
            <p role="status" class="text-2">
              {text()}
            </p>
          )}
        </Show>
        <Show when={error()}>{(cause) => <ErrorNote error={cause()} dismiss={() => setError(undefined)} />}</Show>
      </div>
    </Panel>
  );
}
