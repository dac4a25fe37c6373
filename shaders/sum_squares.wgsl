// include: reduce
// sums[block] = Σ x² over elements block·workgroup_size + thread, step blocks·workgroup_size (squared = 1), or Σ x
// (squared = 0) for the second pass over the blocks' sums. A workgroup a block, one reduction each.

struct Params {
  length: u32,
  blocks: u32,
  squared: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> sums: array<f32>;
@group(1) @binding(1) var<storage, read> x: array<f32>;

@compute @workgroup_size(workgroup_size)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  var sum = 0.0;
  for (var i = workgroup.x * workgroup_size + thread; i < p.length; i += p.blocks * workgroup_size) {
    let value = x[i];
    sum += select(value, value * value, p.squared == 1u);
  }
  let total = workgroup_sum(thread, sum);
  if (thread == 0u) {
    sums[workgroup.x] = total;
  }
}
