// destination.row(to_rows[r] or r) = source.row(from_rows[r] or r), `width` elements a row; row r starts at offset +
// r·stride. One thread an element, one pass. Words are copied as they are, so any 32-bit type goes.

struct Params {
  rows: u32,
  width: u32,
  to_offset: u32,
  to_stride: u32,
  from_offset: u32,
  from_stride: u32,
  has_to_rows: u32,
  has_from_rows: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> destination: array<u32>;
@group(1) @binding(1) var<storage, read> source: array<u32>;
@group(1) @binding(2) var<storage, read> to_rows: array<u32>;
@group(1) @binding(3) var<storage, read> from_rows: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) workgroups: vec3u) {
  let i = id.y * workgroups.x * 64u + id.x;
  if (i >= p.rows * p.width) {
    return;
  }
  let row = i / p.width;
  var to_row = row;
  var from_row = row;
  if (p.has_to_rows == 1u) {
    to_row = to_rows[row];
  }
  if (p.has_from_rows == 1u) {
    from_row = from_rows[row];
  }
  let inner = i % p.width;
  destination[p.to_offset + to_row * p.to_stride + inner] = source[p.from_offset + from_row * p.from_stride + inner];
}
