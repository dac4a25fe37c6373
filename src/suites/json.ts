import type { Json } from '../core/types.ts';

/** Keys that could reach an object's prototype when records are copied key by key. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Deeper documents would overflow the stack of some later recursion; no table of questions comes near. */
const MAX_DEPTH = 100;

/** Why a JSON text was refused; `path` leads to the value, e.g. `choices.2.text` ('' for the whole). */
export class JsonFault extends Error {
  readonly path: string;
  constructor(message: string, path = '') {
    super(message);
    this.path = path;
  }
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Parses JSON without the losses of `JSON.parse`: whole numbers beyond 2^53 become strings of their digits (ids would
 * collapse otherwise), and numbers that overflow to infinity, prototype keys and absurd depth are refused. A byte-order mark
 * is skipped.
 * @throws {JsonFault} with the reason, and the path of the value where there is one.
 */
export function parseExactJson(text: string): Json {
  const clean = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  let value = parse(clean);
  // The text is known to be JSON here, so strings and numbers can be told apart by this expression alone.
  if (/\d{16}/.test(clean)) {
    value = parse(clean.replace(STRING_OR_NUMBER, (token) => (isHugeInteger(token) ? `"${token}"` : token)));
  }
  refuseFaults(value, []);
  return value;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new JsonFault(`not valid JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
}

function isHugeInteger(token: string): boolean {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));
}

function refuseFaults(value: Json, path: (string | number)[]): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new JsonFault('a number too large to be finite', path.join('.'));
  if (typeof value !== 'object' || value === null) return;
  if (path.length >= MAX_DEPTH) throw new JsonFault(`nested deeper than ${MAX_DEPTH} levels`);
  for (const [key, child] of Object.entries(value)) {
    if (FORBIDDEN_KEYS.has(key)) throw new JsonFault(`the forbidden key "${key}"`, path.join('.'));
    path.push(key);
    refuseFaults(child as Json, path);
    path.pop();
  }
}

/** Equality of JSON values: the order of keys does not matter, everything else does. */
export function equalJson(a: Json, b: Json): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  const [left, right] = [a as Readonly<Record<string, Json>>, b as Readonly<Record<string, Json>>];
  return keys.every((key) => Object.hasOwn(right, key) && equalJson(left[key]!, right[key]!));
}
