import { type ExperimentConfig, parseConfig } from './config.ts';
import { type PearlConfig, parsePearlConfig } from './pearl-config.ts';

/** An experiment of either kind. */
export type AnyConfig = ExperimentConfig | PearlConfig;

/**
 * Validates an experiment of either kind; one that names no known kind is read as TextualRL, so that the message lists what is
 * wrong with it.
 * @throws {NacreError} `config-invalid` whose message names each wrong field.
 */
export function parseAnyConfig(input: unknown): AnyConfig {
  const isPearl = typeof input === 'object' && input !== null && 'kind' in input && input.kind === 'pearl';
  return isPearl ? parsePearlConfig(input) : parseConfig(input);
}
