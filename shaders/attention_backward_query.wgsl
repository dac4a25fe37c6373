// include: reduce, attention
// dq of attention.wgsl, and for attention_backward_key.wgsl each row and head's logsumexp of scores and D = ⟨dOut, out⟩
// in stats [rows·heads, 2]. A workgroup a row and head, two passes over the keys: the first finds the logsumexp, the
// second adds dq = Σ p (dp − D) k / √headDim with dp = ⟨dOut, v⟩. Reference: Dao et al. 2022, alg. 4.

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
  dq_offset: u32,
  dq_stride: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> dq: array<f32>;
@group(1) @binding(1) var<storage, read_write> stats: array<f32>;
@group(1) @binding(2) var<storage, read> q: array<f32>;
@group(1) @binding(3) var<storage, read> k: array<f32>;
@group(1) @binding(4) var<storage, read> v: array<f32>;
@group(1) @binding(5) var<storage, read> spans: array<vec4u>;
@group(1) @binding(6) var<storage, read> d_out: array<f32>;
@group(1) @binding(7) var<storage, read> attended: array<f32>;

var<workgroup> query: array<f32, head_dim>;
var<workgroup> d_result: array<f32, head_dim>;
var<workgroup> sums: array<f32, head_dim>;
var<workgroup> d_scores: array<f32, workgroup_size>;

fn score_of(start: u32) -> f32 {
  var product = 0.0;
  for (var d = 0u; d < head_dim; d++) {
    product = fma(query[d], k[start + d], product);
  }
  return product * score_scale();
}

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
  var part = 0.0;
  for (var d = thread; d < head_dim; d += workgroup_size) {
    query[d] = q[p.q_offset + row * p.q_stride + head * head_dim + d];
    d_result[d] = d_out[item * head_dim + d];
    part = fma(d_result[d], attended[item * head_dim + d], part);
    sums[d] = 0.0;
  }
  let inner = workgroup_sum(thread, part);

  var largest = lowest;
  var denominator = 0.0;
  for (var first = 0u; first < keys; first += workgroup_size) {
    let j = first + thread;
    var score = lowest;
    if (j < keys) {
      score = score_of(p.k_offset + key_row(span, j) * p.k_stride + kv_start);
    }
    let now_largest = max(largest, workgroup_max(thread, score));
    let chance = select(0.0, exp(score - now_largest), j < keys);
    denominator = denominator * exp(largest - now_largest) + workgroup_sum(thread, chance);
    largest = now_largest;
  }
  let log_sum = largest + log(denominator);
  if (thread == 0u) {
    stats[item * 2u] = log_sum;
    stats[item * 2u + 1u] = inner;
  }

  for (var first = 0u; first < keys; first += workgroup_size) {
    let j = first + thread;
    var d_score = 0.0;
    if (j < keys) {
      let key = key_row(span, j);
      let chance = exp(score_of(p.k_offset + key * p.k_stride + kv_start) - log_sum);
      let start = p.v_offset + key * p.v_stride + kv_start;
      var d_chance = 0.0;
      for (var d = 0u; d < head_dim; d++) {
        d_chance = fma(d_result[d], v[start + d], d_chance);
      }
      d_score = chance * (d_chance - inner) * score_scale();
    }
    d_scores[thread] = d_score;
    workgroupBarrier();
    for (var d = thread; d < head_dim; d += workgroup_size) {
      var sum = sums[d];
      for (var i = 0u; i < min(workgroup_size, keys - first); i++) {
        sum = fma(d_scores[i], k[p.k_offset + key_row(span, first + i) * p.k_stride + kv_start + d], sum);
      }
      sums[d] = sum;
    }
    workgroupBarrier();
  }
  for (var d = thread; d < head_dim; d += workgroup_size) {
    dq[p.dq_offset + row * p.dq_stride + head * head_dim + d] = sums[d];
  }
}
