import type { TokenTrace } from '../../core/types.ts';

/** WebLLM's hook between the logits and the sampler (`LogitProcessor`). */
export interface LogitHook {
  processLogits(logits: Float32Array): Float32Array;
  processSampledToken(token: number): void;
  resetState(): void;
}

/** Far below any logit, and finite: infinities break WebLLM's sampler on some GPUs. */
const BANNED = -1e9;

/**
 * Records, for each sampled token, its id, its log-probability and the entropy of the distribution it was drawn from, at
 * temperature 1 and before nucleus sampling; under a JSON schema, of the tokens that the schema allows. WebLLM's own
 * log-probabilities come after the temperature and name no ids. Also keeps the `topK` likeliest tokens, which WebLLM cannot.
 */
export class TokenTracer implements LogitHook {
  /** 0 keeps all tokens. */
  topK = 0;
  private logits: Float32Array | undefined;
  private ids: number[] = [];
  private logprobs: number[] = [];
  private entropies: number[] = [];

  processLogits(logits: Float32Array): Float32Array {
    // The array given may be a view of memory that the next step overwrites.
    this.logits = logits.slice();
    return this.topK > 0 ? keepTop(logits, this.topK) : logits;
  }

  processSampledToken(token: number): void {
    if (!this.logits) return;
    const { logprob, entropy } = readDistribution(this.logits, token);
    this.ids.push(token);
    this.logprobs.push(logprob);
    this.entropies.push(entropy);
    this.logits = undefined;
  }

  resetState(): void {
    this.logits = undefined;
  }

  /** What was recorded since the last call. */
  take(): TokenTrace {
    const trace = { ids: this.ids, logprobs: this.logprobs, entropies: this.entropies };
    this.ids = [];
    this.logprobs = [];
    this.entropies = [];
    return trace;
  }
}

/** ln softmax(logits)[token], and the entropy −Σ p ln p in nats. */
export function readDistribution(logits: Float32Array, token: number): { logprob: number; entropy: number } {
  let most = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > most) most = logit;
  let sum = 0;
  let weighted = 0;
  for (const logit of logits) {
    const shifted = logit - most;
    const weight = Math.exp(shifted);
    // Banned tokens have weight 0 at a logit of minus infinity, whose product would be NaN.
    if (weight === 0) continue;
    sum += weight;
    weighted += weight * shifted;
  }
  const log = Math.log(sum);
  return { logprob: (logits[token] ?? Number.NaN) - most - log, entropy: log - weighted / sum };
}

/** The logits with all but the `count` largest banned; the lowest id wins ties. */
export function keepTop(logits: Float32Array, count: number): Float32Array {
  if (count >= logits.length) return logits;
  const threshold = logits.slice().sort()[logits.length - count]!;
  let room = count;
  for (const logit of logits) if (logit > threshold) room--;
  return logits.map((logit) => (logit > threshold || (logit === threshold && room-- > 0) ? logit : BANNED));
}
