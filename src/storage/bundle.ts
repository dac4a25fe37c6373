import { strFromU8, strToU8, unzipSync, type Zippable, zipSync } from 'fflate';
import * as v from 'valibot';
import { NacreError } from '../core/errors.ts';

/** Most bytes an unpacked bundle may hold: enough for the largest runs, small enough that a zip bomb cannot hurt. */
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_FILES = 4096;

const Manifest = v.strictObject({
  schema: v.literal('nacre.bundle/1'),
  kind: v.string(),
  files: v.array(
    v.strictObject({
      path: v.string(),
      bytes: v.pipe(v.number(), v.integer(), v.minValue(0)),
      sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    }),
  ),
});

export interface Bundle {
  readonly kind: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** A zip of files with a manifest that names, sizes and hashes each. Byte-identical for equal input. */
export async function packBundle(bundle: Bundle): Promise<Uint8Array> {
  const files = await Promise.all(
    [...bundle.files].map(async ([path, bytes]) => ({ path, bytes: bytes.length, sha256: await sha256(bytes) })),
  );
  const manifest = { schema: 'nacre.bundle/1', kind: bundle.kind, files };
  const entries: Zippable = { 'manifest.json': strToU8(JSON.stringify(manifest, null, 1)) };
  for (const [path, bytes] of bundle.files) entries[path] = bytes;
  // A fixed date (the earliest a zip can hold) keeps equal bundles equal.
  return zipSync(entries, { level: 6, mtime: new Date(1980, 0, 2) });
}

/**
 * Opens a bundle after checking everything it claims.
 * @throws {NacreError} `bundle-invalid` naming the file and what is wrong with it.
 */
export async function unpackBundle(zip: Uint8Array): Promise<Bundle> {
  const entries = unzip(zip);
  const text = entries.get('manifest.json');
  if (!text) throw invalid('manifest.json is missing');
  const manifest = v.safeParse(Manifest, parseJson(text, 'manifest.json'));
  if (!manifest.success) {
    throw invalid(`manifest.json: ${manifest.issues.map((issue) => `${v.getDotPath(issue) ?? 'document'}: ${issue.message}`).join('; ')}`);
  }
  const files = new Map<string, Uint8Array>();
  for (const { path, bytes, sha256: expected } of manifest.output.files) {
    const data = entries.get(path);
    if (!data) throw invalid(`${path} is listed in the manifest but missing`);
    if (data.length !== bytes) throw invalid(`${path} holds ${data.length} bytes, the manifest says ${bytes}`);
    if ((await sha256(data)) !== expected) throw invalid(`${path} does not match its hash`);
    files.set(path, data);
  }
  for (const path of entries.keys()) {
    if (path !== 'manifest.json' && !files.has(path)) throw invalid(`${path} is not listed in the manifest`);
  }
  return { kind: manifest.output.kind, files };
}

/** Parses JSON that came from outside. @throws {NacreError} naming the file; prototype keys and non-finite numbers are refused. */
export function parseJson(bytes: Uint8Array, path: string): unknown {
  try {
    return JSON.parse(strFromU8(bytes), (key, value: unknown) => {
      if (key === '__proto__' || key === 'constructor' || key === 'prototype') throw invalid(`${path} holds the forbidden key "${key}"`);
      if (typeof value === 'number' && !Number.isFinite(value)) throw invalid(`${path} holds a number that is not finite at "${key}"`);
      return value;
    });
  } catch (cause) {
    if (cause instanceof NacreError) throw cause;
    throw invalid(`${path} is not JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
}

function unzip(zip: Uint8Array): ReadonlyMap<string, Uint8Array> {
  let total = 0;
  let count = 0;
  try {
    const entries = unzipSync(zip, {
      filter: ({ name, originalSize }) => {
        if (name.startsWith('/') || name.includes('\\') || /^[a-z]:/i.test(name) || name.split('/').includes('..')) {
          throw invalid(`the path "${name}" leads out of the bundle`);
        }
        total += originalSize;
        count += 1;
        if (total > MAX_BYTES || count > MAX_FILES)
          throw invalid(`it unpacks to more than ${MAX_BYTES / 1024 / 1024} MiB or ${MAX_FILES} files`);
        return !name.endsWith('/');
      },
    });
    return new Map(Object.entries(entries));
  } catch (cause) {
    if (cause instanceof NacreError) throw cause;
    throw invalid(`it is not a readable zip (${cause instanceof Error ? cause.message : String(cause)})`);
  }
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function invalid(what: string): NacreError {
  return new NacreError(
    'bundle-invalid',
    `The bundle cannot be used: ${what}.`,
    'Export it again from Nacre; a bundle must not be edited by hand.',
  );
}
