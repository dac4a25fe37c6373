import { describe, expect, it } from 'vitest';
import { COMMANDS, helpText, idList, numberOption, parseArgs, requiredOption, seedOption, textOption } from '../../../scripts/cli/args.ts';

describe('parseArgs', () => {
  it('reads options in both forms, flags and arguments', () => {
    expect(parseArgs(['cluster', 'points.json', '--min-cluster-size', '7', '--min-samples=3', '--json'])).toEqual({
      command: 'cluster',
      positional: ['points.json'],
      options: { 'min-cluster-size': '7', 'min-samples': '3', json: true },
    });
  });

  it('takes values that begin with a dash or hold an equals sign', () => {
    const args = parseArgs(['generate', '--seed', '-5', '--prompt=a=b']);
    expect([seedOption(args), textOption(args, 'prompt')]).toEqual([-5, 'a=b']);
    expect(textOption(parseArgs(['generate', '--prompt=--hi']), 'prompt')).toBe('--hi');
  });

  it('takes options before the command', () => {
    expect(parseArgs(['--json', '--n', '3', 'evaluate', '--k=2'])).toEqual(parseArgs(['evaluate', '--json', '--n', '3', '--k', '2']));
    expect(parseArgs(['--prompt', 'run', 'generate'])).toMatchObject({ command: 'generate', options: { prompt: 'run' } });
    expect(() => parseArgs(['--json'])).toThrow(/No command/);
  });

  it.each([
    [[], 'No command', 'Commands: run'],
    [['genrate'], 'Unknown command "genrate"', 'Did you mean generate?'],
    [['dance'], 'Unknown command "dance"', 'Commands: run'],
    [['__proto__'], 'Unknown command', 'Commands: run'],
    [['generate', '--promt', 'x'], 'no option --promt', 'Did you mean --prompt?'],
    [['generate', '--whatever', 'x'], 'no option --whatever', 'Options of generate: --model'],
    [['generate', '--constructor', 'x'], 'no option --constructor', 'Options of generate'],
    [['generate', '--prompt'], '--prompt needs a value', 'text to go on from'],
    [['generate', '--prompt', '--json'], '--prompt needs a value', 'text to go on from'],
    [['generate', '--json=yes'], '--json takes no value', 'alone'],
    [['generate', '--seed', '1', '--seed', '2'], '--seed was given twice', 'once'],
    [['generate', '--backend', 'gpu'], '--backend cannot be "gpu"', 'cpu, webgpu'],
    [['generate', 'stray'], 'no use for "stray"', 'nacre generate'],
    [['cluster'], 'cluster needs FILE.json', 'nacre cluster FILE.json'],
  ])('refuses %j', (argv, message, hint) => {
    expect(() => parseArgs(argv)).toThrow(
      expect.objectContaining({
        code: 'bad-usage',
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      }) as Error,
    );
  });

  it('asks for no arguments when help is wanted', () => {
    expect(parseArgs(['cluster', '--help']).options).toEqual({ help: true });
    expect(helpText('cluster')).toContain('--min-samples');
    for (const name of Object.keys(COMMANDS)) expect(helpText()).toContain(name);
  });
});

describe('values', () => {
  const args = parseArgs(['generate', '--max-tokens', '12', '--temperature', '0.5']);
  const whole = { default: 3, min: 1, max: 100, integer: true };

  it('are numbers within their range', () => {
    expect(numberOption(args, 'max-tokens', whole)).toBe(12);
    expect(numberOption(args, 'top-p', { default: 1, min: 0, max: 1 })).toBe(1);
    expect(seedOption(args)).toBe(0);
  });

  it.each(['0', '101', '1.5', 'x', '', ' ', '1e400', 'NaN'])('"%s" is refused with the range', (value) => {
    const bad = parseArgs(['generate', `--max-tokens=${value}`]);
    expect(() => numberOption(bad, 'max-tokens', whole)).toThrow(
      expect.objectContaining({ message: `--max-tokens is "${value}".`, hint: 'Give a whole number from 1 to 100.' }) as Error,
    );
  });

  it('are named when they are needed and missing', () => {
    expect(() => requiredOption(args, 'prompt')).toThrow(/generate needs --prompt/);
  });

  it('hold token ids', () => {
    expect(idList('ids', '1, 2,3')).toEqual([1, 2, 3]);
    for (const bad of ['', '1,,2', '1,-2', '1.5', '1,x', '99999999999999999999']) expect(() => idList('ids', bad)).toThrow(/--ids holds/);
  });
});
