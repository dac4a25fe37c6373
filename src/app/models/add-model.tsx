import { createSignal, Show } from 'solid-js';
import { notify } from '../announce.ts';
import { useCommands } from '../commands.ts';
import { takeDropped } from '../dropped.ts';
import { useLab } from '../lab.ts';
import { ErrorNote } from '../ui/error-note.tsx';
import { Field } from '../ui/field.tsx';
import { folderFiles, ggufFiles, ggufLink, type LocalModel } from './local-files.ts';

/** Models from this device or from an address: GGUF files, folders in MLC format. */
export function AddModel(props: { readonly onAdded: () => void; readonly onLink: (url: string) => void }) {
  const lab = useLab();
  const [busy, setBusy] = createSignal<string>();
  const [error, setError] = createSignal<unknown>();
  const [link, setLink] = createSignal('');
  let file!: HTMLInputElement;
  let folder!: HTMLInputElement;

  useCommands([
    { id: 'models.file', title: 'Add a GGUF file from this device', group: 'File', run: () => file.click() },
    { id: 'models.folder', title: 'Add a folder in MLC format', group: 'File', run: () => folder.click() },
  ]);

  const add = async (read: () => LocalModel) => {
    setError(undefined);
    try {
      const model = read();
      setBusy(model.name);
      const id = await lab.addLocalModel(model.name, model.files);
      notify(`${id} is kept in this browser now.`);
      props.onAdded();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(undefined);
    }
  };
  const picked = (input: HTMLInputElement, read: (files: readonly File[]) => LocalModel) => {
    const files = [...(input.files ?? [])];
    input.value = '';
    if (files.length > 0) void add(() => read(files));
  };
  const fetchLink = () => {
    setError(undefined);
    try {
      props.onLink(ggufLink(link()));
    } catch (cause) {
      setError(cause);
    }
  };
  takeDropped('model', (files) => void add(() => ggufFiles(files)));

  return (
    <div class="stack">
      <div class="row">
        <button type="button" class="button" disabled={busy() !== undefined} onClick={() => file.click()}>
          GGUF file …
        </button>
        <button type="button" class="button" disabled={busy() !== undefined} onClick={() => folder.click()}>
          MLC folder …
        </button>
      </div>
      <p class="small text-2">
        Files are copied into this browser's storage and never leave this device. A .gguf file may also be dropped anywhere.
      </p>
      <input ref={file} type="file" hidden multiple accept=".gguf" data-pick="gguf" onChange={() => picked(file, ggufFiles)} />
      <input
        ref={(element) => {
          folder = element;
          element.webkitdirectory = true;
        }}
        type="file"
        hidden
        multiple
        data-pick="folder"
        onChange={() => picked(folder, folderFiles)}
      />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          fetchLink();
        }}
      >
        <Field
          label="Link to a GGUF file"
          control={(attributes) => (
            <div class="row nowrap">
              <input
                class="input grow"
                inputmode="url"
                placeholder="https://…/model.gguf"
                value={link()}
                onInput={(event) => setLink(event.currentTarget.value)}
                {...attributes}
              />
              <button type="submit" class="button" disabled={link().trim() === ''}>
                Download …
              </button>
            </div>
          )}
        />
      </form>
      <Show when={busy()}>
        {(name) => (
          <p role="status" class="small text-2 wrap">
            Copying {name()} into this browser's storage …
          </p>
        )}
      </Show>
      <Show when={error()}>{(cause) => <ErrorNote error={cause()} dismiss={() => setError(undefined)} />}</Show>
    </div>
  );
}
