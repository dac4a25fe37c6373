// What the products of few rows share: a thread's sums over 1 or 4 rows at once, one a component, and the storing of
// one. A thread's sum over a segment of 32 columns adds one term after the other, as the tiled product does.

override rows: u32 = 4u; // 1 or 4
const segment: u32 = 32u;

fn store(row: u32, col: u32, sum: f32) {
  if (row >= p.m) {
    return;
  }
  let i = row * p.out_cols + p.first_col + col;
  var value = sum;
  if (p.has_bias == 1u) {
    value += bias[p.first_col + col];
  }
  if (p.accumulate == 1u) {
    value += result[i];
  }
  result[i] = value;
}

fn add_products(part: vec4f, at: vec4u, weight: f32) -> vec4f {
  if (rows == 1u) {
    return vec4f(fma(x[at.x], weight, part.x), 0.0, 0.0, 0.0);
  }
  return fma(vec4f(x[at.x], x[at.y], x[at.z], x[at.w]), vec4f(weight), part);
}

/** Where the rows from `first` start in x. Rows past the last one repeat it, so that every read is in bounds. */
fn row_starts(first: u32) -> vec4u {
  return min(vec4u(first) + vec4u(0u, 1u, 2u, 3u), vec4u(p.m - 1u)) * p.k;
}

/** The products' sum over the segment that starts at column `first` of x and of row `col` of w. */
fn segment_sum(start: vec4u, col: u32, first: u32) -> vec4f {
  var part = vec4f(0.0);
  let end = min(first + segment, p.k);
  var k = first;
  for (; k + 4u <= end; k += 4u) {
    let weights = weight_quad(col, k);
    part = add_products(part, start + k, weights.x);
    part = add_products(part, start + k + 1u, weights.y);
    part = add_products(part, start + k + 2u, weights.z);
    part = add_products(part, start + k + 3u, weights.w);
  }
  for (; k < end; k++) {
    part = add_products(part, start + k, weight(col, k));
  }
  return part;
}

fn store_rows(first_row: u32, col: u32, sums: vec4f) {
  store(first_row, col, sums.x);
  if (rows > 1u) {
    store(first_row + 1u, col, sums.y);
    store(first_row + 2u, col, sums.z);
    store(first_row + 3u, col, sums.w);
  }
}
