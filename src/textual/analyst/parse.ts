import type { Edit } from '../types.ts';

/** What the analyst reads out of a critic's prompt: the same text an LLM critic is shown, and nothing else. */
export interface ReadPrompt {
  readonly kind: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly context: string;
  readonly history: readonly ReadHistory[];
  readonly avoid: readonly Edit[];
  readonly tasks: readonly ReadTask[];
  /** Lists of edits: the bundles of a merge, the edits to rank. */
  readonly bundles: readonly (readonly Edit[])[];
  readonly reviews: readonly { readonly edit: Edit; readonly cards: readonly ReadCard[] }[];
}

export interface ReadHistory {
  readonly step: number;
  readonly decision: string;
  readonly edits: readonly Edit[];
}

export interface ReadTask {
  readonly id: string;
  readonly route: string;
  readonly input: string;
  readonly trajectories: readonly ReadTrajectory[];
}

export interface ReadTrajectory {
  readonly id: string;
  readonly success: boolean;
  readonly copies: number;
  readonly turns: readonly { readonly observation: string; readonly action: string }[];
  readonly last: string;
}

export interface ReadCard {
  readonly task_id: string;
  readonly rollout_id: string;
  readonly route: string;
  readonly behavior: string;
  readonly observed_effect: string;
}

/** Reads a prompt made by `prompts.ts`. Structure stands at the left margin; everything recorded is indented by two spaces. */
export function readPrompt(text: string): ReadPrompt {
  const lines = text.split('\n');
  const head = /^<call (.*)>$/.exec(lines[0] ?? '')?.[1] ?? '';
  const attributes = readAttributes(head);
  return {
    kind: attributes.kind ?? '',
    attributes,
    context: unindent(sections(lines, 'context')[0]?.body ?? []),
    history: readHistory(sections(lines, 'history')[0]?.body ?? []),
    avoid: (sections(lines, 'avoid')[0]?.body ?? []).map(readEdit),
    tasks: sections(lines, 'task').map(readTask),
    bundles: [...sections(lines, 'bundle'), ...sections(lines, 'edits')].map(({ body }) => body.map(readEdit)),
    reviews: sections(lines, 'review').map(({ body }) => ({
      edit: readEdit(body[0] ?? '{}'),
      cards: body.slice(1).map((line) => JSON.parse(line) as ReadCard),
    })),
  };
}

interface Section {
  readonly attributes: Readonly<Record<string, string>>;
  readonly body: readonly string[];
}

function sections(lines: readonly string[], name: string): Section[] {
  const found: Section[] = [];
  const opening = new RegExp(`^<${name}(?: (.*))?>$`);
  for (let i = 0; i < lines.length; i++) {
    const open = opening.exec(lines[i] as string);
    if (!open) continue;
    const end = lines.indexOf(`</${name}>`, i);
    if (end === -1) break;
    found.push({ attributes: readAttributes(open[1] ?? ''), body: lines.slice(i + 1, end) });
    i = end;
  }
  return found;
}

function readAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/([a-z_]+)=("(?:[^"\\]|\\.)*")/g), (match) => [match[1] as string, JSON.parse(match[2] as string) as string]),
  );
}

function readEdit(line: string): Edit {
  return JSON.parse(line) as Edit;
}

function readHistory(lines: readonly string[]): ReadHistory[] {
  const entries: { step: number; decision: string; edits: Edit[] }[] = [];
  for (const line of lines) {
    const head = /^step (\d+) ([a-z-]+),/.exec(line);
    if (head) entries.push({ step: Number(head[1]), decision: head[2] as string, edits: [] });
    else entries.at(-1)?.edits.push(readEdit(line.trim()));
  }
  return entries;
}

function readTask({ attributes, body }: Section): ReadTask {
  const input = fieldAfter(body, 'input:');
  const trajectories = sections(body, 'trajectory').map((section): ReadTrajectory => {
    const turns: { observation: string; action: string }[] = [];
    section.body.forEach((line, i) => {
      if (/^observation \d+:$/.test(line)) turns.push({ observation: indentedFrom(section.body, i + 1), action: '' });
      const turn = turns.at(-1);
      if (turn && /^action \d+:$/.test(line)) turn.action = indentedFrom(section.body, i + 1);
    });
    return {
      id: section.attributes.id ?? '',
      success: section.attributes.outcome === 'success',
      copies: Number(section.attributes.copies ?? 1),
      turns,
      last: fieldAfter(section.body, 'last observation:'),
    };
  });
  return { id: attributes.id ?? '', route: attributes.route ?? '', input, trajectories };
}

function fieldAfter(lines: readonly string[], label: string): string {
  const at = lines.indexOf(label);
  return at === -1 ? '' : indentedFrom(lines, at + 1);
}

function indentedFrom(lines: readonly string[], from: number): string {
  let to = from;
  while (to < lines.length && (lines[to] as string).startsWith('  ')) to++;
  return unindent(lines.slice(from, to));
}

function unindent(lines: readonly string[]): string {
  return lines.map((line) => line.replace(/^ {2}/, '')).join('\n');
}
