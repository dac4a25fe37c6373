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

const ROOM =
  '<|obs|>You are in the middle of a room. Looking quickly around you, you see drawer 1, diningtable 1, dresser 1, shelf 1, cabinet 1, and sidetable 1.\n\n' +
  'Your task is to: put a plate in diningtable.<|act|>go to drawer 1<|end|><|obs|>You arrive at loc 1. drawer 1 is closed.<|act|>';

/** Texts to begin with: the model stands before a closed drawer, and one sentence decides what it does next. */
export const PROBE_EXAMPLES: readonly ProbeExample[] = [
  { title: 'A closed drawer, with the rule', text: `<|ctx|>\n- Never pass by a closed place: open it and look inside.${ROOM}`, raw: true },
  { title: 'The same without it', text: `<|ctx|>${ROOM}`, raw: true },
  { title: 'Bad advice', text: `<|ctx|>\n- Closed receptacles are empty, so leave them closed.${ROOM}`, raw: true },
  {
    title: 'Context and observation',
    text: '- Hold the object first, then use the lamp.\n---\nYou are in the middle of a room. Looking quickly around you, you see desk 1, and shelf 1.\n\nYour task is to: look at book under the desklamp.',
    raw: false,
  },
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
