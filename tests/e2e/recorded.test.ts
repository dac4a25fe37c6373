import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSite, type Site } from './browser.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(async () => {
  await site.close();
});

describe('the recorded run that the page ships (npm run record:example)', () => {
  it('opens from the start page, labelled as recorded, with its steps, transcripts and result; and only one copy is kept', async () => {
    const { page, context, complaints } = await site.open('#/');
    const open = page.getByRole('button', { name: 'Look at a recorded run' });
    await open.click();
    await page.getByRole('heading', { name: 'Before and after' }).waitFor();
    expect(await page.locator('.run-title').textContent()).toContain('recorded');
    expect(await page.getByRole('button', { name: /Pause|Resume|Stop/ }).count()).toBe(0);
    await page.keyboard.press('[');
    await page.locator('.strip button', { hasText: /^Step 1/ }).click();
    await page.locator('[role=grid] button').first().click();
    await page.getByRole('dialog').getByText('Your task is to').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Home' }).click();
    await open.click();
    await page.getByRole('heading', { name: 'Before and after' }).waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    await page.locator('.runs tbody tr').first().waitFor();
    expect(await page.locator('.runs tbody tr').count()).toBe(1);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
