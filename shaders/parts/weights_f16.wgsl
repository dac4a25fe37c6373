// Reads a weight matrix [rows, cols] stored as IEEE half floats, two a word, low half first, each row padded to whole words.

@group(1) @binding(8) var<storage, read> w: array<u32>;

fn weight(row: u32, col: u32) -> f32 {
  let pair = unpack2x16float(w[row * ((p.w_cols + 1u) / 2u) + col / 2u]);
  return select(pair.x, pair.y, (col & 1u) == 1u);
}

/** The 32 weights of a row from column `first`, zeros past the end of the row. */
fn weight_segment(row: u32, first: u32) -> array<f32, 32> {
  var values: array<f32, 32>;
  let start = row * ((p.w_cols + 1u) / 2u) + first / 2u;
  let count = min(32u, p.w_cols - first);
  for (var i = 0u; i < 32u; i += 2u) {
    let pair = unpack2x16float(w[start + i / 2u]);
    values[i] = select(0.0, pair.x, i < count);
    values[i + 1u] = select(0.0, pair.y, i + 1u < count);
  }
  return values;
}
