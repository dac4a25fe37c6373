// Reads a weight matrix [rows, cols] in MLC's group quantisation: groups of 32 along a row, one f32 scale a group, eight 4-bit
// codes a word, low nibble first; a weight is (code - 7) * scale. Rows are padded to whole groups.

@group(1) @binding(8) var<storage, read> w: array<u32>;
@group(1) @binding(9) var<storage, read> w_scales: array<f32>;

fn weight(row: u32, col: u32) -> f32 {
  let group = row * ((p.w_cols + 31u) / 32u) + col / 32u;
  let code = (w[group * 4u + (col % 32u) / 8u] >> (4u * (col % 8u))) & 15u;
  return (f32(code) - 7.0) * w_scales[group];
}

/** The 32 weights of a row from column `first` (a multiple of 32), zeros past the end of the row. */
fn weight_segment(row: u32, first: u32) -> array<f32, 32> {
  var values: array<f32, 32>;
  let group = row * ((p.w_cols + 31u) / 32u) + first / 32u;
  let scale = w_scales[group];
  let count = min(32u, p.w_cols - first);
  for (var word = 0u; word < 4u; word++) {
    let codes = w[group * 4u + word];
    for (var nibble = 0u; nibble < 8u; nibble++) {
      let i = word * 8u + nibble;
      values[i] = select(0.0, (f32((codes >> (4u * nibble)) & 15u) - 7.0) * scale, i < count);
    }
  }
  return values;
}
