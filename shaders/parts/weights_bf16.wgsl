// Reads a weight matrix [rows, cols] stored as bfloat16 (the upper half of an f32), two a word, low half first, each
// row padded to whole words.

@group(1) @binding(8) var<storage, read> w: array<u32>;

fn weight(row: u32, col: u32) -> f32 {
  let pair = w[row * ((p.w_cols + 1u) / 2u) + col / 2u];
  return bitcast<f32>(select(pair << 16u, pair & 0xffff0000u, (col & 1u) == 1u));
}

/** Four weights of a row from column `first` (a multiple of 4), zeros past the end of the row. */
fn weight_quad(row: u32, first: u32) -> vec4f {
  let start = row * ((p.w_cols + 1u) / 2u) + first / 2u;
  let left = p.w_cols - first;
  let pairs = vec2u(w[start], w[start + 1u]);
  let values = bitcast<vec4f>(vec4u(pairs.x << 16u, pairs.x & 0xffff0000u, pairs.y << 16u, pairs.y & 0xffff0000u));
  return select(vec4f(0.0), values, vec4u(left) > vec4u(0u, 1u, 2u, 3u));
}
