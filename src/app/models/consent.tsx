import { createResource, type JSX, Show } from 'solid-js';
import { formatBytes } from '../format.ts';
import { useLab } from '../lab.ts';
import { Dialog } from '../ui/dialog.tsx';

/** Asked before a download: what comes, how much, from where, where it is kept, and under which licence. */
export interface DownloadOffer {
  readonly id: string;
  readonly title: string;
  /** 0 where it is not known beforehand. */
  readonly bytes: number;
  /** GPU memory in use, where known. */
  readonly memoryBytes?: number;
  readonly host: string;
  readonly licence?: string | undefined;
  /** The model's own page. */
  readonly page?: string;
  readonly warning?: string | undefined;
}

export function Consent(props: { readonly offer: DownloadOffer; readonly onClose: () => void; readonly onAccept: () => void }) {
  const lab = useLab();
  const [machine] = createResource(() => lab.machine());
  const free = () => {
    const storage = machine.latest?.storage;
    return storage && Math.max(0, storage.quotaBytes - storage.usedBytes);
  };
  const tooLarge = () => props.offer.bytes > (free() ?? Number.POSITIVE_INFINITY);
  const accept = () => {
    props.onAccept();
    props.onClose();
  };
  return (
    <Dialog title="Download this model?" onClose={props.onClose}>
      <div class="dialog-body stack">
        <p class="wrap">
          <strong>{props.offer.title}</strong>
        </p>
        <dl class="consent">
          <Fact name="Size">{props.offer.bytes > 0 ? `about ${formatBytes(props.offer.bytes)}` : 'told by the server when it begins'}</Fact>
          <Show when={props.offer.memoryBytes}>{(bytes) => <Fact name="Memory">about {formatBytes(bytes())} of GPU memory</Fact>}</Show>
          <Fact name="From">{props.offer.host}</Fact>
          <Fact name="Kept in">
            this browser's storage, for this site only, until you delete it here
            {machine.latest?.storage.persisted === false ? '; the browser may clear it when space runs low' : ''}
          </Fact>
          <Fact name="Free space">{free() === undefined ? 'asking the browser …' : `${formatBytes(free() ?? 0)} for this site`}</Fact>
          <Fact name="Licence">
            {props.offer.licence ?? 'not known here'}
            <Show when={props.offer.page}>
              {(page) => (
                <>
                  {' · '}
                  <a href={page()} target="_blank" rel="noreferrer">
                    the model's page
                  </a>
                </>
              )}
            </Show>
          </Fact>
        </dl>
        <Show when={props.offer.warning}>
          <p class="mixed">
            <span aria-hidden="true">◐ </span>
            {props.offer.warning}
          </p>
        </Show>
        <Show when={tooLarge()}>
          <p class="failure">
            <span aria-hidden="true">✕ </span>
            It does not fit into what the browser lets this site store. Delete another model first, or choose a smaller one.
          </p>
        </Show>
        <p class="text-2 small">Nothing about you is sent but the request for its files. A broken download goes on where it stopped.</p>
      </div>
      <footer class="dialog-foot">
        <button type="button" class="button" autofocus onClick={() => props.onClose()}>
          Cancel
        </button>
        <button type="button" class="button primary" disabled={tooLarge()} onClick={accept}>
          Download{props.offer.bytes > 0 ? ` ${formatBytes(props.offer.bytes)}` : ''}
        </button>
      </footer>
    </Dialog>
  );
}

function Fact(props: { readonly name: string; readonly children: JSX.Element }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd class="wrap">{props.children}</dd>
    </div>
  );
}
