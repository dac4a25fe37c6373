import { NacreError } from '../core/errors.ts';
import type { TextualResult } from './result.ts';

const FENCE = '---';
/** What YAML may hold at the start of a line, as far as a block of names and values goes. */
const FRONT_MATTER_LINE = /^(?:\s*$|\s*#|\s|- |["']?[\w.-]+["']?\s*:(?:\s|$)|[\]}])/;

/**
 * The best context of a run as a skill file: front matter with model, suite, scores and date, then the context, byte for
 * byte. `parseSkill` gives the same context back.
 */
export function formatSkill(result: TextualResult, createdAt: Date): string {
  const { best, initial } = result.textual;
  const lines = [
    FENCE,
    `name: ${slug(result.config.name)}`,
    `description: ${quote(`Context for the ${result.config.suite.id} suite, optimised by TextualRL from outcomes and kept only where held-out validation rose.`)}`,
    `model: ${quote(result.model.id)}`,
    `suite: ${quote(result.config.suite.id)}`,
    `date: ${createdAt.toISOString().slice(0, 10)}`,
    `seed: ${result.seed}`,
    'scores:',
  ];
  for (const [split, score] of Object.entries(best.scores)) {
    const before = initial.scores[split as keyof typeof initial.scores];
    lines.push(
      `  ${split}: {n: ${score.n}, rate: ${score.rate.toFixed(4)}, wilson: [${score.wilson.map((x) => x.toFixed(4)).join(', ')}]${before ? `, before: ${before.rate.toFixed(4)}` : ''}}`,
    );
  }
  lines.push(FENCE, '', best.context);
  return lines.join('\n');
}

/**
 * The context of a skill file or of plain Markdown. Front matter is removed only where the file starts with it.
 * @throws {NacreError} `skill-front-matter` when the front matter is opened and never closed, or holds lines that are none.
 */
export function parseSkill(text: string): string {
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  const opening = /^---\r?\n/.exec(body);
  if (!opening) return body;
  const closing = /\r?\n---[ \t]*(\r?\n|$)/.exec(body.slice(opening[0].length - 1));
  if (!closing) {
    throw new NacreError(
      'skill-front-matter',
      'Line 1 opens front matter with "---", but no later line closes it.',
      'Add a line "---" after the front matter, or remove the first line.',
    );
  }
  const front = body.slice(opening[0].length, opening[0].length - 1 + closing.index);
  front.split(/\r?\n/).forEach((line, index) => {
    if (FRONT_MATTER_LINE.test(line)) return;
    throw new NacreError(
      'skill-front-matter',
      `Line ${index + 2} is no line of front matter: "${line.slice(0, 60)}".`,
      'Write "name: value" lines between the lines "---"; if those are part of the context, put an empty line before the first.',
    );
  });
  const rest = body.slice(opening[0].length - 1 + closing.index + closing[0].length);
  return rest.replace(/^\r?\n/, '');
}

function slug(name: string): string {
  const folded = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return folded || 'context';
}

/** A YAML double-quoted scalar; JSON strings are one. */
function quote(text: string): string {
  return JSON.stringify(text);
}
