import type { Message } from '../../src/core/types.ts';
import { pairedRow, REPETITIONS } from './compare.ts';
import type { BenchRow } from './types.ts';

/** What one side did with one prompt: `ms` from the request to the end of the answer. */
export interface Spoken {
  readonly ms: number;
  readonly promptTokens: number;
  /** Tokens of the answer. */
  readonly tokens: number;
}

/** A chat model that reads every prompt afresh and answers greedily; `onText` is called whenever text has come. */
export interface Speaker {
  readonly name: string;
  say(messages: readonly Message[], maxTokens: number, onText: () => void): Promise<Spoken>;
}

/** Tokens a second that a person sees: of the prompt until the first text, of the answer after that. */
interface Pace {
  readonly prefill: number;
  readonly decode: number;
  readonly promptTokens: number;
}

export interface Peers {
  readonly peer?: Speaker | undefined;
  readonly wider?: (() => Promise<Speaker>) | undefined;
  readonly why?: string;
}

const PARTS = ['prefill', 'decode'] as const;
type Part = (typeof PARTS)[number];

const ANSWER_TOKENS = 24;
const TALE =
  'In a village by the sea lived a diver who looked for pearls. Every morning she rowed out, tied a stone to her foot and sank ' +
  'to the bottom, where the old oysters sleep. She had learned from her mother which shells to leave: the small ones, the ones ' +
  'that lie alone, and any that close too slowly. Most days she came home with nothing but salt in her hair. ';
const PROMPTS: readonly (readonly Message[])[] = [
  [{ role: 'user', content: 'Tell me a long story about a diver who looks for pearls.' }],
  [{ role: 'user', content: `${TALE.repeat(2)}\n\nTell me in your own words, and at length, how the story goes on.` }],
];

/**
 * Reading and answering prompts of two lengths, in turns with the peer.
 * @param peer has as many threads as Nacre; undefined where it cannot run (then `why` says so)
 * @param wider the peer with more threads, opened when the rest is done: its threads wait busily and would slow down others
 */
export async function benchSpeakers(nacre: Speaker, { peer, wider, why }: Peers, report: (line: string) => void): Promise<BenchRow[]> {
  const rows: (BenchRow & { readonly part: Part; readonly prompt: number })[] = [];
  for (const [prompt, messages] of PROMPTS.entries()) {
    report(`smollm: prompt ${prompt + 1} of ${PROMPTS.length}`);
    const [ours, theirs = []] = await takeTurns(peer ? [nacre, peer] : [nacre], messages);
    const tokens = ours![0]!.promptTokens;
    const read = theirs[0]?.promptTokens ?? tokens;
    for (const part of PARTS) {
      const of = (some: readonly Pace[]): number[] => some.map((each) => each[part]);
      const notes = [
        ...(peer ? [] : [`@wllama/wllama: skipped (${why ?? 'not installed'})`]),
        ...(read === tokens ? [] : [`the peer read ${read} tokens`]),
      ];
      rows.push({
        ...pairedRow(of(ours!), peer && { name: peer.name, values: of(theirs) }),
        name: `${part} of SmolLM2-135M, CPU`,
        size: `${tokens} tokens read, ${ANSWER_TOKENS} said, 1 thread`,
        unit: 'tokens/s',
        note: notes.join('; '),
        part,
        prompt,
      });
    }
  }
  const more = await wider?.();
  const others: Pace[] = [];
  for (const messages of more ? PROMPTS : []) others.push(await pace(more!, messages));
  return rows.map(({ part, prompt, note, ...row }) => {
    const other = more && `${more.name}: ${others[prompt]![part].toFixed(1)}, measured once`;
    const notes = [note, other].filter(Boolean).join('; ');
    return notes === '' ? row : { ...row, note: notes };
  });
}

/** Each speaker's paces, after one that warms it up; the order is turned round in every other repetition. */
async function takeTurns(speakers: readonly Speaker[], messages: readonly Message[]): Promise<Pace[][]> {
  const sides = speakers.map((speaker) => ({ speaker, paces: [] as Pace[] }));
  for (const { speaker } of sides) await pace(speaker, messages);
  for (let i = 0; i < REPETITIONS; i++) {
    for (const { speaker, paces } of i % 2 === 0 ? sides : sides.toReversed()) paces.push(await pace(speaker, messages));
  }
  return sides.map(({ paces }) => paces);
}

async function pace(speaker: Speaker, messages: readonly Message[]): Promise<Pace> {
  const began = performance.now();
  let first: number | undefined;
  const { ms, promptTokens, tokens } = await speaker.say(messages, ANSWER_TOKENS, () => {
    first ??= performance.now();
  });
  if (first === undefined || tokens < ANSWER_TOKENS / 2) throw new Error(`${speaker.name} said only ${tokens} tokens`);
  const read = first - began;
  return { prefill: (promptTokens * 1000) / read, decode: ((tokens - 1) * 1000) / (ms - read), promptTokens };
}
