// sums[c] += the sum over rows of values[r, c], for values [rows, cols]: bias gradients and the second pass of other
// column reductions. A workgroup owns 16 columns; its 16 lanes a column add every 16th row, then one thread adds the
// lanes in order. One pass.

struct Params {
  rows: u32,
  cols: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> sums: array<f32>;
@group(1) @binding(1) var<storage, read> values: array<f32>;

var<workgroup> parts: array<f32, 256>; // [lane][column]

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let col = workgroup.x * 16u + thread % 16u;
  var part = 0.0;
  if (col < p.cols) {
    for (var r = thread / 16u; r < p.rows; r += 16u) {
      part += values[r * p.cols + col];
    }
  }
  parts[thread] = part;
  workgroupBarrier();
  if (thread < 16u && col < p.cols) {
    var total = 0.0;
    for (var lane = 0u; lane < 16u; lane++) {
      total += parts[lane * 16u + thread];
    }
    sums[col] += total;
  }
}
