// include: reduce
// loss[r] = weight[r] · (logsumexp(logits[r]) − logits[r, target]) and dLogits[r] = weight[r] · (softmax − onehot). A
// workgroup a row: maximum, sum of exponentials, gradient; three passes over the row. A weight of 0 writes zeros
// whatever the logits hold. dLogits may be logits.

struct Params {
  rows: u32,
  vocab: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> d_logits: array<f32>;
@group(1) @binding(1) var<storage, read> logits: array<f32>;
@group(1) @binding(2) var<storage, read> targets: array<u32>;
@group(1) @binding(3) var<storage, read> row_weights: array<f32>;
@group(1) @binding(4) var<storage, read_write> loss: array<f32>;

@compute @workgroup_size(workgroup_size)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.y * workgroups.x + workgroup.x;
  if (row >= p.rows) {
    return;
  }
  let start = row * p.vocab;
  let row_weight = row_weights[row];
  let right = targets[row];
  var largest = logits[start];
  for (var i = thread; i < p.vocab; i += workgroup_size) {
    largest = max(largest, logits[start + i]);
  }
  largest = workgroup_max(thread, largest);
  var sum = 0.0;
  for (var i = thread; i < p.vocab; i += workgroup_size) {
    sum += exp(logits[start + i] - largest);
  }
  // Read before any thread writes: d_logits may be logits.
  let right_logit = logits[start + right];
  storageBarrier();
  sum = workgroup_sum(thread, sum);
  if (thread == 0u) {
    loss[row] = select(row_weight * (log(sum) + largest - right_logit), 0.0, row_weight == 0.0);
  }
  for (var i = thread; i < p.vocab; i += workgroup_size) {
    let gradient = row_weight * (exp(logits[start + i] - largest) / sum - select(0.0, 1.0, i == right));
    d_logits[start + i] = select(gradient, 0.0, row_weight == 0.0);
  }
}
