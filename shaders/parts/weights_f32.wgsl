// Reads a weight matrix [rows, cols] stored as row-major f32. A kernel that includes this has w_cols among its parameters.

@group(1) @binding(8) var<storage, read> w: array<f32>;

fn weight(row: u32, col: u32) -> f32 {
  return w[row * p.w_cols + col];
}

/** The 32 weights of a row from column `first`, zeros past the end of the row. */
fn weight_segment(row: u32, first: u32) -> array<f32, 32> {
  var values: array<f32, 32>;
  let start = row * p.w_cols + first;
  let count = min(32u, p.w_cols - first);
  for (var i = 0u; i < 32u; i++) {
    values[i] = select(0.0, w[start + i], i < count);
  }
  return values;
}
