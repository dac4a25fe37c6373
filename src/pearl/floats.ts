import { NacreError } from '../core/errors.ts';

/** Bytes encoded per call: more arguments than this could overflow the stack. */
const BLOCK = 0x8000;

/**
 * Float32 numbers as a base64 text of their little-endian bytes. Journals, bundles and JSON files all keep a text as it is,
 * which none of them does for typed arrays.
 */
export function packFloats(values: Float32Array): string {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    view.setFloat32(4 * i, value, true);
  });
  let text = '';
  for (let at = 0; at < bytes.length; at += BLOCK) text += String.fromCharCode(...bytes.subarray(at, at + BLOCK));
  return btoa(text);
}

/** @throws {NacreError} `bad-floats` when the text is not whole float32 numbers. */
export function unpackFloats(text: string, what: string): Float32Array {
  const bad = (why: string): NacreError =>
    new NacreError('bad-floats', `${what}: ${why}.`, 'The file is damaged: export it again, or start the run anew.');
  let bytes: string;
  try {
    bytes = atob(text);
  } catch {
    throw bad('the numbers are not base64');
  }
  if (bytes.length % 4 !== 0) throw bad(`${bytes.length} bytes are not whole float32 numbers`);
  const view = new DataView(new ArrayBuffer(bytes.length));
  for (let i = 0; i < bytes.length; i++) view.setUint8(i, bytes.charCodeAt(i));
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}
