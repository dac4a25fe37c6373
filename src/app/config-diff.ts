/** One setting as a line: where it is, what it is, and what it would be by default. */
export interface Setting {
  readonly path: string;
  readonly value: string;
  readonly differs: boolean;
}

/** All settings of a configuration in order, each compared with `base`. Texts are shown by their length. */
export function settingsOf(config: object, base: object): Setting[] {
  const defaults = new Map(leaves(base));
  return leaves(config)
    .filter(([path]) => path !== 'schema' && path !== 'kind' && path !== 'name')
    .map(([path, value]) => ({ path, value: show(path, value), differs: defaults.get(path) !== value }));
}

/** A single value of a configuration. */
export type Leaf = string | number | boolean;

/** The single values of a configuration with their paths, in order; of a list, its places. */
export function leaves(value: object, prefix = ''): [string, Leaf][] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]): [string, Leaf][] => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    if (typeof inner === 'object' && inner !== null) return leaves(inner, path);
    return [[path, inner as Leaf]];
  });
}

function show(path: string, value: Leaf): string {
  if (path === 'initialContext') return value === '' ? 'empty' : `${String(value).length} characters`;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value);
}
