// include: reduce
// out = x / ‖x‖₂ for rows of a width each (PEARL eq. 3); a row of zeros stays zero. A workgroup a row, two reductions:
// the largest size, by which the row is scaled so that no square overflows, and the sum of squares.

struct Params {
  rows: u32,
  width: u32,
  x_offset: u32,
  x_stride: u32,
  out_offset: u32,
  out_stride: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> result: array<f32>;
@group(1) @binding(1) var<storage, read> x: array<f32>;

@compute @workgroup_size(workgroup_size)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.y * workgroups.x + workgroup.x;
  if (row >= p.rows) {
    return;
  }
  let from_x = p.x_offset + row * p.x_stride;
  let to_out = p.out_offset + row * p.out_stride;
  var largest = 0.0;
  for (var d = thread; d < p.width; d += workgroup_size) {
    largest = max(largest, abs(x[from_x + d]));
  }
  largest = workgroup_max(thread, largest);
  let unit = select(largest, 1.0, largest == 0.0);
  var squares = 0.0;
  for (var d = thread; d < p.width; d += workgroup_size) {
    let share = x[from_x + d] / unit;
    squares = fma(share, share, squares);
  }
  let total = workgroup_sum(thread, squares);
  let length = select(sqrt(total), 1.0, total == 0.0);
  for (var d = thread; d < p.width; d += workgroup_size) {
    result[to_out + d] = x[from_x + d] / unit / length;
  }
}
