// include: reduce
// The clipped policy-gradient loss with shaped advantages (PEARL eq. 6 and 7) and its gradient in one kernel.
// terms[r] = (weight, advantage A, multiplier m, behaviour ln p₀). With ln p of the target, ratio = exp(ln p − ln p₀) and
// Ã = A·m: loss = −weight·min(ratio·Ã, clamp(ratio, 1 ± clip)·Ã), d_logits = weight·f·(softmax − onehot), f = ratio·Ã or 0
// where the clip binds; report[r] = (loss, ln p, clip binds). A workgroup a row, three passes over it, as in cross_entropy.
// A weight of 0 writes zeros whatever the logits hold. d_logits may be logits.

struct Params {
  rows: u32,
  vocab: u32,
  clip: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> d_logits: array<f32>;
@group(1) @binding(1) var<storage, read> logits: array<f32>;
@group(1) @binding(2) var<storage, read> targets: array<u32>;
@group(1) @binding(3) var<storage, read> terms: array<f32>;
@group(1) @binding(4) var<storage, read_write> report: array<f32>;

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
  let row_weight = terms[4u * row];
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
  let log_probability = right_logit - largest - log(sum);
  let advantage = terms[4u * row + 1u] * terms[4u * row + 2u];
  let ratio = exp(log_probability - terms[4u * row + 3u]);
  let too_high = (advantage > 0.0) && (ratio > 1.0 + p.clip);
  let too_low = (advantage < 0.0) && (ratio < 1.0 - p.clip);
  let binds = too_high || too_low;
  let bounded = clamp(ratio, 1.0 - p.clip, 1.0 + p.clip);
  let silent = row_weight == 0.0;
  if (thread == 0u) {
    report[3u * row] = select(-row_weight * min(ratio * advantage, bounded * advantage), 0.0, silent);
    report[3u * row + 1u] = select(log_probability, 0.0, silent);
    report[3u * row + 2u] = select(select(0.0, 1.0, binds), 0.0, silent);
  }
  let factor = select(row_weight * ratio * advantage, 0.0, binds || silent);
  for (var i = thread; i < p.vocab; i += workgroup_size) {
    let gradient = factor * (exp(logits[start + i] - largest) / sum - select(0.0, 1.0, i == right));
    d_logits[start + i] = select(gradient, 0.0, silent);
  }
}
