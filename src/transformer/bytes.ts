/**
 * A copy of bytes [from, to) at the start of a buffer of its own, so that typed arrays of any element size can view it.
 * (`bytes.slice()` will not do: for Node's Buffer it shares memory.)
 */
export function copyBytes(bytes: Uint8Array, from: number, to: number = bytes.length): ArrayBuffer {
  const copy = new Uint8Array(to - from);
  copy.set(bytes.subarray(from, to));
  return copy.buffer;
}
