import { Show } from 'solid-js';
import type { ListedModel } from '../../lab/service.ts';
import { notify } from '../announce.ts';
import { formatBytes } from '../format.ts';
import { useLab } from '../lab.ts';
import { Confirm } from '../ui/confirm.tsx';

export function DeleteModel(props: { readonly model: ListedModel; readonly onClose: () => void; readonly onDeleted: () => void }) {
  const lab = useLab();
  const remove = async () => {
    const { freedBytes } = await lab.deleteModel(props.model.id);
    notify(`${props.model.title} was deleted; ${formatBytes(freedBytes)} are free again.`);
    props.onDeleted();
  };
  return (
    <Confirm title="Delete this model?" action="Delete the model" run={remove} onClose={props.onClose}>
      <p class="wrap">
        <strong>{props.model.title}</strong>: its files go from this browser, and from memory if it is loaded. This frees{' '}
        {formatBytes(props.model.bytes)}. Runs made with it stay.
      </p>
      <Show
        when={props.model.where === 'local'}
        fallback={<p class="text-2">It can be downloaded again as long as its server offers it.</p>}
      >
        <p class="text-2">The file you opened it from stays where it is on your device.</p>
      </Show>
    </Confirm>
  );
}
