import { NacreError } from '../../core/errors.ts';

/**
 * API keys, in memory only, each for one origin so that it is never sent elsewhere. The field is private at run time too:
 * structured clone, JSON and console output of a ring show nothing.
 */
export class KeyRing {
  readonly #keys = new Map<string, string>();

  /**
   * Remembers the key of a server until the page or process ends; an empty key forgets it.
   * @throws {NacreError} `endpoint-key` for a key that cannot stand in a header (the message does not repeat it).
   */
  set(baseUrl: string, key: string): void {
    const { origin } = new URL(baseUrl);
    const clean = key.trim();
    if (clean === '') {
      this.#keys.delete(origin);
      return;
    }
    if (!/^[\x21-\x7e]+$/.test(clean)) {
      throw new NacreError(
        'endpoint-key',
        `The key for ${origin} holds spaces or characters that cannot be sent.`,
        'Copy the key again, without line breaks.',
      );
    }
    this.#keys.set(origin, clean);
  }

  get(baseUrl: string): string | undefined {
    return this.#keys.get(new URL(baseUrl).origin);
  }
}

/** Shortest piece of a key that is taken out of texts: servers repeat the beginning or the end of one in their errors. */
const PIECE = 8;
const HIDDEN = '[key]';

/** A text of the server without the key, whole or in part. */
export function redact(text: string, key: string | undefined): string {
  if (key === undefined || key.length < 4) return text;
  const whole = text.replaceAll(key, HIDDEN);
  if (key.length <= PIECE) return whole;
  const pieces = new Set(Array.from({ length: key.length - PIECE + 1 }, (_, i) => key.slice(i, i + PIECE)));
  const holdsPiece = (word: string): boolean => {
    for (let i = 0; i + PIECE <= word.length; i++) if (pieces.has(word.slice(i, i + PIECE))) return true;
    return false;
  };
  return whole.replace(/[^\s"',;]+/g, (word) => (holdsPiece(word) ? HIDDEN : word));
}
