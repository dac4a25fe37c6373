// Reads a weight matrix [rows, cols] in GGML's Q8_0: blocks of 32 along a row, a half-float scale and 32 signed bytes,
// filled up to 9 words; a weight is scale * code. Rows are padded to whole blocks.

@group(1) @binding(8) var<storage, read> w: array<u32>;

fn weight(row: u32, col: u32) -> f32 {
  return weight_quad(row, col & ~3u)[col & 3u];
}

/** Four weights of a row from column `first` (a multiple of 4), zeros past the end of the row. */
fn weight_quad(row: u32, first: u32) -> vec4f {
  let block = (row * ((p.w_cols + 31u) / 32u) + first / 32u) * 9u;
  // The scale takes two bytes, so four codes lie across two words.
  let at = block + (first % 32u) / 4u;
  let pair = vec2u(w[at], w[at + 1u]);
  let codes = vec4i(vec4u(pair.x << 8u, pair.x, pair.y << 24u, pair.y << 16u)) >> vec4u(24u);
  let left = p.w_cols - first;
  return select(vec4f(0.0), unpack2x16float(w[block]).x * vec4f(codes), vec4u(left) > vec4u(0u, 1u, 2u, 3u));
}
