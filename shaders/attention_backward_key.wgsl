// include: reduce, attention
// dk and dv of attention.wgsl, added to what is there. Floats have no atomics, so a workgroup owns a key row and key
// head: it runs over the query rows of the key's range in tiles of one a thread, for each query head of the group, and
// adds dv = Σ p dOut, dk = Σ p (dp − D) q / √headDim, with p from the logsumexp in stats. One pass. Reference: Dao et
// al. 2022, alg. 4.

struct Params {
  key_rows: u32,
  heads: u32,
  kv_heads: u32,
  q_offset: u32,
  q_stride: u32,
  k_offset: u32,
  k_stride: u32,
  v_offset: u32,
  v_stride: u32,
  dk_offset: u32,
  dk_stride: u32,
  dv_offset: u32,
  dv_stride: u32,
  ranges_at: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> dk: array<f32>;
@group(1) @binding(1) var<storage, read_write> dv: array<f32>;
@group(1) @binding(2) var<storage, read> q: array<f32>;
@group(1) @binding(3) var<storage, read> k: array<f32>;
@group(1) @binding(4) var<storage, read> v: array<f32>;
@group(1) @binding(5) var<storage, read> spans: array<vec4u>;
@group(1) @binding(6) var<storage, read> d_out: array<f32>;
@group(1) @binding(7) var<storage, read> stats: array<f32>;

var<workgroup> own_key: array<f32, head_dim>;
var<workgroup> own_value: array<f32, head_dim>;
var<workgroup> key_sums: array<f32, head_dim>;
var<workgroup> value_sums: array<f32, head_dim>;
var<workgroup> chances: array<f32, workgroup_size>;
var<workgroup> d_scores: array<f32, workgroup_size>;

@compute @workgroup_size(workgroup_size)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let item = workgroup.y * workgroups.x + workgroup.x;
  if (item >= p.key_rows * p.kv_heads) {
    return;
  }
  let key = item / p.kv_heads;
  let kv_head = item % p.kv_heads;
  let range_start = u32(stats[p.ranges_at + key * 2u]);
  let range_end = u32(stats[p.ranges_at + key * 2u + 1u]);
  for (var d = thread; d < head_dim; d += workgroup_size) {
    own_key[d] = k[p.k_offset + key * p.k_stride + kv_head * head_dim + d];
    own_value[d] = v[p.v_offset + key * p.v_stride + kv_head * head_dim + d];
    key_sums[d] = 0.0;
    value_sums[d] = 0.0;
  }
  workgroupBarrier();
  for (var head = 0u; head < p.heads; head++) {
    if (key_head(head) != kv_head) {
      continue;
    }
    for (var first = range_start; first < range_end; first += workgroup_size) {
      let row = first + thread;
      var chance = 0.0;
      var d_score = 0.0;
      let times = times_attended(spans[min(row, range_end - 1u)], key);
      if (row < range_end && times > 0u) {
        let query_start = p.q_offset + row * p.q_stride + head * head_dim;
        let out_start = (row * p.heads + head) * head_dim;
        var product = 0.0;
        var d_chance = 0.0;
        for (var d = 0u; d < head_dim; d++) {
          product = fma(q[query_start + d], own_key[d], product);
          d_chance = fma(d_out[out_start + d], own_value[d], d_chance);
        }
        let stat = (row * p.heads + head) * 2u;
        chance = f32(times) * exp(product * score_scale() - stats[stat]);
        d_score = chance * (d_chance - stats[stat + 1u]) * score_scale();
      }
      chances[thread] = chance;
      d_scores[thread] = d_score;
      workgroupBarrier();
      let count = min(workgroup_size, range_end - first);
      for (var d = thread; d < head_dim; d += workgroup_size) {
        var key_sum = key_sums[d];
        var value_sum = value_sums[d];
        for (var i = 0u; i < count; i++) {
          // Rows of other sequences inside the range have chance 0 and may hold anything, even NaN.
          if (chances[i] != 0.0) {
            key_sum = fma(d_scores[i], q[p.q_offset + (first + i) * p.q_stride + head * head_dim + d], key_sum);
            value_sum = fma(chances[i], d_out[((first + i) * p.heads + head) * head_dim + d], value_sum);
          }
        }
        key_sums[d] = key_sum;
        value_sums[d] = value_sum;
      }
      workgroupBarrier();
    }
  }
  for (var d = thread; d < head_dim; d += workgroup_size) {
    dk[p.dk_offset + key * p.dk_stride + kv_head * head_dim + d] += key_sums[d];
    dv[p.dv_offset + key * p.dv_stride + kv_head * head_dim + d] += value_sums[d];
  }
}
