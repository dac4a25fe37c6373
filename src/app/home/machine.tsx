import { createResource, createSignal, type JSX, Show } from 'solid-js';
import type { MachineState } from '../../lab/service.ts';
import { notify } from '../announce.ts';
import { formatBytes, plural } from '../format.ts';
import { useLab } from '../lab.ts';
import { longestTaskMs } from '../long-tasks.ts';

/** What this machine offers and what the lab makes of it. */
export function Machine() {
  const lab = useLab();
  const [machine] = createResource(() => lab.machine());
  return <Show when={machine()}>{(state) => <Facts state={state()} />}</Show>;
}

function Facts(props: { readonly state: MachineState }) {
  const { backend, webgpu, storage } = props.state;
  const [kept, setKept] = createSignal(storage.persisted);
  const keep = async () => {
    setKept(await navigator.storage.persist());
    notify(kept() ? 'The browser keeps what is stored here until you delete it.' : 'The browser declined for now. Export what matters.');
  };
  return (
    <dl class="facts">
      <Fact name="Runs on" note={backend.reason}>
        {backend.kind === 'cpu' ? 'CPU' : 'WebGPU'} · {plural(backend.workers, 'worker')}
      </Fact>
      <Fact name="Adapter" note={webgpu.available ? (webgpu.software ? 'A software adapter.' : undefined) : webgpu.reason}>
        {webgpu.available ? webgpu.adapter || 'unnamed' : 'none'}
      </Fact>
      <Fact name="Processor">
        {plural(props.state.cores, 'core')}
        {props.state.memoryGiB === undefined ? '' : ` · ${props.state.memoryGiB} GiB memory or more`}
      </Fact>
      <Fact
        name="Threads"
        note={
          props.state.isolated ? 'Shared memory is on.' : 'This site is served without isolation headers: everything runs, a little slower.'
        }
      >
        {props.state.isolated ? 'isolated' : 'not isolated'}
      </Fact>
      <Fact name="Storage" note={kept() ? 'Kept until you delete it.' : 'The browser may clear it when space runs low.'}>
        {formatBytes(storage.usedBytes)} used of {formatBytes(storage.quotaBytes)}{' '}
        <Show when={!kept()}>
          <button type="button" class="button small" onClick={() => void keep()}>
            Ask to keep it
          </button>
        </Show>
      </Fact>
      <Show when={longestTaskMs() > 0}>
        <Fact name="Page">longest block {Math.round(longestTaskMs())} ms</Fact>
      </Show>
    </dl>
  );
}

function Fact(props: { readonly name: string; readonly note?: string | undefined; readonly children: JSX.Element }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>
        <span class="wrap">{props.children}</span>
        <Show when={props.note}>
          <span class="note">{props.note}</span>
        </Show>
      </dd>
    </div>
  );
}
