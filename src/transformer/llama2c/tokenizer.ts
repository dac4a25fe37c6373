import { NacreError } from '../../core/errors.ts';

interface Piece {
  readonly text: string;
  readonly score: number;
}

const SPECIAL = ['<unk>', '<s>', '</s>'];
const BYTE_PIECE = /^<0x[0-9A-F]{2}>$/;
/** SentencePiece writes spaces as this; llama2.c's export turned them back. */
const SPACE = '▁';

/**
 * Turns llama2.c's tokenizer file (sentencepiece pieces with scores) into a Hugging Face `tokenizer.json`: BPE with byte
 * fallback whose merges are all ways to put a piece together from two others, the best-scored piece first.
 * @param vocab how many pieces the checkpoint needs.
 * @throws {NacreError} `bad-tokenizer` naming the file and the piece.
 */
export function llama2cTokenizer(file: string, bytes: Uint8Array, vocab: number): Record<string, unknown> {
  const pieces = readPieces(file, bytes, vocab);
  const ids = new Map<string, number>();
  pieces.forEach(({ text }, id) => {
    if (ids.has(text)) throw bad(file, `pieces ${ids.get(text)} and ${id} are the same`);
    ids.set(text, id);
  });
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Prepend', prepend: SPACE },
        { type: 'Replace', pattern: { String: ' ' }, content: SPACE },
      ],
    },
    pre_tokenizer: null,
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [
        { SpecialToken: { id: '<s>', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '<s>', type_id: 1 } },
        { Sequence: { id: 'B', type_id: 1 } },
      ],
      special_tokens: { '<s>': { id: '<s>', ids: [1], tokens: ['<s>'] } },
    },
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: SPACE }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        { type: 'Strip', content: ' ', start: 1, stop: 0 },
      ],
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: '<unk>',
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab: Object.fromEntries(ids),
      merges: mergesOf(pieces, ids),
    },
  };
}

/** The `tokenizer_config.json` that goes with it. */
export function llama2cTokenizerConfig(contextLength: number): Record<string, unknown> {
  return {
    tokenizer_class: 'LlamaTokenizer',
    bos_token: '<s>',
    eos_token: '</s>',
    unk_token: '<unk>',
    add_bos_token: true,
    add_eos_token: false,
    model_max_length: contextLength,
    clean_up_tokenization_spaces: false,
  };
}

/** Layout: int32 longest piece; then for each piece float32 score, int32 length, bytes. */
function readPieces(file: string, bytes: Uint8Array, vocab: number): Piece[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const pieces: Piece[] = [];
  let at = 4;
  while (at < bytes.length) {
    if (at + 8 > bytes.length) throw bad(file, `piece ${pieces.length} is cut off`);
    const score = view.getFloat32(at, true);
    const length = view.getInt32(at + 4, true);
    at += 8;
    if (length < 0 || at + length > bytes.length) throw bad(file, `piece ${pieces.length} is cut off`);
    if (!Number.isFinite(score)) throw bad(file, `piece ${pieces.length} has the score ${score}`);
    pieces.push({ text: pieceText(file, utf8, bytes.subarray(at, at + length), pieces.length), score });
    at += length;
  }
  if (pieces.length !== vocab) throw bad(file, `it has ${pieces.length} pieces, but the checkpoint's vocabulary is ${vocab}`);
  return pieces;
}

function pieceText(file: string, utf8: TextDecoder, bytes: Uint8Array, id: number): string {
  // The export wraps these three in line ends, or leaves them as they are.
  if (id < SPECIAL.length) return SPECIAL[id];
  try {
    return utf8.decode(bytes).replaceAll(' ', SPACE);
  } catch (cause) {
    throw bad(file, `piece ${id} is not UTF-8`, cause);
  }
}

/** All pairs of pieces that make a piece, best score first, then by id. */
function mergesOf(pieces: readonly Piece[], ids: ReadonlyMap<string, number>): [string, string][] {
  const usable = (text: string): boolean => {
    const id = ids.get(text);
    return id !== undefined && id >= SPECIAL.length && !BYTE_PIECE.test(text);
  };
  const ranked = pieces
    .map((piece, id) => ({ ...piece, id }))
    .filter(({ text }) => usable(text))
    .sort((a, b) => b.score - a.score || a.id - b.id);
  return ranked.flatMap(({ text }) => {
    const characters = Array.from(text);
    const pairs: [string, string][] = [];
    for (let cut = 1; cut < characters.length; cut++) {
      const left = characters.slice(0, cut).join('');
      const right = characters.slice(cut).join('');
      if (usable(left) && usable(right)) pairs.push([left, right]);
    }
    return pairs;
  });
}

function bad(file: string, problem: string, cause?: unknown): NacreError {
  return new NacreError(
    'bad-tokenizer',
    `${file}: ${problem}.`,
    'Give the tokenizer file that belongs to the checkpoint (tok512.bin for stories260K.bin).',
    {
      cause,
    },
  );
}
