// Adam with decoupled weight decay, in place on param, m and v: grad is multiplied by grad_scale first; bias
// corrections 1/(1 − βᵗ) come from the host in float64. One thread an element, one pass. Reference: Kingma & Ba 2015,
// alg. 1; Loshchilov & Hutter 2019, alg. 2.

struct Params {
  length: u32,
  lr: f32,
  beta1: f32,
  beta2: f32,
  eps: f32,
  weight_decay: f32,
  correction1: f32,
  correction2: f32,
  grad_scale: f32,
  one_minus_beta1: f32,
  one_minus_beta2: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> param: array<f32>;
@group(1) @binding(1) var<storage, read> grad: array<f32>;
@group(1) @binding(2) var<storage, read_write> m: array<f32>;
@group(1) @binding(3) var<storage, read_write> v: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let i = id.y * workgroups.x * 64u + id.x;
  if (i >= p.length) {
    return;
  }
  let g = grad[i] * p.grad_scale;
  let first = p.beta1 * m[i] + p.one_minus_beta1 * g;
  let second = p.beta2 * v[i] + p.one_minus_beta2 * g * g;
  m[i] = first;
  v[i] = second;
  let step = first * p.correction1 / (sqrt(second * p.correction2) + p.eps);
  param[i] -= p.lr * (step + p.weight_decay * param[i]);
}
