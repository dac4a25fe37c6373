import { createEffect, createSignal } from 'solid-js';

/** Files dropped on the page on their way to the view that takes them. */
export type DroppedKind = 'model' | 'suite';

interface Dropped {
  readonly kind: DroppedKind;
  readonly files: readonly File[];
}

const [waiting, setWaiting] = createSignal<Dropped>();

/** Hands files to whichever view takes their kind, now or as soon as it opens. */
export function handOver(kind: DroppedKind, files: readonly File[]): void {
  setWaiting({ kind, files });
}

/** Takes files of a kind for as long as the calling component lives. */
export function takeDropped(kind: DroppedKind, take: (files: readonly File[]) => void): void {
  createEffect(() => {
    const dropped = waiting();
    if (dropped?.kind !== kind) return;
    setWaiting(undefined);
    take(dropped.files);
  });
}

/** What a file is, by its name; undefined where only its content tells. */
export function kindOfFile(name: string): DroppedKind | 'bundle' | undefined {
  if (/\.gguf$/i.test(name)) return 'model';
  if (/\.(csv|tsv|jsonl|ndjson|txt)$/i.test(name)) return 'suite';
  return /\.zip$/i.test(name) ? 'bundle' : undefined;
}

/** What parsed JSON is: a list or a suite file are tasks, anything else is taken for a configuration. */
export function isSuiteJson(value: unknown): boolean {
  if (Array.isArray(value)) return true;
  const schema = typeof value === 'object' && value !== null && 'schema' in value ? value.schema : undefined;
  return typeof schema === 'string' && schema.startsWith('nacre.suite/');
}
