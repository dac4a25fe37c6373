import { criticChoice, type ExperimentConfig } from '../../src/lab/config.ts';
import { KeyRing } from '../../src/models/endpoint/keys.ts';

/** Where keys come from on the command line, so that none stands in a file or in the shell's history. */
export const KEY_VARIABLE = 'NACRE_API_KEY';
/** For a critic at another server than the target's. */
export const CRITIC_KEY_VARIABLE = 'NACRE_CRITIC_API_KEY';

type Models = Pick<ExperimentConfig, 'target' | 'critic'>;

/**
 * The keys of the environment for the endpoints of an experiment. `NACRE_API_KEY` belongs to the target's server, or to the
 * critic's where the target is no endpoint; it is not sent to a second server.
 * @throws {NacreError} `endpoint-key` for a key that cannot be sent.
 */
export function environmentKeys(models: Models, environment: NodeJS.ProcessEnv): KeyRing {
  const keys = new KeyRing();
  const target = models.target.endpoint;
  const critic = criticChoice(models)?.endpoint;
  const first = target ?? critic;
  const key = environment[KEY_VARIABLE];
  const criticKey = environment[CRITIC_KEY_VARIABLE];
  if (critic && criticKey) keys.set(critic.baseUrl, criticKey);
  if (first && key) keys.set(first.baseUrl, key);
  return keys;
}
