// Gradient of swiglu.wgsl: with s = sigmoid(gate), dGate = dOut · up · s · (1 + gate · (1 − s)) and dUp = dOut · gate ·
// s. One thread a pair of elements, one pass; dGateUp [rows, 2·dim] is overwritten and may be gateUp.

struct Params {
  rows: u32,
  dim: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> d_gate_up: array<f32>;
@group(1) @binding(1) var<storage, read> d_out: array<f32>;
@group(1) @binding(2) var<storage, read> gate_up: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let i = id.y * workgroups.x * 64u + id.x;
  if (i >= p.rows * p.dim) {
    return;
  }
  let start = (i / p.dim) * p.dim * 2u + i % p.dim;
  let gate = gate_up[start];
  let up = gate_up[start + p.dim];
  let s = 1.0 / (1.0 + exp(min(-gate, 88.0)));
  d_gate_up[start] = d_out[i] * up * s * (1.0 + gate * (1.0 - s));
  d_gate_up[start + p.dim] = d_out[i] * gate * s;
}
