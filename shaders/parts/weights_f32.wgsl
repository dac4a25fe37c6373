// Reads a weight matrix [rows, cols] stored as row-major f32. A kernel that includes this has w_cols among its
// parameters.

@group(1) @binding(8) var<storage, read> w: array<f32>;

fn weight(row: u32, col: u32) -> f32 {
  return w[row * p.w_cols + col];
}

/** Four weights of a row from column `first` (a multiple of 4), zeros past the end of the row. */
fn weight_quad(row: u32, first: u32) -> vec4f {
  let start = row * p.w_cols + first;
  let left = p.w_cols - first;
  return select(vec4f(0.0), vec4f(w[start], w[start + 1u], w[start + 2u], w[start + 3u]), vec4u(left) > vec4u(0u, 1u, 2u, 3u));
}
