// include: reduce
// inverse[v] = 1 / sqrt(mean(x_v²) + eps) for vectors laid out as in rms_norm.wgsl: the first pass of its backward. A
// workgroup a vector.

struct Params {
  vectors: u32,
  groups: u32,
  dim: u32,
  x_offset: u32,
  x_stride: u32,
  eps: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> inverse: array<f32>;
@group(1) @binding(1) var<storage, read> x: array<f32>;

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
  let start = p.x_offset + (vector / p.groups) * p.x_stride + (vector % p.groups) * p.dim;
  var squares = 0.0;
  for (var d = thread; d < p.dim; d += workgroup_size) {
    let value = x[start + d];
    squares = fma(value, value, squares);
  }
  let total = workgroup_sum(thread, squares);
  if (thread == 0u) {
    inverse[vector] = 1.0 / sqrt(total / f32(p.dim) + p.eps);
  }
}
