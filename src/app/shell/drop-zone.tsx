import { useNavigate } from '@solidjs/router';
import { createSignal, onCleanup, onMount, Show } from 'solid-js';
import { NacreError } from '../../core/errors.ts';
import { notify } from '../announce.ts';
import { useCommands } from '../commands.ts';
import { type DroppedKind, handOver, isSuiteJson, kindOfFile } from '../dropped.ts';
import { useLab } from '../lab.ts';
import { ErrorNote } from '../ui/error-note.tsx';

/** Largest file the page reads at once; a bundle of a long run stays far below. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Takes files dropped anywhere, pasted configurations, and the file command: a bundle is imported, a configuration opened, tables and models go to their views. */
export function DropZone() {
  const lab = useLab();
  const navigate = useNavigate();
  const [over, setOver] = createSignal(false);
  const [error, setError] = createSignal<unknown>();
  let input!: HTMLInputElement;

  useCommands([
    {
      id: 'file.import',
      title: 'Import a bundle, a configuration, questions or a model',
      group: 'File',
      keys: ['i'],
      run: () => input.click(),
    },
  ]);

  const openConfig = async (text: string) => {
    const { configToLink } = await import('../config-link.ts');
    navigate(`/new?c=${configToLink(readJson(text))}`);
  };
  const pass = (kind: DroppedKind, files: readonly File[]) => {
    handOver(kind, files);
    navigate(kind === 'model' ? '/models' : '/suites');
  };
  const take = async (file: File) => {
    setError(undefined);
    try {
      const kind = kindOfFile(file.name);
      // Models are larger than anything that is read at once: they are copied piece by piece.
      if (kind === 'model') return pass(kind, [file]);
      if (file.size > MAX_FILE_BYTES) throw tooLarge(file);
      if (kind === 'suite') return pass(kind, [file]);
      if (/\.json$/i.test(file.name)) {
        const text = await file.text();
        return isSuiteJson(readJson(text)) ? pass('suite', [file]) : await openConfig(text);
      }
      const id = await lab.importRun(new Uint8Array(await file.arrayBuffer()));
      notify(`"${file.name}" was imported.`);
      navigate(`/run/${id}`);
    } catch (cause) {
      setError(cause);
    }
  };
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  const onDragOver = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setOver(true);
  };
  const onDragLeave = (event: DragEvent) => {
    if (event.relatedTarget === null) setOver(false);
  };
  const onDrop = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer?.files[0];
    if (file) void take(file);
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.target instanceof Element && event.target.closest('input, textarea')) return;
    const text = event.clipboardData?.getData('text') ?? '';
    if (!text.includes('nacre.experiment/')) return;
    event.preventDefault();
    openConfig(text).catch(setError);
  };
  const events = [
    ['dragover', onDragOver],
    ['dragleave', onDragLeave],
    ['drop', onDrop],
    ['paste', onPaste],
  ] as const;
  onMount(() => {
    for (const [name, listener] of events) document.addEventListener(name, listener as EventListener);
  });
  onCleanup(() => {
    for (const [name, listener] of events) document.removeEventListener(name, listener as EventListener);
  });

  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".zip,.json,.jsonl,.ndjson,.csv,.tsv,.gguf"
        onChange={() => {
          const file = input.files?.[0];
          input.value = '';
          if (file) void take(file);
        }}
      />
      <Show when={over()}>
        <div class="drop-cover">
          Drop a bundle (.zip), a configuration (.json), questions (.csv, .tsv, .jsonl, .json) or a model (.gguf)
        </div>
      </Show>
      <Show when={error()}>
        <div class="toasts">
          <ErrorNote error={error()} dismiss={() => setError(undefined)} />
        </div>
      </Show>
    </>
  );
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (cause) {
    throw new NacreError(
      'config-not-json',
      `The configuration is not JSON (${cause instanceof Error ? cause.message : String(cause)}).`,
      'Check the place the message names; public/examples/textual-quick.json is a complete example.',
    );
  }
}

function tooLarge(file: File): NacreError {
  return new NacreError('file-too-large', `"${file.name}" is larger than 256 MiB.`, 'Drop a bundle exported by Nacre.');
}
