import { unpackBundle } from '../storage/bundle.ts';
import type { AnyConfig } from './any-config.ts';
import { importBundle } from './bundle.ts';
import { importPearlBundle } from './pearl-bundle.ts';

/** A run of either kind as it comes out of a bundle. */
export interface AnyImport {
  readonly config: AnyConfig;
  readonly seconds: number;
  readonly units: ReadonlyMap<string, unknown>;
}

/** @throws {NacreError} `bundle-invalid` or `config-invalid` naming the file, line and field. */
export async function importAny(zip: Uint8Array): Promise<AnyImport> {
  const { kind } = await unpackBundle(zip);
  return kind === 'pearl-run' ? importPearlBundle(zip) : importBundle(zip);
}
