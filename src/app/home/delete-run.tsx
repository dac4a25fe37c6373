import type { RunSummary } from '../../lab/service.ts';
import { notify } from '../announce.ts';
import { formatBytes } from '../format.ts';
import { useLab } from '../lab.ts';
import { Confirm } from '../ui/confirm.tsx';

export function DeleteRun(props: { readonly run: RunSummary; readonly onClose: () => void; readonly onDeleted: () => void }) {
  const lab = useLab();
  const remove = async () => {
    const { freedBytes } = await lab.deleteRun(props.run.id);
    notify(`"${props.run.name}" was deleted; ${formatBytes(freedBytes)} are free again.`);
    props.onDeleted();
  };
  return (
    <Confirm title="Delete this run?" action="Delete the run" run={remove} onClose={props.onClose}>
      <p>
        <strong>{props.run.name}</strong>, seed {props.run.seed}: all its rollouts, evidence cards, contexts and scores go. This frees about{' '}
        {formatBytes(props.run.bytes)} and cannot be undone.
      </p>
      <p class="text-2">Export its bundle from the run's page first if you may want it again.</p>
    </Confirm>
  );
}
