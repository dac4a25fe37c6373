import { describe, expect, it } from 'vitest';
import { readCommand } from '../../../src/suites/household/instructions.ts';
import { createHouseholdSuite } from '../../../src/suites/household/suite.ts';

describe('readCommand', () => {
  it.each([
    ['go to cabinet 1', 'go to cabinet 1'],
    ['> open fridge 1', 'open fridge 1'],
    ['**Action:** take mug 1 from desk 2.', 'take mug 1 from desk 2'],
    ['Thought: the mug may be there.\nAction: go to desk 1\n', 'go to desk 1'],
    ['Action: go to desk 1\nThat should do.', 'go to desk 1'],
    ['First I look around.\n\n`look`', 'look'],
    ['```\nput mug 1 in/on desk 1\n```', 'put mug 1 in/on desk 1'],
    ['', ''],
    ['...', ''],
  ])('%j', (answer, command) => {
    expect(readCommand(answer)).toBe(command);
  });

  it('leaves every admissible command as it is', () => {
    const suite = createHouseholdSuite();
    for (const task of suite.splits.val.slice(0, 12)) {
      for (const command of suite.open(task, 0).admissible ?? []) expect(readCommand(command)).toBe(command);
    }
  });
});
