import { createSignal, For, Show } from 'solid-js';
import type { ExportFormat } from '../../lab/service.ts';
import { notify } from '../announce.ts';
import { useCommands } from '../commands.ts';
import { saveFile } from '../files.ts';
import { useLab } from '../lab.ts';
import { isOpenStatus } from '../run-status.tsx';
import { ErrorNote } from '../ui/error-note.tsx';
import type { Session } from './session.ts';

export interface ExportOffer {
  readonly format: ExportFormat;
  readonly title: string;
}

/** The files a run can be saved as once it has ended. */
export function Exports(props: { readonly session: Session; readonly offers: readonly ExportOffer[] }) {
  const lab = useLab();
  const session = props.session;
  const [error, setError] = createSignal<unknown>();
  const ready = () => session.summary() !== undefined && !isOpenStatus(session.status());
  const save = async (format: ExportFormat) => {
    setError(undefined);
    try {
      const file = await lab.exportRun(session.summary()?.id ?? '', format);
      saveFile(file.name, file.mime, file.bytes);
      notify(`"${file.name}" was saved.`);
    } catch (cause) {
      setError(cause);
    }
  };
  useCommands(
    props.offers.map(({ format, title }) => ({
      id: `export.${format}`,
      title: `Export: ${title}`,
      group: 'File' as const,
      when: ready,
      run: () => void save(format),
    })),
  );
  return (
    <div class="stack">
      <div class="row exports">
        <span class="small text-2">Export</span>
        <For each={props.offers}>
          {({ format, title }) => (
            <button
              type="button"
              class="button small"
              aria-label={`Export ${title}`}
              disabled={!ready()}
              title={ready() ? undefined : 'Ready when the run has ended'}
              onClick={() => void save(format)}
            >
              {title}
            </button>
          )}
        </For>
      </div>
      <Show when={error()}>
        <ErrorNote error={error()} dismiss={() => setError(undefined)} />
      </Show>
    </div>
  );
}
