import { NacreError } from '../../core/errors.ts';
import { type Piece, SPACE, sentencePieceJson } from '../sentencepiece.ts';

const SPECIAL = ['<unk>', '<s>', '</s>'];
const BYTE_PIECE = /^<0x[0-9A-F]{2}>$/;
/**
 * Turns llama2.c's tokenizer file (SentencePiece's pieces with scores) into a Hugging Face `tokenizer.json`.
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
  return sentencePieceJson(pieces, { unkId: 0, bosId: 1, addSpacePrefix: true });
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
    const text = pieceText(file, utf8, bytes.subarray(at, at + length), pieces.length);
    pieces.push({ text, score, kind: kindOf(text, pieces.length) });
    at += length;
  }
  if (pieces.length !== vocab) throw bad(file, `it has ${pieces.length} pieces, but the checkpoint's vocabulary is ${vocab}`);
  return pieces;
}

function pieceText(file: string, utf8: TextDecoder, bytes: Uint8Array, id: number): string {
  // The export wraps these three in line ends, or leaves them as they are.
  if (id < SPECIAL.length) return SPECIAL[id];
  try {
    // llama2.c's export turned SentencePiece's spaces back.
    return utf8.decode(bytes).replaceAll(' ', SPACE);
  } catch (cause) {
    throw bad(file, `piece ${id} is not UTF-8`, cause);
  }
}

function kindOf(text: string, id: number): Piece['kind'] {
  if (id < SPECIAL.length) return 'control';
  return BYTE_PIECE.test(text) ? 'byte' : 'normal';
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
