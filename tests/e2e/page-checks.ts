import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { DESKTOP, PHONE, type Site, type Visit } from './browser.ts';

/** Waits until the page shows what it is about. */
export async function settle(page: Page): Promise<void> {
  await page.waitForSelector('main h1');
  await page.waitForFunction(
    () => !/Loading|Opening the run|Reading the (run|suites)|Looking through|Asking what/.test(document.body.textContent ?? ''),
  );
}

/** Runs `use` on a visit, and closes it whatever happens. */
export async function visitSite(site: Site, path: string, use: (visit: Visit) => Promise<void>, options = {}): Promise<void> {
  const one = await site.open(path, options);
  try {
    await settle(one.page);
    await use(one);
  } finally {
    await one.context.close();
  }
}

/** axe in both themes, targets of at least 24 pixels, nothing wider than the window on a desktop and on a phone. */
export async function checkPage({ page, complaints }: Visit): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(({ id, nodes }) => [
      id,
      ...nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`),
    ]);
    expect(found, colorScheme).toEqual([]);
  }
  expect(await smallTargets(page)).toEqual([]);
  expect((await sizeOf(page)).wide).toBeLessThanOrEqual(DESKTOP.width);
  // The workbench of a run scrolls its panels, never the page.
  if (page.url().includes('#/run/')) expect((await sizeOf(page)).high).toBeLessThanOrEqual(DESKTOP.height);
  await page.setViewportSize(PHONE);
  expect((await sizeOf(page)).wide).toBeLessThanOrEqual(PHONE.width);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll('.table-scroll')].filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.textContent),
  );
  expect(cut, 'tables on a phone').toEqual([]);
  expect(complaints).toEqual([]);
}

function sizeOf(page: Page): Promise<{ wide: number; high: number }> {
  return page.evaluate(() => ({ wide: document.documentElement.scrollWidth, high: document.documentElement.scrollHeight }));
}

/** Controls smaller than 24 × 24 pixels. Links inside text are exempt (WCAG 2.5.8, inline). */
function smallTargets(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('button:not(.link), select, summary, [role=option], input:not([type=checkbox], [type=radio])')]
      .filter((element) => {
        const { width, height } = element.getBoundingClientRect();
        return width > 0 && (height < 23.5 || width < 23.5);
      })
      .map((element) => element.outerHTML.slice(0, 120)),
  );
}
