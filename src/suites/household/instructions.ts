/** How to act in a household game, for models that were not trained on them. Says nothing of how to do it well. */
export const HOUSEHOLD_INSTRUCTIONS = `You act in a small household to fulfil a task. Each message tells what you see. Answer with exactly one command and nothing else:
go to RECEPTACLE
open RECEPTACLE
close RECEPTACLE
take OBJECT from RECEPTACLE
put OBJECT in/on RECEPTACLE
clean OBJECT with RECEPTACLE
heat OBJECT with RECEPTACLE
cool OBJECT with RECEPTACLE
use OBJECT
examine THING
look
inventory
done
Names carry their numbers, such as "cabinet 2" or "mug 1". The game ends by itself when the task is fulfilled; "done" gives up.`;

/**
 * The command in an answer of a model that says more than the command: what follows the last "Action:", else the last line that
 * holds words; without quotes, Markdown marks and a closing full stop.
 */
export function readCommand(answer: string): string {
  const lines = answer.split('\n').filter((line) => /\w/.test(line));
  const named = lines.filter((line) => /^\W*action\W*:/i.test(line)).at(-1);
  const line = named === undefined ? (lines.at(-1) ?? '') : named.replace(/^\W*action\W*:/i, '');
  return line
    .replace(/^[\s>*`"'-]+/, '')
    .replace(/[\s*`"'.]+$/, '')
    .trim();
}
