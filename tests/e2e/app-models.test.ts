import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFakeSite, type Site, type Visit } from './browser.ts';
import { checkPage, settle, visitSite } from './page-checks.ts';

/** Models, suites, and what a new run may choose of them, against a fake lab. */
let site: Site;
beforeAll(async () => {
  site = await openFakeSite();
});
afterAll(async () => {
  await site.close();
});

const visit = (path: string, use: (visit: Visit) => Promise<void>): Promise<void> => visitSite(site, path, use);

const CSV = [
  'question,answer,topic,part',
  'What is the capital of Norway?,Oslo,geography,train',
  'What is the capital of Japan?,Tokyo,geography,train',
  'Who wrote Faust?,Goethe,books,val',
  'Who wrote Emma?,Jane Austen,books,holdout',
].join('\n');

async function give(page: Page, name: string, text: string): Promise<void> {
  await page.setInputFiles('input[data-pick=suite]', { name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  await page.getByRole('tab', { name: 'First tasks' }).waitFor();
}

/** Opens the dialog for a model of the catalogue and agrees. */
async function download(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('button', { name }).first().click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Download/ })
    .click();
}

describe('every view', () => {
  const views: readonly (readonly [string, string, ((page: Page) => Promise<void>)?])[] = [
    ['models', '#/models'],
    ['models, first visit', '?fake=empty#/models'],
    ['models that do not run here', '#/models?all=1&family=Llama'],
    ['try-out', '#/models?try=nacre-tiny'],
    [
      'consent',
      '#/models',
      (page) =>
        page
          .getByRole('button', { name: /^Download SmolLM2/ })
          .first()
          .click(),
    ],
    [
      'failed download and server',
      '?fake=download-error,endpoint-error#/models?server=http%3A%2F%2F127.0.0.1%3A8000%2Fv1',
      async (page) => {
        await page.getByRole('button', { name: 'Test the connection' }).click();
        await download(page, /^Download SmolLM2-360M/);
        await page.getByText('limits downloads').waitFor();
      },
    ],
    ['suites', '#/suites'],
    ['suites, one imported', '?fake=suites#/suites'],
    [
      'import',
      '#/suites',
      async (page) => {
        await give(page, 'trivia.csv', CSV);
        await page.getByLabel('Scored by').selectOption('javascript');
        await page.getByRole('button', { name: 'Test on the first rows' }).click();
        await page.getByRole('row').filter({ hasText: 'your answer' }).first().waitFor();
      },
    ],
    [
      'new run at a server',
      '#/new',
      async (page) => {
        await page.getByLabel('Model', { exact: true }).selectOption('server');
        await page.getByLabel('A model', { exact: true }).check();
      },
    ],
  ];
  for (const [name, path, act] of views) {
    it(`${name}: axe finds nothing in either theme, targets are large enough, nothing overflows`, async () => {
      await visit(path, async (opened) => {
        await act?.(opened.page);
        await checkPage(opened);
      });
    });
  }
});

describe('models', () => {
  it('are downloaded after consent, with progress, cancelled, and gone on with', async () => {
    await visit('#/models?q=smollm2-360m', async ({ page, complaints }) => {
      await page
        .getByRole('button', { name: /^Download SmolLM2-360M/ })
        .first()
        .click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('56.8 GiB for this site').waitFor();
      await dialog.getByText('Apache 2.0').waitFor();
      await dialog.getByRole('button', { name: /^Download/ }).click();
      const downloads = page.getByRole('region', { name: 'Downloads' });
      await downloads.getByText(/% · .* MiB of 286 MiB downloaded/).waitFor();
      await downloads.getByRole('button', { name: 'Cancel' }).click();
      await downloads.getByText('Cancelled; what has arrived is kept.').waitFor();
      await downloads.getByRole('button', { name: 'Go on' }).click();
      await page
        .locator('.toast')
        .getByText(/is stored in this browser/)
        .waitFor();
      expect(await downloads.count()).toBe(0);
      await page.getByRole('heading', { name: /^SmolLM2-360M-Instruct-q4f16_1-MLC/ }).waitFor();
      await page.getByRole('row').filter({ hasText: 'stored' }).first().waitFor();
      expect(complaints).toEqual([]);
    });
  });

  it('keep a download alive while another view is open, and show why one failed with a retry', async () => {
    await visit('?fake=download-error#/models?q=smollm2-360m', async ({ page }) => {
      await download(page, /^Download SmolLM2-360M/);
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Probe' }).click();
      await settle(page);
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Models' }).click();
      const note = page.getByRole('region', { name: 'Downloads' }).getByRole('alert');
      await note.getByText('models.example limits downloads').waitFor();
      await note.getByRole('button', { name: 'Retry' }).click();
      await page
        .locator('.toast')
        .getByText(/is stored in this browser/)
        .waitFor();
    });
  });

  it('are found by family and size, with the reason where one cannot run, and the choice in the address', async () => {
    await visit('#/models', async ({ page }) => {
      await page.getByLabel('Family').selectOption('Llama');
      await page.getByLabel('Size').selectOption('large');
      await page.waitForURL(/family=Llama/);
      await page.getByText('No model matches').waitFor();
      await page.getByLabel('only what runs here').uncheck();
      await page
        .getByText(/this machine tells 4 GiB in all/)
        .first()
        .waitFor();
      const row = page.getByRole('row').filter({ hasText: 'this machine tells' }).first();
      expect(await row.getByRole('button').isDisabled()).toBe(true);
      await page.reload();
      await settle(page);
      expect(await page.getByLabel('Family').inputValue()).toBe('Llama');
      expect(await page.getByLabel('Size').inputValue()).toBe('large');
    });
  });

  it('are deleted only after saying what goes and how much, and not while a run works with them', async () => {
    await visit('#/models', async ({ page }) => {
      const remove = page.getByRole('button', { name: 'Delete SmolLM2-135M-Instruct.Q4_1' });
      await remove.click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/This frees 93.5 MiB/).waitFor();
      await dialog.getByText('stays where it is on your device').waitFor();
      await page.keyboard.press('Escape');
      expect(await remove.evaluate((element) => element === document.activeElement)).toBe(true);
      await remove.click();
      await dialog.getByRole('button', { name: 'Delete the model' }).click();
      await page.locator('.toast').getByText('93.5 MiB are free again').waitFor();
      expect(await remove.count()).toBe(0);
    });
    await visit('?fake=in-use#/models', async ({ page }) => {
      await page.getByRole('button', { name: 'Delete SmolLM2-135M-Instruct.Q4_1' }).click();
      await page.getByRole('button', { name: 'Delete the model' }).click();
      await page.getByRole('dialog').getByText('Pause or close the run first.').waitFor();
    });
  });

  it('are verified, and what is damaged is fetched again', async () => {
    await visit('#/models', async ({ page }) => {
      await page.getByRole('button', { name: 'Verify SmolLM2-135M-Instruct.Q4_1' }).click();
      await page.getByText('3 files checked, all right').waitFor();
    });
    await visit('?fake=damaged#/models', async ({ page }) => {
      await page.getByRole('button', { name: 'Verify Qwen2.5-0.5B-Instruct-q4f16_1-MLC' }).click();
      await page.getByText('damaged or missing: params_shard_1.bin').waitFor();
      await page.getByRole('button', { name: 'Download those again' }).click();
      await page
        .locator('.toast')
        .getByText(/is stored in this browser/)
        .waitFor();
    });
  });

  it('answer in a try-out that streams, tells its speed, and stops', async () => {
    await visit('?fake=slow-chat#/models', async ({ page }) => {
      await page.getByRole('button', { name: 'Try nacre-tiny on Nacre' }).click();
      await page.waitForURL(/try=nacre-tiny/);
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Message').fill('Good morning');
      await page.keyboard.press('Enter');
      await dialog.getByText(/^You said: Good/).waitFor();
      await dialog.getByRole('button', { name: 'Stop' }).click();
      await dialog.getByText(/tokens\/s · stopped/).waitFor();
      await dialog.getByLabel('Message').fill('Again');
      await page.keyboard.press('Enter');
      await dialog.getByText(/That is all I can say about it\.$/).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(page.url()).not.toContain('try=');
    });
  });

  it('come from a file, from a dropped one, and from a link that is checked first', async () => {
    await visit('#/models', async ({ page }) => {
      const file = (name: string) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from('GGUF') });
      await page.setInputFiles('input[data-pick=gguf]', file('mine.gguf'));
      await page.getByRole('heading', { name: 'mine', exact: true }).waitFor();
      await page.setInputFiles('input[data-pick=gguf]', file('notes.txt'));
      await page.getByText('"notes.txt" is no GGUF file.').waitFor();
      await page.getByLabel('Link to a GGUF file').fill('huggingface.co/model');
      await page.keyboard.press('Enter');
      await page.getByText('is no link to a GGUF file').waitFor();
      await page.getByLabel('Link to a GGUF file').fill('https://huggingface.co/someone/model/blob/main/small.Q4_0.gguf');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByText('huggingface.co', { exact: true }).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    });
    await visit('#/', async ({ page }) => {
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'dropped.gguf', mimeType: '', buffer: Buffer.from('GGUF') });
      await page.waitForURL(/#\/models/);
      await page.getByRole('heading', { name: 'dropped' }).waitFor();
    });
  });

  it('of a server are listed after a test of the connection, whose failure says what to do', async () => {
    await visit('#/models', async ({ page }) => {
      await page.getByLabel('Base URL').fill('127.0.0.1:8000');
      await page.getByLabel('Key, if it wants one').fill('secret-key');
      await page.getByRole('button', { name: 'Test the connection' }).click();
      await page.getByText(/127\.0\.0\.1:8000 answered in \d+ ms with 1 model/).waitFor();
      await page.getByRole('heading', { name: 'fake-chat-private at 127.0.0.1:8000' }).waitFor();
      expect(await page.getByLabel('Base URL').inputValue()).toBe('http://127.0.0.1:8000/v1');
      expect(decodeURIComponent(page.url())).toContain('server=http://127.0.0.1:8000/v1');
      expect(page.url()).not.toContain('secret');
      expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain('secret');
    });
    await visit('?fake=endpoint-error#/models', async ({ page }) => {
      await page.getByLabel('Base URL').fill('http://127.0.0.1:8000/v1');
      await page.getByRole('button', { name: 'Test the connection' }).click();
      await page.getByText(/does not let pages from .* read its answers \(CORS\)/).waitFor();
      await page.getByText(/OLLAMA_ORIGINS/).waitFor();
    });
  });

  it('that cannot be read leave the rest of the page usable', async () => {
    await visit('?fake=models-error#/models', async ({ page }) => {
      await page.getByText('The stored models cannot be read.').waitFor();
      await page.getByRole('button', { name: 'GGUF file …' }).waitFor();
    });
  });
});

describe('suites', () => {
  it('are made from a table: mapped, split, scored, stored, and chosen for a run', async () => {
    await visit('#/suites', async ({ page, complaints }) => {
      await give(page, 'trivia.csv', CSV);
      await page.getByText('What is the capital of Norway?').waitFor();
      await page.getByLabel('by a column').check();
      await page.getByLabel('Column with the split').selectOption('part');
      await page.getByText(/^✕ 1 error$/).waitFor();
      await page.getByRole('tab', { name: /Problems/ }).click();
      await page.getByText('row 4 (line 5), column "part":').waitFor();
      expect(await page.getByRole('button', { name: /^Import \d/ }).isDisabled()).toBe(true);
      await page.getByLabel('Other words').fill('holdout=test');
      await page.keyboard.press('Tab');
      await page.getByText('nothing wrong').waitFor();
      await page.getByLabel('Title').fill('Trivia');
      await page.getByRole('button', { name: 'Import 4 tasks' }).click();
      await page.locator('.toast').getByText('"Trivia" was imported.').waitFor();
      const row = page.getByRole('row').filter({ hasText: 'Trivia' });
      expect(await row.getByRole('cell').allTextContents()).toEqual(expect.arrayContaining(['2', '1', '0', 'exact']));
      await row.getByRole('link', { name: 'New run on Trivia' }).click();
      await settle(page);
      expect(await page.getByLabel('Suite', { exact: true }).inputValue()).toBe('imported:trivia');
      await page.getByText('A critic of kind "model" needs the field model.').first().waitFor();
      expect(await page.getByRole('button', { name: 'Run this experiment' }).isDisabled()).toBe(true);
      expect(complaints).toEqual([]);
    });
  });

  it('take columns by chips, and several accepted answers', async () => {
    await visit('#/suites', async ({ page }) => {
      await give(page, 'trivia.csv', CSV);
      const template = page.getByLabel('Question', { exact: true });
      await template.fill('Topic: ');
      await page.getByRole('button', { name: 'Insert the column topic' }).click();
      expect(await template.inputValue()).toBe('Topic: {{topic}}');
      await page.getByText('Topic: geography').first().waitFor();
      await page.getByRole('button', { name: 'topic', exact: true }).click();
      await page.getByRole('tab', { name: /Problems/ }).click();
      await page.getByText('holds the answer, and the input shows it').first().waitFor();
    });
  });

  it('try a script on the first rows before it is stored, and show the line where it fails', async () => {
    await visit('#/suites', async ({ page }) => {
      await give(page, 'trivia.csv', CSV);
      await page.getByLabel('Scored by').selectOption('javascript');
      await page.getByRole('button', { name: 'Test on the first rows' }).click();
      const accepted = page.getByRole('row').filter({ hasText: 'accepted answer' });
      await accepted.first().waitFor();
      expect(await accepted.getByRole('img', { name: 'success' }).count()).toBe(4);
      await page.getByLabel('JavaScript').fill('function score() {\n  throw new Error("no");\n}');
      await page.getByRole('button', { name: 'Test on the first rows' }).click();
      await page.getByText('The scorer failed at line 2.').first().waitFor();
    });
  });

  it('are read from pasted records and from a file dropped elsewhere; what is no table says so', async () => {
    await visit('#/suites', async ({ page }) => {
      await page.getByText('Or paste the records').click();
      await page.getByLabel('Records to import').fill('question,answer\n"half, quoted,4\n');
      await page.getByRole('button', { name: 'Read what was pasted' }).click();
      await page.getByText(/a quoted cell is never closed/).waitFor();
    });
    await visit('#/', async ({ page }) => {
      const buffer = Buffer.from('[{"question":"1 + 1?","answer":"2"},{"question":"2 + 2?","answer":"4"}]');
      await page.locator('input[type=file]').first().setInputFiles({ name: 'sums.json', mimeType: 'application/json', buffer });
      await page.waitForURL(/#\/suites/);
      await page.getByText('A table of questions: 2 records, 2 columns').waitFor();
    });
  });

  it('of the same id are replaced only when asked to, and deleted only after a confirmation', async () => {
    await visit('?fake=suites#/suites', async ({ page }) => {
      await give(page, 'trivia.csv', CSV);
      await page.getByLabel('Id', { exact: true }).last().fill('capitals');
      await page.getByRole('button', { name: 'Import 4 tasks' }).click();
      await page.getByText('There is another suite "capitals"').waitFor();
      await page.getByRole('button', { name: 'Replace the old one' }).click();
      await page.locator('.toast').getByText('was imported').waitFor();
      await page.getByRole('button', { name: 'Delete trivia' }).click();
      await page.getByRole('dialog').getByText('4 tasks go from this').waitFor();
      await page.getByRole('button', { name: 'Delete the suite' }).click();
      await page.getByText('Suites you import below will be listed here.').waitFor();
    });
  });
});

describe('a new run', () => {
  it('chooses target and critic apart, with a server between them, in form and JSON alike', async () => {
    await visit('?fake=fast#/new', async ({ page }) => {
      await page.getByLabel('Model', { exact: true }).selectOption({ label: 'SmolLM2-135M-Instruct.Q4_1 · llama.cpp' });
      await page.getByLabel('A model', { exact: true }).check();
      await page.getByLabel('Model', { exact: true }).last().selectOption('server');
      await page.getByLabel('Model at the server').fill('big-critic');
      await page.getByLabel('Requests at a time').fill('0');
      await page.getByText('The least is 1.').first().waitFor();
      await page.getByLabel('Requests at a time').fill('2');
      await page.getByRole('tab', { name: 'JSON' }).click();
      const config = JSON.parse(await page.getByLabel('Configuration as JSON').inputValue());
      expect(config.target).toEqual({ model: 'SmolLM2-135M-Instruct.Q4_1', runtime: 'llamacpp', backend: 'auto' });
      expect(config.critic).toMatchObject({ kind: 'model', model: 'endpoint' });
      expect(config.critic.endpoint).toMatchObject({ baseUrl: 'http://127.0.0.1:8000/v1', model: 'big-critic', parallel: 2 });
      await page.getByRole('tab', { name: 'Form' }).click();
      await page.getByRole('button', { name: 'Run this experiment' }).click();
      await page.waitForURL(/#\/run\//);
    });
  });

  it('on questions asks for a critic that is a model, and goes back to the analyst on household tasks', async () => {
    await visit('?fake=suites#/new', async ({ page }) => {
      await page.getByText('no language model criticises').waitFor();
      await page.getByLabel('Suite', { exact: true }).selectOption('imported:capitals');
      await page.getByText('the analyst knows household tasks only').waitFor();
      expect(await page.getByLabel('Training', { exact: true }).inputValue()).toBe('2');
      expect(await page.getByRole('button', { name: 'Run this experiment' }).isEnabled()).toBe(true);
      await page.getByLabel('Suite', { exact: true }).selectOption('household');
      await page.getByLabel('Analyst (a heuristic)').check();
      await page.getByText('no language model criticises').waitFor();
      await page.getByLabel('Training', { exact: true }).fill('12');
      expect(await page.getByLabel('Training', { exact: true }).evaluate((field) => field === document.activeElement)).toBe(true);
    });
  });

  it('says when the suite of a link is not in this browser', async () => {
    await visit('?fake=suites#/suites', async ({ page }) => {
      await page.getByRole('link', { name: 'New run on Capitals of the world' }).click();
      await settle(page);
      const hash = new URL(page.url()).hash;
      await page.goto(`${site.url}?fake=empty${hash}`);
      await settle(page);
      await page.getByText('There is no imported suite "capitals" in this browser').waitFor();
    });
  });
});
