// Reads a weight matrix [rows, cols] in GGML's Q4_1: blocks of 32 along a row, two half floats (scale, least) and 16
// bytes, whose low nibbles are weights 0 to 15 and whose high ones 16 to 31; a weight is scale * code + least. Rows are
// padded to whole blocks.

@group(1) @binding(8) var<storage, read> w: array<u32>;

fn weight(row: u32, col: u32) -> f32 {
  return weight_quad(row, col & ~3u)[col & 3u];
}

/** Four weights of a row from column `first` (a multiple of 4), zeros past the end of the row. */
fn weight_quad(row: u32, first: u32) -> vec4f {
  let block = (row * ((p.w_cols + 31u) / 32u) + first / 32u) * 5u;
  let word = w[block + 1u + (first % 16u) / 4u] >> ((first & 16u) / 4u);
  let codes = (vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(15u);
  let scale = unpack2x16float(w[block]);
  let left = p.w_cols - first;
  return select(vec4f(0.0), scale.x * vec4f(codes) + scale.y, vec4u(left) > vec4u(0u, 1u, 2u, 3u));
}
