import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TextualResult } from '../../src/lab/result.ts';
import { openSite, type Site } from './browser.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The quick experiment must be over long before this; it is a limit for the test, not a claim. */
const RUN_LIMIT = 240_000;

let site: Site;
let folder: string;

beforeAll(async () => {
  site = await openSite();
  folder = mkdtempSync(join(tmpdir(), 'nacre-e2e-'));
});

afterAll(async () => {
  await site?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function startQuick(page: Page, seed: number): Promise<void> {
  await page.getByLabel('Seed').fill(String(seed));
  await page.getByRole('button', { name: /run the quick experiment/i }).click();
  await page.waitForURL(/#\/run\//);
}

async function untilFinished(page: Page): Promise<void> {
  await page
    .getByText(/^Finished after \d+ steps/)
    .first()
    .waitFor({ timeout: RUN_LIMIT });
}

async function exported(page: Page, button: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: `Export ${button}`, exact: true }).click(),
  ]);
  return readFileSync(await download.path(), 'utf8');
}

async function result(page: Page): Promise<TextualResult> {
  return JSON.parse(await exported(page, 'JSON')) as TextualResult;
}

function nacre(...args: string[]): unknown {
  const stdout = execFileSync(process.execPath, ['scripts/nacre.mjs', ...args, '--json'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return JSON.parse(stdout.toString());
}

describe('the quick experiment', () => {
  it('runs from the home page to a better context, and the command line repeats its figures', async () => {
    const began = performance.now();
    const { page, context, complaints } = await site.open('');
    await startQuick(page, 1);
    await untilFinished(page);
    const seconds = (performance.now() - began) / 1000;
    const report = await result(page);
    const { initial, best } = report.textual;
    console.log(
      `quick experiment: ${seconds.toFixed(1)} s from opening the page to the final test score (${report.seconds.toFixed(1)} s of work); ` +
        `test ${initial.scores.test?.rate.toFixed(3)} → ${best.scores.test?.rate.toFixed(3)}; longest main-thread task ${report.longestTaskMs.toFixed(0)} ms`,
    );
    expect(complaints).toEqual([]);
    expect(report).toMatchObject({ schema: 'nacre.result/1', kind: 'textual', seed: 1, model: { id: 'nacre-tiny' } });
    expect(best.scores.test!.rate).toBeGreaterThanOrEqual(2 * initial.scores.test!.rate);
    expect(best.scores.unseen!.rate).toBeGreaterThan(initial.scores.unseen!.rate);
    expect(report.textual.steps.length).toBeGreaterThan(0);

    const skill = join(folder, 'SKILL.md');
    writeFileSync(skill, await exported(page, 'SKILL.md'));
    for (const split of ['test', 'unseen', 'val'] as const) {
      const score = best.scores[split]!;
      const repeated = nacre('evaluate', '--split', split, '--n', String(score.n), '--context', skill);
      expect(repeated).toMatchObject({ n: score.n, success: score.success, rate: score.rate });
    }
    const headless = nacre('run', 'public/examples/textual-quick.json', '--out', join(folder, 'run'), '--seed', '1') as TextualResult;
    expect(headless.textual.best).toEqual(best);
    expect(headless.textual.steps).toEqual(report.textual.steps);
    await context.close();
  });

  it('survives reloads in mid-run and ends in the same context and scores', async () => {
    const whole = await site.open('');
    await startQuick(whole.page, 2);
    await untilFinished(whole.page);
    const expected = await result(whole.page);
    await whole.context.close();

    const broken = await site.open('');
    await startQuick(broken.page, 2);
    for (let reload = 0; reload < 4; reload++) {
      await broken.page.waitForTimeout(300 + 450 * reload);
      await broken.page.reload();
    }
    await untilFinished(broken.page);
    const { textual } = await result(broken.page);
    expect(textual.best).toEqual(expected.textual.best);
    expect(textual.initial).toEqual(expected.textual.initial);
    expect(textual.steps).toEqual(expected.textual.steps);
    await broken.context.close();
  });

  it('doubles test success in at least three of four seeds', async () => {
    const rates = [1, 2, 3, 4].map((seed) => {
      const { textual } = nacre(
        'run',
        'public/examples/textual-quick.json',
        '--out',
        join(folder, `seed-${seed}`),
        '--seed',
        String(seed),
      ) as TextualResult;
      return { seed, initial: textual.initial.scores.test!.rate, best: textual.best.scores.test!.rate };
    });
    console.log(rates.map(({ seed, initial, best }) => `seed ${seed}: ${initial.toFixed(3)} → ${best.toFixed(3)}`).join('; '));
    expect(rates.filter(({ initial, best }) => best >= 2 * initial).length).toBeGreaterThanOrEqual(3);
  });
});

describe('the first load', () => {
  it('needs at most 150 kB of compressed script and style, and no model', async () => {
    const { page, context } = await site.open('');
    await page.getByRole('button', { name: /run the quick experiment/i }).waitFor();
    const urls = await page.evaluate(() => performance.getEntriesByType('resource').map((entry) => entry.name));
    const sizes = await Promise.all(
      urls
        .filter((url) => /\.(js|css)$/.test(new URL(url).pathname) && !/\/(lab|engine)-/.test(url))
        .map(async (url) => gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    console.log(`first load: ${(total / 1000).toFixed(1)} kB of compressed script and style in ${sizes.length} files`);
    expect(sizes.length).toBeGreaterThan(0);
    expect(total).toBeLessThanOrEqual(150_000);
    expect(urls.filter((url) => url.includes('/models/'))).toEqual([]);
    await context.close();
  });
});
