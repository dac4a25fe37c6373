/**
 * Runs in every fresh context before the script. The functions it returns are out of the script's reach, and hold the
 * built-ins they use, so that a script which replaces those deceives only itself.
 *
 * Scorers must give the same score every time: the clock stands at 1970 and there is no `Math.random`.
 */
export const PRELUDE = `(() => {
  'use strict';
  const parse = JSON.parse;
  const Clock = Date;
  globalThis.Date = class Date extends Clock {
    constructor(...parts) {
      super(...(parts.length === 0 ? [0] : parts));
    }
    static now() {
      return 0;
    }
  };
  Object.defineProperty(Clock.prototype, 'constructor', { value: globalThis.Date });
  delete Math.random;
  return {
    call: (score, input) => score(parse(input)),
    part: (value, name) => {
      if (typeof value === 'object' && value !== null) return value[name];
      return name === 'reward' ? value : undefined;
    },
  };
})()`;

/** Finds the script's function, whether it was declared or assigned to a constant. */
export const FIND_SCORE = `typeof score === 'function' ? score : undefined`;
