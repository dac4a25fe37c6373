// Tiled product of A [p.m, p.k] and B [p.k, p.n]: a workgroup of 8 x 16 threads owns a 32 x 64 tile of the result, each
// thread a 4 x 4 block in registers; 16 columns of A and rows of B at a time pass through workgroup memory. The kernel
// that includes this supplies load_a(row, k), load_b(k, col) and store(row, col, sum), and says which index of A and B
// is contiguous in memory so that neighbouring threads read neighbouring words. An element is the sum of partial sums
// over 32 terms each, every one added in order of k: the same order as linear_thin.wgsl and independent of the number
// of rows.

const tile_m: u32 = 32u;
const tile_n: u32 = 64u;
const tile_k: u32 = 16u;
const threads: u32 = 128u;
var<workgroup> tile_a: array<vec4f, 128>; // [tile_k][tile_m / 4]
var<workgroup> tile_b: array<vec4f, 256>; // [tile_k][tile_n / 4]

fn fill_a(slot: u32, first_row: u32, first_k: u32) {
  // Four consecutive rows of one k.
  let k = first_k + select(slot / 8u, slot % 16u, a_contiguous_in_k);
  let quad = select(slot % 8u, slot / 16u, a_contiguous_in_k);
  var values = vec4f(0.0);
  for (var i = 0u; i < 4u; i++) {
    let row = first_row + quad * 4u + i;
    if (row < p.m && k < p.k) {
      values[i] = load_a(row, k);
    }
  }
  tile_a[(k - first_k) * 8u + quad] = values;
}

fn fill_b(slot: u32, first_col: u32, first_k: u32) {
  let k = first_k + select(slot / 16u, slot % 16u, b_contiguous_in_k);
  let quad = select(slot % 16u, slot / 16u, b_contiguous_in_k);
  var values = vec4f(0.0);
  for (var i = 0u; i < 4u; i++) {
    let col = first_col + quad * 4u + i;
    if (col < p.n && k < p.k) {
      values[i] = load_b(k, col);
    }
  }
  tile_b[(k - first_k) * 16u + quad] = values;
}

fn store_four(row: u32, col: u32, sums: vec4f) {
  if (row >= p.m) {
    return;
  }
  for (var j = 0u; j < min(4u, p.n - min(col, p.n)); j++) {
    store(row, col + j, sums[j]);
  }
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let first_row = workgroup.y * tile_m;
  let first_col = workgroup.x * tile_n;
  let thread_row = thread / 16u;
  let thread_col = thread % 16u;
  var total_0 = vec4f(0.0);
  var total_1 = vec4f(0.0);
  var total_2 = vec4f(0.0);
  var total_3 = vec4f(0.0);
  var part_0 = vec4f(0.0);
  var part_1 = vec4f(0.0);
  var part_2 = vec4f(0.0);
  var part_3 = vec4f(0.0);
  for (var first_k = 0u; first_k < p.k; first_k += tile_k) {
    fill_a(thread, first_row, first_k);
    fill_b(thread, first_col, first_k);
    fill_b(thread + threads, first_col, first_k);
    workgroupBarrier();
    for (var k = 0u; k < tile_k; k++) {
      let a = tile_a[k * 8u + thread_row];
      let b = tile_b[k * 16u + thread_col];
      part_0 = fma(vec4f(a.x), b, part_0);
      part_1 = fma(vec4f(a.y), b, part_1);
      part_2 = fma(vec4f(a.z), b, part_2);
      part_3 = fma(vec4f(a.w), b, part_3);
    }
    if ((first_k / tile_k) % 2u == 1u || first_k + tile_k >= p.k) {
      total_0 += part_0;
      total_1 += part_1;
      total_2 += part_2;
      total_3 += part_3;
      part_0 = vec4f(0.0);
      part_1 = vec4f(0.0);
      part_2 = vec4f(0.0);
      part_3 = vec4f(0.0);
    }
    workgroupBarrier();
  }
  let row = first_row + thread_row * 4u;
  let col = first_col + thread_col * 4u;
  store_four(row, col, total_0);
  store_four(row + 1u, col, total_1);
  store_four(row + 2u, col, total_2);
  store_four(row + 3u, col, total_3);
}
