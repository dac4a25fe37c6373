import { asRolloutModel, type RolloutModel } from '../chat-rollouts.ts';
import type { KeyRing } from './keys.ts';
import { type EndpointAccess, EndpointModel } from './model.ts';
import type { EndpointSettings } from './settings.ts';

/**
 * A server's model that plays episodes, as many at a time as requests may be open. Its key is looked up at each request.
 * @throws {EndpointError} when the server cannot be reached or used
 */
export async function connectEndpoint(
  settings: EndpointSettings,
  keys: KeyRing,
  access: Omit<EndpointAccess, 'key'> = {},
): Promise<RolloutModel> {
  const { baseUrl, parallel, actionTokens } = settings;
  const model = await EndpointModel.connect(settings, { ...access, key: () => keys.get(baseUrl) });
  return asRolloutModel(model, { parallel, actionTokens });
}
