// Reads a weight matrix [rows, cols] in GGML's Q6_K: blocks of 256 along a row, in runs of 16: 128 bytes of lower nibbles,
// 64 bytes of upper two bits, a signed byte for each run, a half-float scale, filled up to 53 words; a weight is
// scale * factor * (code - 32). Each half of 128 weights is four groups of 32: the lower nibbles of groups 0 and 1 and the
// high ones of the same bytes for groups 2 and 3; the upper bits of all four share 32 bytes. Rows are padded to whole blocks.

@group(1) @binding(8) var<storage, read> w: array<u32>;

fn weight(row: u32, col: u32) -> f32 {
  return weight_quad(row, col & ~3u)[col & 3u];
}

/** Four weights of a row from column `first` (a multiple of 4), zeros past the end of the row. */
fn weight_quad(row: u32, first: u32) -> vec4f {
  let block = (row * ((p.w_cols + 255u) / 256u) + first / 256u) * 53u;
  let i = first % 256u;
  let half = i / 128u;
  let group = (i / 32u) % 4u;
  let at = (i % 32u) / 4u;
  let low = (w[block + 16u * half + 8u * (group & 1u) + at] >> (4u * (group / 2u))) & 0x0f0f0f0fu;
  let high = (w[block + 32u + 8u * half + at] >> (2u * group)) & 0x03030303u;
  let codes = (vec4u(low | (high << 4u)) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(63u);
  let run = i / 16u;
  let factor = f32(i32(w[block + 48u + run / 4u] << (24u - 8u * (run & 3u))) >> 24u);
  let scale = unpack2x16float(w[block + 52u]).x * factor;
  let left = p.w_cols - first;
  return select(vec4f(0.0), scale * (vec4f(codes) - 32.0), vec4u(left) > vec4u(0u, 1u, 2u, 3u));
}
