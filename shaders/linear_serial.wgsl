// include: few_rows, weights
// out[m, n] (+)= x[m, k] · w[n, k]ᵀ + bias[n], plainly: a thread owns an output of 1 or 4 rows and goes through k
// alone, adding segments of 32 columns in order. One pass, the same bits as linear.wgsl and linear_thin.wgsl. It is the
// readable form of both, and what software adapters run: they pay microseconds for each thread of a workgroup that has
// barriers, and this one has none.

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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let first_row = workgroup.y * rows;
  let col = id.z * workgroups.x * 64u + id.x;
  if (col >= p.n) {
    return;
  }
  let start = row_starts(first_row);
  var total = vec4f(0.0);
  for (var k = 0u; k < p.k; k += segment) {
    total += segment_sum(start, col, k);
  }
  store_rows(first_row, col, total);
}
