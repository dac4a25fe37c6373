// include: few_rows, weights
// out[m, n] (+)= x[m, k] · w[n, k]ᵀ + bias[n] for few rows (decoding), where reading w once is all that matters. A
// workgroup owns 8 outputs of 1 or 4 rows; its 32 lanes an output each take segments of 32 columns, so neighbouring
// lanes read neighbouring memory. One pass; partial sums of segments are added in order, which gives the same bits as
// linear.wgsl.

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

const lanes: u32 = 32u;
const outputs: u32 = 8u;
var<workgroup> parts: array<vec4f, 256>; // [output][lane], one component a row

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let first_row = workgroup.y * rows;
  let first_output = (workgroup.z * workgroups.x + workgroup.x) * outputs;
  let lane = thread % lanes;
  let col = first_output + thread / lanes;
  let start = row_starts(first_row);
  var total = vec4f(0.0);
  for (var first_k = 0u; first_k < p.k; first_k += lanes * segment) {
    let k = first_k + lane * segment;
    if (k < p.k && col < p.n) {
      parts[thread] = segment_sum(start, col, k);
    }
    workgroupBarrier();
    if (thread < outputs) {
      for (var i = 0u; i < min(lanes, (p.k - first_k + segment - 1u) / segment); i++) {
        total += parts[thread * lanes + i];
      }
    }
    workgroupBarrier();
  }
  if (thread < outputs && first_output + thread < p.n) {
    store_rows(first_row, first_output + thread, total);
  }
}
