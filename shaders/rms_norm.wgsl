// include: reduce
// out = x / sqrt(mean(x²) + eps) · weight for vectors of length dim: vector (r, g) starts at offset + r·stride + g·dim.
// A workgroup owns a vector: one reduction, then one write an element; out may be x. Reference: Zhang & Sennrich 2019,
// eq. 4.

struct Params {
  vectors: u32,
  groups: u32,
  dim: u32,
  x_offset: u32,
  x_stride: u32,
  out_offset: u32,
  out_stride: u32,
  eps: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> result: array<f32>;
@group(1) @binding(1) var<storage, read> x: array<f32>;
@group(1) @binding(2) var<storage, read> scale: array<f32>;

@compute @workgroup_size(workgroup_size)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let vector = workgroup.y * workgroups.x + workgroup.x;
  if (vector >= p.vectors) {
    return;
  }
  let row = vector / p.groups;
  let inner = (vector % p.groups) * p.dim;
  let from_x = p.x_offset + row * p.x_stride + inner;
  let to_out = p.out_offset + row * p.out_stride + inner;
  var squares = 0.0;
  for (var d = thread; d < p.dim; d += workgroup_size) {
    let value = x[from_x + d];
    squares = fma(value, value, squares);
  }
  let inverse = 1.0 / sqrt(workgroup_sum(thread, squares) / f32(p.dim) + p.eps);
  for (var d = thread; d < p.dim; d += workgroup_size) {
    result[to_out + d] = x[from_x + d] * inverse * scale[d];
  }
}
