// include: tile
// dw[N, K] += dOut[M, N]ᵀ · x[M, K]: the gradient of a linear map with respect to its weights. One pass of the tiled
// product with A = dOutᵀ (p.m = N rows), B = x (p.n = K columns) and the rows of the batch (p.k = M) as the reduced
// index; a thread owns each element of dw, so nothing races.

struct Params {
  m: u32,
  n: u32,
  k: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> dw: array<f32>;
@group(1) @binding(1) var<storage, read> d_out: array<f32>;
@group(1) @binding(2) var<storage, read> x: array<f32>;

const a_contiguous_in_k = false;
const b_contiguous_in_k = false;

fn load_a(row: u32, k: u32) -> f32 {
  return d_out[k * p.m + row];
}

fn load_b(k: u32, col: u32) -> f32 {
  return x[k * p.n + col];
}

fn store(row: u32, col: u32, sum: f32) {
  dw[row * p.n + col] += sum;
}
