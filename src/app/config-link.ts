import { deflateSync, inflateSync, strFromU8, strToU8 } from 'fflate';
import { NacreError } from '../core/errors.ts';

/**
 * A configuration as a short piece of a link: JSON, deflated against a dictionary of the words every configuration holds,
 * in URL-safe base64. The dictionary is part of the format: a changed one would break links, so it gets a new leading digit.
 */
const VERSION = '1';
const DICTIONARY = strToU8(
  '"textual":{"epochs":,"rolloutsPerTask":,"batchTasks":,"critiqueBatch":,"mergeBatch":,"editBudget":,"minEditBudget":,' +
    '"trainTemperature":0.7,"evalTemperature":0,"successThreshold":1,"maxEditChars":600,"maxContextChars":12000,' +
    '"rolloutRetries":2,"resamples":3,"stopAtPerfect":false,"tokenCap":0,"ablations":{"outcomeRouting":true,' +
    '"intraGroupCardsOnly":false,"noEditCards":true,"crossGroupReview":true}}' +
    '{"schema":"nacre.experiment/1","kind":"textual","name":"Quick: household rules from outcomes","seed":1,' +
    '"suite":{"id":"household","train":24,"val":28,"test":160,"unseen":64},"target":{"model":"nacre-tiny","backend":"auto"},' +
    '"critic":{"kind":"analyst"},"initialContext":"","textual":{"epochs":4,"rolloutsPerTask":4,"batchTasks":12,"editBudget":4,"minEditBudget":2}}',
);

/** Limits of what a link may hold: the context alone may be 100,000 characters, and a link must not become a bomb. */
const MAX_LINK_CHARS = 200_000;
const MAX_JSON_BYTES = 1_000_000;

export function configToLink(config: unknown): string {
  const packed = deflateSync(strToU8(JSON.stringify(config)), { level: 9, dictionary: DICTIONARY });
  let binary = '';
  for (const byte of packed) binary += String.fromCharCode(byte);
  return VERSION + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The configuration of a link, not yet validated. @throws {NacreError} `link-broken` when the link was cut or altered. */
export function linkToConfig(link: string): unknown {
  if (link.length > MAX_LINK_CHARS) throw broken('it is too long');
  if (link[0] !== VERSION) throw broken('it is of a version this page does not know');
  try {
    const binary = atob(link.slice(1).replaceAll('-', '+').replaceAll('_', '/'));
    const packed = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    // With a given buffer fflate never grows beyond it, whatever the link claims.
    const json = inflateSync(packed, { dictionary: DICTIONARY, out: new Uint8Array(MAX_JSON_BYTES) });
    return JSON.parse(strFromU8(json));
  } catch (cause) {
    throw broken(cause instanceof Error ? cause.message : String(cause));
  }
}

function broken(why: string): NacreError {
  return new NacreError(
    'link-broken',
    `The configuration in this link cannot be read: ${why}.`,
    'Copy the whole link again, or start from the defaults.',
  );
}
