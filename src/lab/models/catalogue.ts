import { listWebLlmModels, type WebLlmMachine } from '../../models/webllm/catalogue.ts';
import type { CatalogueModel } from '../service.ts';

/** WebLLM's list for a machine, what runs there first. @param stored ids of the models that are stored whole */
export function webLlmCatalogueFor(machine: WebLlmMachine, stored: readonly string[]): readonly CatalogueModel[] {
  const complete = new Set(stored);
  return listWebLlmModels(machine).map(({ record: _, ...entry }) => ({ ...entry, stored: complete.has(entry.id) }));
}
