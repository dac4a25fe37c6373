import { createResource, type JSX, Show } from 'solid-js';
import type { MachineState } from '../../lab/service.ts';
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
      <Fact
        name="Storage"
        note={storage.persisted ? 'Kept until you delete it.' : 'The browser may clear it when space runs low: export what matters.'}
      >
        {formatBytes(storage.usedBytes)} used of {formatBytes(storage.quotaBytes)}
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
