// dTable[ids[r], :] += scale · dOut[r, :] for dOut [rows, dim]. Floats have no atomics, so the first row that holds an
// id owns its table row: a workgroup a row looks for an earlier row with the same id, and if there is none adds all
// later ones in order. One pass, rows² comparisons, independent of the size of the vocabulary.

struct Params {
  rows: u32,
  dim: u32,
  vocab: u32,
  scale: f32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(1) @binding(0) var<storage, read_write> d_table: array<f32>;
@group(1) @binding(1) var<storage, read> d_out: array<f32>;
@group(1) @binding(2) var<storage, read> ids: array<u32>;

var<workgroup> earlier: atomic<u32>;

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.y * workgroups.x + workgroup.x;
  if (row >= p.rows) {
    return;
  }
  let token = ids[row];
  for (var r = thread; r < row; r += 64u) {
    if (ids[r] == token) {
      atomicStore(&earlier, 1u);
    }
  }
  workgroupBarrier();
  if (atomicLoad(&earlier) == 1u || token >= p.vocab) {
    return;
  }
  for (var d = thread; d < p.dim; d += 64u) {
    var sum = 0.0;
    for (var r = row; r < p.rows; r++) {
      if (ids[r] == token) {
        sum += d_out[r * p.dim + d];
      }
    }
    d_table[token * p.dim + d] += p.scale * sum;
  }
}
