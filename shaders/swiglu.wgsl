// out[m, f] = silu(gateUp[m, f]) · gateUp[m, dim + f], with silu(x) = x / (1 + e⁻ˣ). One thread an element, one pass.
// Reference: Shazeer 2020.

struct Params {
  rows: u32,
  dim: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> result: array<f32>;
@group(1) @binding(1) var<storage, read> gate_up: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let i = id.y * workgroups.x * 64u + id.x;
  if (i >= p.rows * p.dim) {
    return;
  }
  let start = (i / p.dim) * p.dim * 2u + i % p.dim;
  result[i] = gate_up[start] * sigmoid(gate_up[start]) * gate_up[start + p.dim];
}

/** 1 / (1 + e⁻ˣ) without an overflow, whose result WGSL leaves open. */
fn sigmoid(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(min(-x, 88.0)));
}
