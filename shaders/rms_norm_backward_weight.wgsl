// parts[chunk, d] = the sum over the chunk's vectors of dOut · x · inverse: the second pass of the RMS norm's backward.
// One thread a chunk and element; column_sums.wgsl then adds the chunks to dWeight. Layout of vectors as in
// rms_norm.wgsl.

struct Params {
  vectors: u32,
  groups: u32,
  dim: u32,
  chunk: u32,
  chunks: u32,
  x_offset: u32,
  x_stride: u32,
  d_out_offset: u32,
  d_out_stride: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> parts: array<f32>;
@group(1) @binding(1) var<storage, read> d_out: array<f32>;
@group(1) @binding(2) var<storage, read> x: array<f32>;
@group(1) @binding(3) var<storage, read> inverse: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let d = id.x;
  let chunk = id.y;
  if (d >= p.dim || chunk >= p.chunks) {
    return;
  }
  var sum = 0.0;
  for (var v = chunk * p.chunk; v < min(p.vectors, (chunk + 1u) * p.chunk); v++) {
    let row = v / p.groups;
    let inner = (v % p.groups) * p.dim + d;
    sum += d_out[p.d_out_offset + row * p.d_out_stride + inner] * x[p.x_offset + row * p.x_stride + inner] * inverse[v];
  }
  parts[chunk * p.dim + d] = sum;
}
