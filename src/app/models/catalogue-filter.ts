import type { CatalogueModel } from '../../lab/service.ts';

/** What of the catalogue is shown. Part of the address. */
export interface CatalogueFilter {
  readonly query: string;
  /** A family as `familyOf` names it; empty for all. */
  readonly family: string;
  readonly size: SizeClass | 'any';
  /** Only what this machine can run. */
  readonly runsHere: boolean;
}

export const SIZES = [
  { id: 'tiny', title: 'to 0.6 B', most: 0.6e9 },
  { id: 'small', title: 'to 2 B', most: 2e9 },
  { id: 'middle', title: 'to 4 B', most: 4e9 },
  { id: 'large', title: 'beyond 4 B', most: Number.POSITIVE_INFINITY },
] as const;
export type SizeClass = (typeof SIZES)[number]['id'];

export const NO_FILTER: CatalogueFilter = { query: '', family: '', size: 'any', runsHere: true };

/** The class of a model by its number of weights; undefined where its name does not tell. */
export function sizeOf({ parameters }: Pick<CatalogueModel, 'parameters'>): SizeClass | undefined {
  return parameters === 0 ? undefined : SIZES.find(({ most }) => parameters <= most)?.id;
}

/** `Llama`, `Qwen2.5`, `SmolLM2`: the beginning of a name, up to its size or variant. */
export function familyOf({ id }: Pick<CatalogueModel, 'id'>): string {
  const head = id.split('-')[0] ?? id;
  const name = head
    .replace(/^gemma\d*$/i, 'Gemma')
    .replace(/^phi$/i, 'Phi')
    .replace(/^stablelm$/i, 'StableLM');
  return /hermes/i.test(name) ? 'Hermes' : name;
}

/** Every family, in alphabetical order. */
export function familiesOf(models: readonly CatalogueModel[]): readonly string[] {
  return [...new Set(models.map(familyOf))].sort((a, b) => a.localeCompare(b));
}

export function filterCatalogue(models: readonly CatalogueModel[], filter: CatalogueFilter): readonly CatalogueModel[] {
  const words = filter.query.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter(
    (model) =>
      (!filter.runsHere || model.fit.runs) &&
      (filter.family === '' || familyOf(model) === filter.family) &&
      (filter.size === 'any' || sizeOf(model) === filter.size) &&
      words.every((word) => `${model.id} ${model.title}`.toLowerCase().includes(word)),
  );
}
