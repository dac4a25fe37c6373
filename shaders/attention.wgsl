// include: reduce, attention
// out[r, h] = softmax(q[r, h] · Kᵀ / √headDim) · V over the keys of the row's span. A workgroup a row and head: keys
// pass in tiles of one a thread with a running maximum and sum, so one pass over K and V. A span of length 0 writes
// zeros. Reference: Milakov & Gimelshein 2018, alg. 3; Dao et al. 2022.

struct Params {
  rows: u32,
  heads: u32,
  kv_heads: u32,
  q_offset: u32,
  q_stride: u32,
  k_offset: u32,
  k_stride: u32,
  v_offset: u32,
  v_stride: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> result: array<f32>;
@group(1) @binding(1) var<storage, read> q: array<f32>;
@group(1) @binding(2) var<storage, read> k: array<f32>;
@group(1) @binding(3) var<storage, read> v: array<f32>;
@group(1) @binding(4) var<storage, read> spans: array<vec4u>;

var<workgroup> query: array<f32, head_dim>;
var<workgroup> sums: array<f32, head_dim>;
var<workgroup> chances: array<f32, workgroup_size>;

@compute @workgroup_size(workgroup_size)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let item = workgroup.y * workgroups.x + workgroup.x;
  if (item >= p.rows * p.heads) {
    return;
  }
  let row = item / p.heads;
  let head = item % p.heads;
  let span = spans[row];
  let keys = span.y + span.w;
  let kv_start = key_head(head) * head_dim;
  for (var d = thread; d < head_dim; d += workgroup_size) {
    query[d] = q[p.q_offset + row * p.q_stride + head * head_dim + d];
    sums[d] = 0.0;
  }
  workgroupBarrier();
  var largest = lowest;
  var denominator = 0.0;
  for (var first = 0u; first < keys; first += workgroup_size) {
    let j = first + thread;
    var score = lowest;
    if (j < keys) {
      let start = p.k_offset + key_row(span, j) * p.k_stride + kv_start;
      var product = 0.0;
      for (var d = 0u; d < head_dim; d++) {
        product = fma(query[d], k[start + d], product);
      }
      score = product * score_scale();
    }
    let now_largest = max(largest, workgroup_max(thread, score));
    let shrink = exp(largest - now_largest);
    let chance = select(0.0, exp(score - now_largest), j < keys);
    chances[thread] = chance;
    denominator = denominator * shrink + workgroup_sum(thread, chance);
    for (var d = thread; d < head_dim; d += workgroup_size) {
      var sum = sums[d] * shrink;
      for (var i = 0u; i < min(workgroup_size, keys - first); i++) {
        sum = fma(chances[i], v[p.v_offset + key_row(span, first + i) * p.v_stride + kv_start + d], sum);
      }
      sums[d] = sum;
    }
    largest = now_largest;
  }
  for (var d = thread; d < head_dim; d += workgroup_size) {
    result[item * head_dim + d] = select(0.0, sums[d] / denominator, keys > 0u);
  }
}
