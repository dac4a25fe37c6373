// Half-split rotary embedding in place: elements i and i + headDim/2 of each head turn by the angle of the row's
// position, whose cosine and sine come from tables [positions, headDim/2] made in float64 on the host (a GPU's own sin
// and cos may be off by 2⁻¹¹). One thread a pair, one pass; `direction` −1 turns back (the gradient). Reference: Su et
// al. 2021, eq. 34, in GPT-NeoX's layout.

struct Params {
  rows: u32,
  heads: u32,
  half_dim: u32,
  offset: u32,
  stride: u32,
  direction: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> x: array<f32>;
@group(1) @binding(1) var<storage, read> cosines: array<f32>;
@group(1) @binding(2) var<storage, read> sines: array<f32>;
@group(1) @binding(3) var<storage, read> positions: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let i = id.y * workgroups.x * 64u + id.x;
  let pairs = p.heads * p.half_dim;
  if (i >= p.rows * pairs) {
    return;
  }
  let row = i / pairs;
  let head = (i % pairs) / p.half_dim;
  let pair = i % p.half_dim;
  let angle = positions[row] * p.half_dim + pair;
  let c = cosines[angle];
  let s = sines[angle] * p.direction;
  let first = p.offset + row * p.stride + head * p.half_dim * 2u + pair;
  let second = first + p.half_dim;
  let a = x[first];
  let b = x[second];
  x[first] = a * c - b * s;
  x[second] = b * c + a * s;
}
