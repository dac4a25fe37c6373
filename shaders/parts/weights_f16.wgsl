// Reads a weight matrix [rows, cols] stored as IEEE half floats, two a word, low half first, each row padded to whole
// words.

@group(1) @binding(8) var<storage, read> w: array<u32>;

fn weight(row: u32, col: u32) -> f32 {
  let pair = unpack2x16float(w[row * ((p.w_cols + 1u) / 2u) + col / 2u]);
  return select(pair.x, pair.y, (col & 1u) == 1u);
}

/** Four weights of a row from column `first` (a multiple of 4), zeros past the end of the row. */
fn weight_quad(row: u32, first: u32) -> vec4f {
  let start = row * ((p.w_cols + 1u) / 2u) + first / 2u;
  let left = p.w_cols - first;
  let values = vec4f(unpack2x16float(w[start]), unpack2x16float(w[start + 1u]));
  return select(vec4f(0.0), values, vec4u(left) > vec4u(0u, 1u, 2u, 3u));
}
