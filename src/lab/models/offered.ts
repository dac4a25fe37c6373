import { EndpointSettings } from '../../models/endpoint/settings.ts';
import { ENDPOINT, type ModelChoice, parseWith } from '../config.ts';
import type { ListedModel } from '../service.ts';

/** A model that a server offers, as it stands in the list of models. */
export function offeredByEndpoint(baseUrl: string, id: string, loaded: readonly ModelChoice[]): ListedModel {
  const choice: ModelChoice = {
    model: ENDPOINT,
    backend: 'auto',
    endpoint: parseWith(EndpointSettings, { baseUrl, model: id }, 'The endpoint'),
  };
  const isLoaded = loaded.some(({ endpoint }) => endpoint?.baseUrl === baseUrl && endpoint.model === id);
  return {
    id: `${baseUrl}#${id}`,
    title: `${id} at ${new URL(baseUrl).host}`,
    kind: 'endpoint',
    where: 'server',
    url: baseUrl,
    bytes: 0,
    complete: true,
    uses: [
      {
        runtime: 'endpoint',
        choice,
        loaded: isLoaded,
        capabilities: { chat: true, json: true, logprobs: false, probe: false, train: false },
      },
    ],
  };
}
