// What the attention kernels share: a query row's span of key rows (a shared prefix, then the sequence's own rows), the
// grouping of query heads over key heads, and where a head's vector starts. Scores are scaled by headDim^-1/2. One tile
// is one key (or row) a thread; tiles run over the span's own count of keys, so the order of sums is that of the
// sequence, forked or not.

override head_dim: u32 = 64u;
const lowest: f32 = -3.4e38;

/** Row of k and v that is the j-th key of a span (prefix start, prefix length, own start, own length). */
fn key_row(span: vec4u, j: u32) -> u32 {
  return select(span.z + j - span.y, span.x + j, j < span.y);
}

/** How often a span holds a key row: 0, 1, or 2 when prefix and own rows overlap. */
fn times_attended(span: vec4u, key: u32) -> u32 {
  let in_prefix = key >= span.x && key - span.x < span.y;
  let in_own = key >= span.z && key - span.z < span.w;
  return u32(in_prefix) + u32(in_own);
}

fn key_head(head: u32) -> u32 {
  return head * p.kv_heads / p.heads;
}

fn score_scale() -> f32 {
  return 1.0 / sqrt(f32(head_dim));
}
