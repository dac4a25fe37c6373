// Reads a weight matrix [rows, cols] in GGML's Q4_K: blocks of 256 along a row, in runs of 32: two half floats (scale,
// least), twelve bytes with a 6-bit factor and shift for each run, then the codes, 32 bytes for two runs, the low nibbles
// first; a weight is scale * factor * code - least * shift. Rows are padded to whole blocks.

@group(1) @binding(8) var<storage, read> w: array<u32>;

fn weight(row: u32, col: u32) -> f32 {
  return weight_quad(row, col & ~3u)[col & 3u];
}

/** Factor and shift of a run; `packed` is where the twelve bytes begin. */
fn factor_and_shift(packed: u32, run: u32) -> vec2f {
  let at = 8u * (run & 3u);
  let factors = w[packed] >> at;
  let shifts = w[packed + 1u] >> at;
  if (run < 4u) {
    return vec2f(vec2u(factors, shifts) & vec2u(63u));
  }
  let lower = w[packed + 2u] >> at;
  return vec2f((vec2u(lower, lower >> 4u) & vec2u(15u)) | ((vec2u(factors, shifts) & vec2u(192u)) >> vec2u(2u)));
}

/** Four weights of a row from column `first` (a multiple of 4), zeros past the end of the row. */
fn weight_quad(row: u32, first: u32) -> vec4f {
  let block = (row * ((p.w_cols + 255u) / 256u) + first / 256u) * 36u;
  let run = (first % 256u) / 32u;
  let word = w[block + 4u + 8u * (run / 2u) + (first % 32u) / 4u] >> (4u * (run & 1u));
  let codes = (vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(15u);
  let scale = unpack2x16float(w[block]) * factor_and_shift(block + 1u, run);
  let left = p.w_cols - first;
  return select(vec4f(0.0), scale.x * vec4f(codes) - scale.y, vec4u(left) > vec4u(0u, 1u, 2u, 3u));
}
