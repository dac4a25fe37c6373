/** SentencePiece writes spaces as this. */
export const SPACE = '▁';

/** A piece of a SentencePiece vocabulary; its id is its place. */
export interface Piece {
  readonly text: string;
  readonly score: number;
  /** `normal` pieces are what text is cut into; `control` are found only as special tokens, `user` wherever they stand. */
  readonly kind: 'normal' | 'control' | 'user' | 'byte' | 'unused';
}

export interface SentencePieceOptions {
  readonly unkId: number;
  /** Put in front of every text. */
  readonly bosId?: number;
  /** Texts begin as if with a space. */
  readonly addSpacePrefix: boolean;
}

/**
 * A Hugging Face `tokenizer.json` for SentencePiece's BPE: byte fallback, and merges that are all ways to put a piece
 * together from two others, the best-scored piece first. Piece texts must differ.
 */
export function sentencePieceJson(pieces: readonly Piece[], options: SentencePieceOptions): Record<string, unknown> {
  const { unkId, bosId, addSpacePrefix } = options;
  const replace = { type: 'Replace', pattern: { String: ' ' }, content: SPACE };
  const strip = addSpacePrefix ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : [];
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: pieces.flatMap(({ text, kind }, id) =>
      kind === 'control' || kind === 'user' ? [addedToken(id, text, kind === 'control')] : [],
    ),
    normalizer: addSpacePrefix ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: SPACE }, replace] } : replace,
    pre_tokenizer: null,
    post_processor: bosId === undefined ? null : beginWith(bosId, pieces[bosId]!.text),
    decoder: {
      type: 'Sequence',
      decoders: [{ type: 'Replace', pattern: { String: SPACE }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }, ...strip],
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: pieces[unkId]!.text,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab: Object.fromEntries(pieces.map(({ text }, id) => [text, id])),
      merges: mergesOf(pieces),
    },
  };
}

export function addedToken(id: number, content: string, special: boolean): Record<string, unknown> {
  return { id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special };
}

/** The post-processor that puts one token before every text. */
export function beginWith(id: number, token: string): Record<string, unknown> {
  const begin = (type_id: number): object => ({ SpecialToken: { id: token, type_id } });
  const text = (name: string, type_id: number): object => ({ Sequence: { id: name, type_id } });
  return {
    type: 'TemplateProcessing',
    single: [begin(0), text('A', 0)],
    pair: [begin(0), text('A', 0), begin(1), text('B', 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

/** All pairs of pieces that make a piece, best score first, then by id. */
function mergesOf(pieces: readonly Piece[]): [string, string][] {
  const usable = new Set(pieces.filter(({ kind }) => kind === 'normal').map(({ text }) => text));
  const ranked = pieces
    .map((piece, id) => ({ ...piece, id }))
    .filter(({ kind }) => kind === 'normal')
    .sort((a, b) => b.score - a.score || a.id - b.id);
  return ranked.flatMap(({ text }) => {
    const characters = Array.from(text);
    const pairs: [string, string][] = [];
    for (let cut = 1; cut < characters.length; cut++) {
      const left = characters.slice(0, cut).join('');
      const right = characters.slice(cut).join('');
      if (usable.has(left) && usable.has(right)) pairs.push([left, right]);
    }
    return pairs;
  });
}
