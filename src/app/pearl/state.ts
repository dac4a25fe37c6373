import { useSearchParams } from '@solidjs/router';
import { type Accessor, createContext, createMemo, useContext } from 'solid-js';
import type { Session } from '../run/session.ts';
import type { PearlView, UpdateView } from './pearl-store.ts';
import { formatPearlUrl, type PearlUrl, parsePearlUrl } from './url.ts';

/** What the parts of a PEARL run page share: the run, and the view that the address holds. */
export interface PearlState {
  readonly session: Session;
  readonly view: Accessor<PearlView>;
  readonly url: Accessor<PearlUrl>;
  /** Changes the address; moving between updates and tabs can be undone with the browser's Back. */
  go(change: Partial<PearlUrl>, replace?: boolean): void;
  /** The update that is shown: the one the address names, or the latest. */
  readonly update: Accessor<UpdateView | undefined>;
}

export const PearlContext = createContext<PearlState>();

/** @throws {Error} outside of a PEARL run page. */
export function usePearl(): PearlState {
  const state = useContext(PearlContext);
  if (!state) throw new Error('usePearl is called outside of PearlContext.');
  return state;
}

export function createPearlState(session: Session, view: Accessor<PearlView>): PearlState {
  const [params, setParams] = useSearchParams<Record<string, string>>();
  const url = createMemo(() => parsePearlUrl({ ...params }));
  const update = createMemo(() => {
    const wanted = url().update;
    if (wanted !== 'live') return view().updates.get(wanted);
    // The latest whose rollouts have arrived: an update that has only begun has nothing to show.
    return [...view().updates.values()].findLast(({ forests, released }) => forests.size > 0 || released);
  });
  return {
    session,
    view,
    url,
    update,
    go(change, replace = false) {
      setParams(formatPearlUrl({ ...url(), ...change }), { replace, scroll: false });
    },
  };
}
