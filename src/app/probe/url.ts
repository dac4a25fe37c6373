/** What the address of the probe holds: the text, whether it is taken raw, and the chosen token. */
export interface ProbeUrl {
  readonly text: string;
  readonly raw: boolean;
  readonly token?: number | undefined;
}

export interface ProbeExample {
  readonly title: string;
  readonly text: string;
  readonly raw: boolean;
}

/** Texts to begin with: each shows something. */
export const PROBE_EXAMPLES: readonly ProbeExample[] = [
  {
    title: 'A closed cabinet, with the rule',
    text: 'Open closed receptacles while you search. You arrive at cabinet 1. The cabinet 1 is closed.',
    raw: false,
  },
  { title: 'The same without the rule', text: 'You arrive at cabinet 1. The cabinet 1 is closed.', raw: false },
  { title: 'Words it never saw', text: 'The quantum harpsichord is closed.', raw: true },
];

/** Longest text that is probed; beyond it the page would be slow to read, not only to compute. */
export const MAX_PROBE_CHARS = 4000;

type Params = Readonly<Record<string, string | readonly string[] | undefined>>;

export function parseProbeUrl(params: Params): ProbeUrl {
  const text = one(params.text);
  const token = Number(one(params.token));
  const first = PROBE_EXAMPLES[0] as ProbeExample;
  return {
    text: (text ?? (one(params.empty) === '1' ? '' : first.text)).slice(0, MAX_PROBE_CHARS),
    raw: text === undefined && one(params.empty) !== '1' ? first.raw : one(params.raw) === '1',
    ...(one(params.token) !== undefined && Number.isInteger(token) && token >= 0 ? { token } : {}),
  };
}

export function formatProbeUrl(url: ProbeUrl): Record<string, string | undefined> {
  // The router drops empty parameters, so an empty text needs a word of its own.
  return {
    text: url.text || undefined,
    empty: url.text === '' ? '1' : undefined,
    raw: url.raw ? '1' : undefined,
    token: url.token === undefined ? undefined : String(url.token),
  };
}

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}
