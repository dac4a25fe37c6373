// include: reduce
// dx (+)= inverse · (g − x · inverse² · mean(g · x)) with g = dOut · weight: the gradient of rms_norm.wgsl with respect
// to x, where inverse comes from rms_norm_inverse.wgsl. A workgroup a vector: one reduction, then one write an element;
// dx may be dOut.

struct Params {
  vectors: u32,
  groups: u32,
  dim: u32,
  x_offset: u32,
  x_stride: u32,
  d_out_offset: u32,
  d_out_stride: u32,
  dx_offset: u32,
  dx_stride: u32,
  accumulate: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> dx: array<f32>;
@group(1) @binding(1) var<storage, read> d_out: array<f32>;
@group(1) @binding(2) var<storage, read> x: array<f32>;
@group(1) @binding(3) var<storage, read> scale: array<f32>;
@group(1) @binding(4) var<storage, read> inverse: array<f32>;

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
  let from_d_out = p.d_out_offset + row * p.d_out_stride + inner;
  let to_dx = p.dx_offset + row * p.dx_stride + inner;
  var product = 0.0;
  for (var d = thread; d < p.dim; d += workgroup_size) {
    product = fma(d_out[from_d_out + d] * scale[d], x[from_x + d], product);
  }
  let inv = inverse[vector];
  let shrink = workgroup_sum(thread, product) / f32(p.dim) * inv * inv;
  for (var d = thread; d < p.dim; d += workgroup_size) {
    let value = inv * (d_out[from_d_out + d] * scale[d] - x[from_x + d] * shrink);
    let i = to_dx + d;
    dx[i] = select(value, value + dx[i], p.accumulate == 1u);
  }
}
