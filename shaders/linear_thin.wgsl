// include: weights
// out[m, n] (+)= x[m, k] · w[n, k]ᵀ + bias[n] for few rows (decoding), where reading w once is all that matters. A workgroup owns 8
// outputs of 8 rows; its 32 lanes an output each take segments of 32 columns, so neighbouring lanes read neighbouring memory. One
// pass; partial sums of segments are added in order, which gives the same bits as linear.wgsl.

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
const rows: u32 = 8u;
const segment: u32 = 32u;
var<workgroup> parts: array<f32, 2048>; // [outputs][rows][lanes]

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let first_row = workgroup.y * rows;
  let first_output = (workgroup.z * workgroups.x + workgroup.x) * outputs;
  let lane = thread % lanes;
  let slot = thread / lanes;
  let col = first_output + slot;
  var total = 0.0;
  for (var first_k = 0u; first_k < p.k; first_k += lanes * segment) {
    let k = first_k + lane * segment;
    if (k < p.k && col < p.n) {
      let weights = weight_segment(col, k);
      let count = min(segment, p.k - k);
      for (var r = 0u; r < rows; r++) {
        let row = first_row + r;
        var part = 0.0;
        if (row < p.m) {
          let start = row * p.k + k;
          for (var i = 0u; i < segment; i++) {
            if (i < count) {
              part = fma(x[start + i], weights[i], part);
            }
          }
        }
        parts[(slot * rows + r) * lanes + lane] = part;
      }
    }
    workgroupBarrier();
    if (thread < outputs * rows) {
      let segments = min(lanes, (p.k - first_k + segment - 1u) / segment);
      for (var i = 0u; i < segments; i++) {
        total += parts[thread * lanes + i];
      }
    }
    workgroupBarrier();
  }
  if (thread < outputs * rows) {
    let row = first_row + thread % rows;
    let out_col = first_output + thread / rows;
    if (row < p.m && out_col < p.n) {
      let i = row * p.out_cols + p.first_col + out_col;
      var value = total;
      if (p.has_bias == 1u) {
        value += bias[p.first_col + out_col];
      }
      if (p.accumulate == 1u) {
        value += result[i];
      }
      result[i] = value;
    }
  }
}
