// include: weights
// out[r, :] = scale · table[ids[r], :]: looks up embedding rows. One thread an element, one pass. The table may be a
// part of a larger one that starts at row first_row: rows outside it are left alone (another part writes them).

struct Params {
  rows: u32,
  w_cols: u32,
  first_row: u32,
  part_rows: u32,
  scale: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> result: array<f32>;
@group(1) @binding(1) var<storage, read> ids: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let i = id.y * workgroups.x * 64u + id.x;
  if (i >= p.rows * p.w_cols) {
    return;
  }
  let token = ids[i / p.w_cols];
  if (token >= p.first_row && token - p.first_row < p.part_rows) {
    result[i] = p.scale * weight(token - p.first_row, i % p.w_cols);
  }
}
