import type { RunStatus } from '../../lab/service.ts';
import { notify } from '../announce.ts';

let before: RunStatus | undefined;

/** Asks the browser for leave to say when a run is done; only ever on the person's own request. */
export async function askToNotify(): Promise<void> {
  if (!('Notification' in window)) {
    notify('This browser shows no notifications.');
    return;
  }
  const answer = await Notification.requestPermission();
  notify(answer === 'granted' ? 'You will be notified when the run is done.' : 'Notifications stay off: the browser does not allow them.');
}

/** Shows a notification when a run that was running ends and the page is out of sight. */
export function notifyWhenDone(status: RunStatus, name: string): void {
  const ended = before === 'running' && (status === 'finished' || status === 'failed');
  before = status;
  if (!ended || !document.hidden || !('Notification' in window) || Notification.permission !== 'granted') return;
  new Notification(status === 'finished' ? 'The run has finished' : 'The run has failed', { body: name, tag: 'nacre-run' });
}
