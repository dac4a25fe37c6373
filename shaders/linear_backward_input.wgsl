// include: tile, weights
// dx[m, K] (+)= dOut[m, N] · w[N, K]: the gradient of a linear map with respect to its input. One pass of the tiled
// product with A = dOut and B = w; p.k counts rows of w (the reduced index) and p.n its columns. The matrix may be a
// part of a larger one: its row 0 is column first_out of dOut, whose rows are out_cols wide.

struct Params {
  m: u32,
  n: u32,
  k: u32,
  w_cols: u32,
  out_cols: u32,
  first_out: u32,
  accumulate: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> dx: array<f32>;
@group(1) @binding(1) var<storage, read> d_out: array<f32>;

const a_contiguous_in_k = true;
const b_contiguous_in_k = false;

fn load_a(row: u32, k: u32) -> f32 {
  return d_out[row * p.out_cols + p.first_out + k];
}

fn load_b(k: u32, col: u32) -> f32 {
  return weight(k, col);
}

fn store(row: u32, col: u32, sum: f32) {
  let i = row * p.n + col;
  dx[i] = select(sum, sum + dx[i], p.accumulate == 1u);
}
