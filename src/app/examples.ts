import { NacreError } from '../core/errors.ts';
import type { ExperimentConfig } from '../lab/config.ts';
import type { PearlConfig } from '../lab/pearl-config.ts';

/** The configurations shipped with the page. */
export const EXAMPLES = [
  { id: 'textual-quick', title: 'Quick', about: 'A small split of the household suite; about a minute.' },
  { id: 'textual-default', title: 'Paper settings', about: "The paper's settings on a larger split; several minutes." },
  { id: 'pearl-quick', title: 'PEARL', about: 'Trains the shipped policy with a memory of decisions; about a minute.' },
  { id: 'pearl-study', title: 'PEARL study', about: 'PEARL, its rivals and its ablations over three seeds; long, resumable.' },
] as const;
export type ExampleId = (typeof EXAMPLES)[number]['id'];

type ExampleConfig<Id extends ExampleId> = Id extends `pearl-${string}` ? PearlConfig : ExperimentConfig;

/** A shipped configuration. It is valid by test, so it is not validated again here. @throws {NacreError} `example-missing`. */
export async function loadExample<Id extends ExampleId>(id: Id): Promise<ExampleConfig<Id>> {
  const response = await fetch(`examples/${id}.json`);
  if (!response.ok) {
    throw new NacreError(
      'example-missing',
      `The shipped configuration examples/${id}.json could not be read (HTTP ${response.status}).`,
      'Reload the page; if that does not help, the site was published without its examples folder.',
    );
  }
  return (await response.json()) as ExampleConfig<Id>;
}

/** The quick experiment, recorded by `npm run record:example`: a finished run to look at before making one. */
export async function loadRecordedRun(): Promise<Uint8Array> {
  const response = await fetch('examples/quick-run.zip');
  if (!response.ok) {
    throw new NacreError(
      'example-missing',
      `The recorded run examples/quick-run.zip could not be read (HTTP ${response.status}).`,
      'Run the quick experiment instead; it takes well under a minute.',
    );
  }
  return new Uint8Array(await response.arrayBuffer());
}
