// include: reduce, weights
// out[i] = ⟨h[h_rows[i], :], w[tokens[i], :]⟩: layer logits of chosen tokens at chosen positions (PEARL eq. 2). A
// workgroup an item, one reduction. The matrix may be a part of a larger one that starts at row first_row; tokens
// outside it are left to the other parts.

struct Params {
  count: u32,
  w_cols: u32,
  first_row: u32,
  part_rows: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> result: array<f32>;
@group(1) @binding(1) var<storage, read> h: array<f32>;
@group(1) @binding(2) var<storage, read> h_rows: array<u32>;
@group(1) @binding(3) var<storage, read> tokens: array<u32>;

@compute @workgroup_size(workgroup_size)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let item = workgroup.y * workgroups.x + workgroup.x;
  if (item >= p.count) {
    return;
  }
  let token = tokens[item];
  let here = token >= p.first_row && token - p.first_row < p.part_rows;
  let start = h_rows[item] * p.w_cols;
  var part = 0.0;
  if (here) {
    for (var k = thread; k < p.w_cols; k += workgroup_size) {
      part = fma(h[start + k], weight(token - p.first_row, k), part);
    }
  }
  let total = workgroup_sum(thread, part);
  if (thread == 0u && here) {
    result[item] = total;
  }
}
