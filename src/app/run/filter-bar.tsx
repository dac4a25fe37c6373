import { Segmented } from '../ui/segmented.tsx';
import { FILTERS, type Filter } from './derive.ts';
import { useRun } from './state.ts';

const TITLES: Readonly<Record<Filter, string>> = { all: 'All', success: '● Success', failure: '✕ Failure', different: 'Different' };

/** The filter every list of rollouts has; it stays in the address. */
export function FilterBar(props: { readonly shown: number; readonly total: number; readonly before: string }) {
  const { url, go } = useRun();
  return (
    <div class="row filter-bar">
      <Segmented
        label="Show rollouts"
        options={FILTERS.map((id) => ({ id, title: TITLES[id], ...(id === 'different' ? { hint: props.before } : {}) }))}
        selected={url().filter}
        onSelect={(filter) => go({ filter }, true)}
      />
      <input
        class="input search"
        type="search"
        aria-label="Search tasks"
        placeholder="Search tasks"
        value={url().query}
        onInput={(event) => go({ query: event.currentTarget.value }, true)}
      />
      <span class="small text-2 num">
        {props.shown} of {props.total}
      </span>
    </div>
  );
}
