/** A checkpoint and a tokenizer file in llama2.c's layouts, for tests. */
export interface CheckpointShape {
  readonly dim: number;
  readonly ffn: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly vocab: number;
  readonly positions: number;
  readonly tied: boolean;
}

export const SMALL_SHAPE: CheckpointShape = { dim: 8, ffn: 6, layers: 2, heads: 2, kvHeads: 1, vocab: 5, positions: 4, tied: true };

/** Every float is its own index, so that each can be found again. */
export function checkpointFile(shape: CheckpointShape): Uint8Array {
  const { dim, ffn, layers, heads, kvHeads, vocab, positions, tied } = shape;
  const headDim = dim / heads;
  const perLayer = 2 * dim + 2 * dim * dim + 2 * kvHeads * headDim * dim + 3 * dim * ffn;
  const floats = vocab * dim * (tied ? 1 : 2) + layers * perLayer + dim + positions * headDim;
  const bytes = new Uint8Array(28 + 4 * floats);
  const view = new DataView(bytes.buffer);
  [dim, ffn, layers, heads, kvHeads, tied ? vocab : -vocab, positions].forEach((value, i) => {
    view.setInt32(4 * i, value, true);
  });
  for (let i = 0; i < floats; i++) view.setFloat32(28 + 4 * i, i, true);
  return bytes;
}

export function tokenizerFile(pieces: readonly (readonly [text: string | Uint8Array, score: number])[]): Uint8Array {
  const encoded = pieces.map(([text, score]) => ({ bytes: typeof text === 'string' ? new TextEncoder().encode(text) : text, score }));
  const out = new Uint8Array(4 + encoded.reduce((sum, { bytes }) => sum + 8 + bytes.length, 0));
  const view = new DataView(out.buffer);
  view.setInt32(0, Math.max(...encoded.map(({ bytes }) => bytes.length)), true);
  let at = 4;
  for (const { bytes, score } of encoded) {
    view.setFloat32(at, score, true);
    view.setInt32(at + 4, bytes.length, true);
    out.set(bytes, at + 8);
    at += 8 + bytes.length;
  }
  return out;
}

/** Special and byte pieces as llama2.c lists them, then `words` with falling scores. */
export function pieceList(words: readonly string[]): [string, number][] {
  const bytes = Array.from({ length: 256 }, (_, byte): [string, number] => [`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, 0]);
  return [['<unk>', 0], ['\n<s>\n', 0], ['\n</s>\n', 0], ...bytes, ...words.map((word, rank): [string, number] => [word, -rank])];
}

/**
 * llama2.c's own encoding, written from its description: characters (or their bytes), then the best-scored neighbouring
 * pair that is a piece is joined, the leftmost of equals, until none is left.
 */
export function referenceEncode(pieces: readonly (readonly [string, number])[], text: string): number[] {
  const ids = new Map(pieces.map(([piece], id) => [piece, id]));
  const tokens: number[] = text === '' ? [] : [ids.get(' ') as number];
  for (const character of text) {
    const id = ids.get(character);
    if (id !== undefined) tokens.push(id);
    else for (const byte of new TextEncoder().encode(character)) tokens.push(byte + 3);
  }
  for (;;) {
    let best = -1;
    let bestId = -1;
    for (let i = 0; i + 1 < tokens.length; i++) {
      const joined = ids.get(pieces[tokens[i]][0] + pieces[tokens[i + 1]][0]);
      if (joined !== undefined && (best < 0 || pieces[joined][1] > pieces[bestId][1])) {
        best = i;
        bestId = joined;
      }
    }
    if (best < 0) return tokens;
    tokens.splice(best, 2, bestId);
  }
}
