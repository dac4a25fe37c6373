import { type CatalogueFilter, NO_FILTER, SIZES } from './catalogue-filter.ts';

/** What of the page of models stands in the address. Keys never do. */
export interface ModelsUrl {
  readonly filter: CatalogueFilter;
  /** The model being tried, and the runtime it is tried on. */
  readonly tried?: { readonly id: string; readonly runtime: string };
  /** Base URL in the form for servers. */
  readonly server: string;
}

type Params = Readonly<Partial<Record<string, string | readonly string[]>>>;
const MAX_CHARS = 2048;

export function parseModelsUrl(params: Params): ModelsUrl {
  const size = one(params.size);
  const id = one(params.try);
  return {
    filter: {
      query: one(params.q) ?? '',
      family: one(params.family) ?? '',
      size: SIZES.find((known) => known.id === size)?.id ?? 'any',
      runsHere: one(params.all) !== '1',
    },
    ...(id ? { tried: { id, runtime: one(params.on) ?? '' } } : {}),
    server: one(params.server) ?? '',
  };
}

export function formatModelsUrl({ filter, tried, server }: ModelsUrl): Record<string, string | undefined> {
  return {
    q: filter.query || undefined,
    family: filter.family || undefined,
    size: filter.size === NO_FILTER.size ? undefined : filter.size,
    all: filter.runsHere ? undefined : '1',
    try: tried?.id,
    on: tried?.runtime || undefined,
    server: server || undefined,
  };
}

function one(value: string | readonly string[] | undefined): string | undefined {
  const text = typeof value === 'string' ? value : value?.[0];
  return text?.slice(0, MAX_CHARS);
}
