// include: attention
// stats[ranges_at + 2·key ..] = (first query row that attends the key, one past the last), (0, 0) when none does: lets
// attention_backward_key.wgsl skip the rows of other sequences. Row numbers are stored as floats, exact below 2²⁴,
// beside the statistics of attention_backward_query.wgsl because eight storage buffers are all that every device
// offers. One thread a key, one pass over the spans.

struct Params {
  rows: u32,
  key_rows: u32,
  heads: u32,
  kv_heads: u32,
  ranges_at: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> stats: array<f32>;
@group(1) @binding(1) var<storage, read> spans: array<vec4u>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let key = id.y * workgroups.x * 64u + id.x;
  if (key >= p.key_rows) {
    return;
  }
  var first = 0u;
  var end = 0u;
  for (var row = 0u; row < p.rows; row++) {
    if (times_attended(spans[row], key) > 0u) {
      if (end == 0u) {
        first = row;
      }
      end = row + 1u;
    }
  }
  stats[p.ranges_at + key * 2u] = f32(first);
  stats[p.ranges_at + key * 2u + 1u] = f32(end);
}
