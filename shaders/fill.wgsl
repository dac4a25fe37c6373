// values[offset .. offset + length] = the 32-bit word `bits`. One thread an element, one pass.

struct Params {
  offset: u32,
  length: u32,
  bits: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> values: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let i = id.y * workgroups.x * 64u + id.x;
  if (i < p.length) {
    values[p.offset + i] = p.bits;
  }
}
