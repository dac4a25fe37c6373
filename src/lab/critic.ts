import type { ModelInfo } from '../models/types.ts';
import { HouseholdAnalyst } from '../textual/analyst/analyst.ts';
import type { CriticModel } from '../textual/ask.ts';
import { ENDPOINT, type ModelChoice } from './config.ts';

/**
 * The critic of a run: the heuristic analyst, or a chosen model that is connected with its first question, so that replaying a
 * finished run needs none.
 * @param maxTokens most tokens of an answer, where that is less than what is asked for
 */
export function criticModel(
  choice: ModelChoice | undefined,
  connect: (choice: ModelChoice) => Promise<CriticModel>,
  maxTokens = Number.POSITIVE_INFINITY,
): CriticModel {
  if (choice === undefined) return new HouseholdAnalyst();
  let info = infoBefore(choice);
  return {
    get info() {
      return info;
    },
    async generate(messages, { schema, ...options }) {
      const model = await connect(choice);
      ({ info } = model);
      return model.generate(messages, {
        ...options,
        maxTokens: Math.min(options.maxTokens, maxTokens),
        ...(schema && info.capabilities.json ? { schema } : {}),
      });
    },
  };
}

/** What can be said of a model that is not connected yet. */
function infoBefore({ model, endpoint }: ModelChoice): ModelInfo {
  const id = model === ENDPOINT && endpoint ? endpoint.model || 'endpoint' : model;
  const backend = model === ENDPOINT ? 'endpoint' : 'unknown';
  return {
    id,
    title: id,
    parameters: 0,
    backend,
    adapter: 'not connected',
    contextLength: 0,
    capabilities: { chat: true, json: true, logprobs: false, probe: false, train: false },
  };
}
