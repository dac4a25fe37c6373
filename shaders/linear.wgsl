// include: tile, weights
// out[m, n] (+)= x[m, k] · w[n, k]ᵀ + bias[n] for many rows: one pass of the tiled product with A = x and B = wᵀ. The
// matrix may be a part of a larger one: its row 0 is column first_col of out, whose rows are out_cols wide. Reference:
// the usual register-blocked SGEMM (Volkov & Demmel 2008).

struct Params {
  m: u32,
  n: u32,
  k: u32,
  w_cols: u32,
  out_cols: u32,
  first_col: u32,
  has_bias: u32,
  accumulate: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> result: array<f32>;
@group(1) @binding(1) var<storage, read> x: array<f32>;
@group(1) @binding(2) var<storage, read> bias: array<f32>;

const a_contiguous_in_k = true;
const b_contiguous_in_k = true;

fn load_a(row: u32, k: u32) -> f32 {
  return x[row * p.k + k];
}

fn load_b(k: u32, col: u32) -> f32 {
  return weight(col, k);
}

fn store(row: u32, col: u32, sum: f32) {
  let i = row * p.out_cols + p.first_col + col;
  var value = sum;
  if (p.has_bias == 1u) {
    value += bias[p.first_col + col];
  }
  if (p.accumulate == 1u) {
    value += result[i];
  }
  result[i] = value;
}
