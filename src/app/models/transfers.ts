import { createSignal } from 'solid-js';
import { toPlainError } from '../../core/errors.ts';
import type { LabService } from '../../lab/service.ts';
import type { TransferProgress } from '../../models/download.ts';
import { notify } from '../announce.ts';

/** A download of this session, in progress or ended without success. */
export interface Transfer {
  readonly id: string;
  readonly state: 'running' | 'cancelled' | 'failed';
  readonly progress: TransferProgress;
  /** Seconds to go at the speed since the start; undefined until it is known. */
  readonly secondsLeft?: number | undefined;
  readonly error?: unknown;
}

const NOTHING: TransferProgress = { phase: 'download', loadedBytes: 0, totalBytes: 0 };
/** Shorter spans say little about the speed of a network. */
const MEASURED_MS = 1500;

const [transfers, setTransfers] = createSignal<readonly Transfer[]>([]);
const [finished, setFinished] = createSignal(0);

/** Downloads outlive the page that began them, so they are kept apart from it. Reactive. */
export const shownTransfers = transfers;
/** Grows by one whenever a download has ended, well or not: what is stored has changed then. */
export const endedTransfers = finished;

/** Begins a download or goes on with a broken one; what it has brought is kept whatever happens. */
export async function startTransfer(lab: LabService, id: string): Promise<void> {
  if (transfers().some((one) => one.id === id && one.state === 'running')) return;
  const put = (next: Omit<Transfer, 'id'>) =>
    setTransfers((list) => [...list.filter((one) => one.id !== id), { id, ...next }].sort((a, b) => a.id.localeCompare(b.id)));
  put({ state: 'running', progress: NOTHING });
  const startedAt = performance.now();
  let first: number | undefined;
  let last = NOTHING;
  try {
    await lab.downloadModel(id, (progress) => {
      first ??= progress.loadedBytes;
      last = progress;
      put({ state: 'running', progress, secondsLeft: secondsLeft(progress, first, performance.now() - startedAt) });
    });
    dismissTransfer(id);
    notify(`${shortName(id)} is stored in this browser.`);
  } catch (error) {
    const cancelled = toPlainError(error).code === 'cancelled';
    put({ state: cancelled ? 'cancelled' : 'failed', progress: last, ...(cancelled ? {} : { error }) });
  } finally {
    setFinished((count) => count + 1);
  }
}

/** Forgets a download that has ended; what it brought stays stored. */
export function dismissTransfer(id: string): void {
  setTransfers((list) => list.filter((one) => one.id !== id));
}

/** Time to go by the bytes that came in this session; what lay there before tells nothing about the network. */
export function secondsLeft({ loadedBytes, totalBytes }: TransferProgress, firstBytes: number, elapsedMs: number): number | undefined {
  const arrived = loadedBytes - firstBytes;
  if (elapsedMs < MEASURED_MS || arrived <= 0 || totalBytes <= loadedBytes) return undefined;
  return ((totalBytes - loadedBytes) / arrived) * (elapsedMs / 1000);
}

/** A model's name as people say it: of an address, the file. */
export function shortName(id: string): string {
  return /^https?:\/\//.test(id)
    ? (id
        .replace(/[?#].*$/, '')
        .split('/')
        .at(-1) ?? id)
    : id;
}
