import type { Json } from '../../core/types.ts';

/** Text with `{{column}}` places; `{{column.key}}` or `{{column.0}}` reaches into JSON cells. */
export interface Template {
  readonly parts: readonly (string | { readonly path: string })[];
}

export function parseTemplate(text: string): Template {
  const parts: (string | { path: string })[] = [];
  let from = 0;
  for (const match of text.matchAll(/\{\{([^{}]*)\}\}/g)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push({ path: match[1]!.trim() });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return { parts };
}

/** The paths a template shows, each once. */
export function templatePaths({ parts }: Template): readonly string[] {
  return [...new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.path])))];
}

export function fillTemplate({ parts }: Template, cells: Readonly<Record<string, Json>>): string {
  return parts.map((part) => (typeof part === 'string' ? part : cellText(readCell(cells, part.path)))).join('');
}

/** The column a path begins in: the longest column name it starts with, or undefined. */
export function columnOf(path: string, columns: readonly string[]): string | undefined {
  if (columns.includes(path)) return path;
  const heads = columns.filter((column) => path.startsWith(`${column}.`));
  return heads.sort((a, b) => b.length - a.length)[0];
}

/** The value at a path; null where there is none. */
export function readCell(cells: Readonly<Record<string, Json>>, path: string): Json {
  const column = columnOf(path, Object.keys(cells));
  if (column === undefined) return null;
  let value = cells[column]!;
  const rest = path.slice(column.length + 1);
  for (const key of rest === '' ? [] : rest.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
    value = (value as Readonly<Record<string, Json>>)[key]!;
  }
  return value;
}

/** A cell as people read it: text as it stands, lists of plain values one a line, anything else as JSON; nothing for null. */
export function cellText(value: Json): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) return value.map(cellText).join('\n');
  return JSON.stringify(value);
}
