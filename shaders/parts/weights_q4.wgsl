// Reads a weight matrix [rows, cols] in MLC's group quantisation: groups of 32 along a row, one f32 scale a group,
// eight 4-bit codes a word, low nibble first; a weight is (code - 7) * scale. Rows are padded to whole groups.

@group(1) @binding(8) var<storage, read> w: array<u32>;
@group(1) @binding(9) var<storage, read> w_scales: array<f32>;

fn weight(row: u32, col: u32) -> f32 {
  let group = row * ((p.w_cols + 31u) / 32u) + col / 32u;
  let code = (w[group * 4u + (col % 32u) / 8u] >> (4u * (col % 8u))) & 15u;
  return (f32(code) - 7.0) * w_scales[group];
}

/** Four weights of a row from column `first` (a multiple of 4), zeros past the end of the row. */
fn weight_quad(row: u32, first: u32) -> vec4f {
  let group = row * ((p.w_cols + 31u) / 32u) + first / 32u;
  let word = w[group * 4u + (first % 32u) / 8u] >> (4u * (first % 8u));
  let codes = (vec4u(word) >> vec4u(0u, 4u, 8u, 12u)) & vec4u(15u);
  let left = p.w_cols - first;
  return select(vec4f(0.0), (vec4f(codes) - 7.0) * w_scales[group], vec4u(left) > vec4u(0u, 1u, 2u, 3u));
}
