import { NacreError } from '../core/errors.ts';

/** A file that is read in parts, so that a large one need not be in memory as a whole. */
export interface RandomAccessFile {
  /** How messages call it. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Bytes [from, to), which lie within the file. */
  read(from: number, to: number, signal?: AbortSignal): Promise<Uint8Array>;
}

export function bytesFile(name: string, bytes: Uint8Array): RandomAccessFile {
  return { name, size: bytes.length, read: async (from, to) => bytes.subarray(from, to) };
}

/** A file that a person picked, or any other blob. @throws {NacreError} `file-changed` from `read`. */
export function blobFile(name: string, blob: Blob): RandomAccessFile {
  return {
    name,
    size: blob.size,
    async read(from, to) {
      try {
        return new Uint8Array(await blob.slice(from, to).arrayBuffer());
      } catch (cause) {
        throw new NacreError(
          'file-changed',
          `${name} cannot be read any more.`,
          'It was moved or changed since it was chosen: choose it again.',
          {
            cause,
          },
        );
      }
    },
  };
}
