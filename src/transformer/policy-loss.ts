/**
 * The clipped policy-gradient loss −min(r·A, clip(r, 1±ε)·A), r = exp(ln p − ln p_behaviour), reduced to what the
 * cross-entropy kernel computes: the gradient of a row is A·r·(softmax − onehot) where the clip does not bind, else 0.
 */
export interface PolicyRow {
  readonly loss: number;
  /** Factor of (softmax − onehot). */
  readonly weight: number;
  readonly clipped: boolean;
}

export function policyRow(logprob: number, behaviour: number, advantage: number, clip: number): PolicyRow {
  const ratio = Math.exp(logprob - behaviour);
  const clipped = advantage > 0 ? ratio > 1 + clip : advantage < 0 && ratio < 1 - clip;
  const bounded = Math.min(1 + clip, Math.max(1 - clip, ratio));
  return { loss: -Math.min(ratio * advantage, bounded * advantage), weight: clipped ? 0 : ratio * advantage, clipped };
}
