import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFakeSite, type Site, type Visit } from './browser.ts';
import { checkPage, settle, visitSite } from './page-checks.ts';

/** The interface alone, against a fake lab: what a person can reach, read and do, and what they see when something fails. */
let site: Site;
beforeAll(async () => {
  site = await openFakeSite();
});
afterAll(async () => {
  await site.close();
});

const ROUTES = [
  ['home', '#/'],
  ['home, first visit', '?fake=empty#/'],
  ['new run', '#/new'],
  ['result', '#/run/done'],
  ['rollouts', '#/run/done?step=3'],
  ['evidence', '#/run/done?step=3&tab=evidence'],
  ['edits', '#/run/done?step=3&tab=edits'],
  ['gate', '#/run/done?step=3&tab=gate'],
  ['transcript', '#/run/done?step=3&cell=s3%2Ftrain-005%2Fk0&card=s3-card0'],
  ['paused run', '#/run/midway'],
  ['failed run', '#/run/broken'],
  ['probe', '#/probe'],
  ['nowhere', '#/nowhere'],
] as const;

const visit = (path: string, use: (visit: Visit) => Promise<void>, options = {}): Promise<void> => visitSite(site, path, use, options);

describe('every route', () => {
  for (const [name, path] of ROUTES) {
    it(`${name}: axe finds nothing in either theme, targets are large enough, nothing overflows`, async () => {
      await visit(path, checkPage);
    });
  }
});

describe('the start page', () => {
  it('starts the quick experiment with the seed that was typed, and follows it to its result', async () => {
    await visit('?fake=fast#/', async ({ page, complaints }) => {
      await page.getByLabel('Seed', { exact: true }).fill('7');
      await page.getByRole('button', { name: 'Run the quick experiment' }).click();
      await page.waitForURL(/#\/run\/run\d+/);
      await page.getByText('seed 7').waitFor();
      await page.getByRole('heading', { name: 'Before and after' }).waitFor();
      expect(await page.title()).toMatch(/^Done 0\.\d\d · Quick/);
      await page.getByText(/Success rose from/).waitFor();
      expect(complaints).toEqual([]);
    });
  });

  it('names the field when the seed is wrong, and stays usable', async () => {
    await visit('#/', async ({ page }) => {
      await page.getByLabel('Seed', { exact: true }).fill('seven');
      await page.getByRole('button', { name: 'Run the quick experiment' }).click();
      const note = page.getByRole('alert');
      await note.getByText('The seed "seven" is not a whole number').waitFor();
      await note.getByRole('button', { name: 'Dismiss' }).click();
      expect(await note.count()).toBe(0);
    });
  });

  it('deletes a run only after saying what goes, and says what was freed', async () => {
    await visit('#/', async ({ page }) => {
      const remove = page.getByRole('button', { name: 'Delete A run that failed, seed 3' });
      await remove.click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('This frees about').waitFor();
      await page.keyboard.press('Escape');
      expect(await dialog.count()).toBe(0);
      expect(await remove.evaluate((element) => element === document.activeElement)).toBe(true);
      await remove.click();
      await dialog.getByRole('button', { name: 'Delete the run' }).click();
      await page
        .locator('.toast')
        .getByText(/was deleted; .* are free again/)
        .waitFor();
      expect(await remove.count()).toBe(0);
    });
  });

  it('keeps a failed deletion in its dialog, with the remedy', async () => {
    await visit('?fake=delete-error#/', async ({ page }) => {
      await page.getByRole('button', { name: 'Delete A run that failed, seed 3' }).click();
      await page.getByRole('button', { name: 'Delete the run' }).click();
      await page.getByRole('dialog').getByText('Close that tab first.').waitFor();
    });
  });

  it('shows a panel that failed with a retry, and the rest of the page', async () => {
    await visit('?fake=machine-error#/', async ({ page }) => {
      await page.getByText('The lab worker could not start.').waitFor();
      expect(await page.getByRole('link', { name: 'A run that failed' }).count()).toBe(1);
      expect(await page.getByRole('button', { name: 'Run the quick experiment' }).isEnabled()).toBe(true);
    });
  });

  it('says what is wrong with a dropped file', async () => {
    await visit('#/', async ({ page }) => {
      await page.setInputFiles('input[type=file]', { name: 'run.zip', mimeType: 'application/zip', buffer: Buffer.from('PK') });
      await page.getByText('The bundle cannot be used: manifest.json is missing.').waitFor();
    });
  });

  it('opens a dropped configuration for editing', async () => {
    await visit('#/', async ({ page }) => {
      const config = { schema: 'nacre.experiment/1', kind: 'textual', name: 'Dropped', suite: { id: 'household' } };
      await page.setInputFiles('input[type=file]', {
        name: 'mine.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify(config)),
      });
      await page.waitForURL(/#\/new\?c=/);
      await page.getByLabel('Name').waitFor();
      expect(await page.getByLabel('Name').inputValue()).toBe('Dropped');
    });
  });
});

describe('a new run', () => {
  it('marks wrong fields, refuses to start, and starts when they are right', async () => {
    await visit('?fake=fast#/new', async ({ page }) => {
      const start = page.getByRole('button', { name: 'Run this experiment' });
      await page.getByLabel('Epochs').fill('none');
      await page.getByLabel('Validation', { exact: true }).fill('0');
      await page.getByText('2 fields to correct').waitFor();
      expect(await start.isDisabled()).toBe(true);
      expect(await page.getByLabel('Epochs').getAttribute('aria-invalid')).toBe('true');
      await page.getByLabel('Epochs').fill('2');
      await page.getByLabel('Validation', { exact: true }).fill('20');
      await start.click();
      await page.waitForURL(/#\/run\//);
    });
  });

  it('keeps what is edited in the address', async () => {
    await visit('#/new', async ({ page }) => {
      await page.getByLabel('Seed', { exact: true }).fill('4711');
      await page.waitForURL(/c=/);
      await page.reload();
      await settle(page);
      expect(await page.getByLabel('Seed', { exact: true }).inputValue()).toBe('4711');
      await page.getByRole('tab', { name: 'JSON' }).click();
      expect(await page.getByLabel('Configuration as JSON').inputValue()).toContain('"seed": 4711');
    });
  });

  it('says what a broken link is, and goes on with the defaults', async () => {
    await visit('#/new?c=1broken', async ({ page }) => {
      await page.getByText('The configuration in this link cannot be read').waitFor();
    });
  });
});

describe('the run page', () => {
  it('is walked by keyboard: grid, transcript, siblings, back', async () => {
    await visit('#/run/done?step=3', async ({ page }) => {
      const cells = page.locator('[role=grid] button');
      await cells.first().focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowDown');
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-cell'));
      const cell = await focused();
      expect(cell).toMatch(/\.1$/);
      expect(await page.locator('[role=grid] button[tabindex="0"]').count()).toBe(1);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByText('Your task is to').waitFor();
      expect(page.url()).toContain('cell=');
      await page.keyboard.press('Escape');
      expect(page.url()).not.toContain('cell=');
      expect(await focused()).toBe(cell);
      await page.keyboard.press('Control+End');
      expect(await focused()).toMatch(/\.3$/);
    });
  });

  it('keeps filter and search in the address, and says when nothing matches', async () => {
    await visit('#/run/done?step=3', async ({ page }) => {
      const all = await page.locator('[role=grid] button').count();
      await page.getByLabel('✕ Failure').check();
      await page.waitForURL(/filter=failure/);
      const failures = await page.locator('[role=grid] button').count();
      expect(failures).toBeGreaterThan(0);
      expect(failures).toBeLessThan(all);
      await page.getByLabel('Search tasks').fill('no such task');
      await page.getByText('No task matches.').waitFor();
      await page.reload();
      await settle(page);
      await page.getByText('No task matches.').waitFor();
      expect(await page.getByLabel('Search tasks').inputValue()).toBe('no such task');
    });
  });

  it('leads from a card to its quote in the transcript', async () => {
    await visit('#/run/done?step=3&tab=evidence', async ({ page }) => {
      await page
        .getByRole('button', { name: /^Open the transcript at/ })
        .first()
        .click();
      const quote = page.getByRole('dialog').locator('mark.chosen');
      await quote.waitFor();
      expect(await quote.textContent()).toBe('The cabinet 1 is closed.');
    });
  });

  it('pauses and resumes with the space bar, and stops only after a confirmation', async () => {
    await visit('#/run/midway', async ({ page }) => {
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      await page.keyboard.press('Space');
      await page.getByRole('button', { name: 'Pause' }).waitFor();
      await page.keyboard.press('Space');
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      await page.getByRole('button', { name: 'Stop …' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Stop the run' }).click();
      await page.locator('.run-title .badge', { hasText: 'stopped early' }).waitFor();
      expect(await page.title()).toMatch(/^Stopped/);
    });
  });

  it('goes one step and pauses again', async () => {
    await visit('?fake=fast#/run/midway', async ({ page }) => {
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      const ended = page.locator('.strip [role=img]:not(.running)');
      const before = await ended.count();
      await page.keyboard.press('.');
      await ended.nth(before).waitFor();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(await page.locator('.run-title .badge').first().textContent()).toContain('paused');
    });
  });

  it('says so when the run belongs to another tab, and offers no controls', async () => {
    await visit('?fake=read-only#/run/midway', async ({ page }) => {
      await page.getByText('read only: it runs in another tab').waitFor();
      expect(await page.getByRole('button', { name: 'Resume' }).count()).toBe(0);
    });
  });

  it('shows why a run failed while it ran, with the remedy, and keeps what was done', async () => {
    await visit('?fake=fast,fail-midway#/', async ({ page }) => {
      await page.getByRole('button', { name: 'Run the quick experiment' }).click();
      await page.getByText('Free space on the start page, then resume.').waitFor();
      expect(await page.locator('[role=grid] button').count()).toBeGreaterThan(0);
    });
  });

  it('shows a run that cannot be opened, and one that is not there', async () => {
    await visit('?fake=open-error#/run/done', async ({ page }) => {
      await page.getByText('cannot be read').waitFor();
    });
    await visit('#/run/nowhere', async ({ page }) => {
      await page.getByText('There is no run "nowhere" in this browser.').waitFor();
    });
  });

  it('speaks at the end of a step, not before', async () => {
    await visit('#/run/midway', async ({ page }) => {
      const live = page.locator('[role=status][aria-live=polite]');
      expect(await live.textContent()).toBe('');
      await page.keyboard.press('Space');
      await page.waitForFunction(() => /^Step \d/.test(document.querySelector('[role=status][aria-live=polite]')?.textContent ?? ''));
    });
  });

  it('reads a chart by its points, and as a table', async () => {
    await visit('#/run/done', async ({ page }) => {
      const points = page.getByRole('figure', { name: 'Validation' }).locator('.point');
      await points.first().focus();
      await page.keyboard.press('ArrowRight');
      expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/^reference: after step 1/);
      await page.getByRole('figure', { name: 'Validation' }).getByRole('button', { name: 'Table' }).click();
      expect(await page.getByRole('figure', { name: 'Validation' }).locator('tbody tr').count()).toBe(8);
    });
  });

  it('saves what is exported', async () => {
    await visit('#/run/done', async ({ page }) => {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export SKILL.md' }).click();
      expect((await download).suggestedFilename()).toBe('done-skill.txt');
      const picture = page.waitForEvent('download');
      await page.getByRole('figure', { name: 'Validation' }).getByRole('button', { name: 'PNG' }).click();
      expect((await picture).suggestedFilename()).toBe('validation.png');
    });
  });
});

describe('the probe', () => {
  it('moves among tokens by arrows, with the choice in the address', async () => {
    await visit('#/probe', async ({ page }) => {
      await page.getByRole('option', { selected: true }).focus();
      await page.keyboard.press('Home');
      await page.getByText('Nothing stands before the first token, so no layer').waitFor();
      await page.keyboard.press('ArrowRight');
      await page.waitForURL(/token=1/);
      expect(await page.getByRole('option', { selected: true }).getAttribute('data-token')).toBe('1');
      await page.getByRole('figure', { name: 'Layers' }).waitFor();
    });
  });

  it('answers an empty text with what to do', async () => {
    await visit('#/probe', async ({ page }) => {
      await page.getByRole('textbox', { name: 'Text to probe' }).fill('');
      await page.getByText('Type a few words.').waitFor();
      await page.getByRole('button', { name: 'The same without it' }).click();
      await page.getByRole('alert').waitFor({ state: 'detached' });
      await page.getByRole('option', { name: /plate/ }).waitFor();
    });
  });
});

describe('commands', () => {
  it('are found in the palette, run from it, and give the focus back', async () => {
    await visit('#/', async ({ page }) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Find a command' }).fill('probe');
      await page.keyboard.press('Enter');
      await page.waitForURL(/#\/probe/);
      await page.keyboard.press('Control+k');
      await page.keyboard.press('Escape');
      expect(await page.getByRole('dialog').count()).toBe(0);
    });
  });

  it('are listed with their keys, and leave typing alone', async () => {
    await visit('#/', async ({ page }) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByText('Probe a text').waitFor();
      await page.keyboard.press('Escape');
      await page.getByLabel('Seed', { exact: true }).focus();
      await page.keyboard.press('p');
      expect(page.url()).not.toContain('probe');
    });
  });

  it('switch the theme, and the page remembers it', async () => {
    await visit('#/', async ({ page }) => {
      const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      const light = await ground();
      await page.getByLabel('Dark').check();
      const dark = await ground();
      expect(dark).not.toBe(light);
      await page.reload();
      await settle(page);
      expect(await ground()).toBe(dark);
    });
  });
});

describe('what is loaded', () => {
  it('is small at first, and only from this site', async () => {
    const { page, context } = await site.open('#/');
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.reload();
    await settle(page);
    const bytes = await page.evaluate(async () => {
      const own = performance.getEntriesByType('resource').filter(({ name }) => /\.(js|css)$/.test(name));
      const sizes = await Promise.all(
        own.map(async ({ name }) => {
          const body = (await fetch(name)).body as ReadableStream<Uint8Array<ArrayBuffer>>;
          return (await new Response(body.pipeThrough(new CompressionStream('gzip'))).arrayBuffer()).byteLength;
        }),
      );
      return sizes.reduce((sum, size) => sum + size, 0);
    });
    expect(bytes).toBeLessThan(150_000);
    expect(requests.filter((url) => !url.startsWith(site.url))).toEqual([]);
    await context.close();
  });

  it('is held to its policy: no inline script runs, no evaluation', async () => {
    const { page, context } = await site.open('#/');
    await settle(page);
    const outcome = await page.evaluate(async () => {
      const script = document.createElement('script');
      script.textContent = 'window.wasRun = true';
      document.head.append(script);
      // In a task of its own: the protocol that runs this function suspends the policy for it.
      const evaluated = await new Promise<boolean>((resolve) => {
        setTimeout(() => {
          try {
            resolve(new Function('return true')());
          } catch {
            resolve(false);
          }
        });
      });
      return { inline: 'wasRun' in window, evaluated };
    });
    expect(outcome).toEqual({ inline: false, evaluated: false });
    await context.close();
  });
});
