import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.js';
import { GRAPHS, HOSTILE, ServedStudio } from './studio.fixture.js';

describe('the studio', { timeout: 120_000 }, async () => {
  const browser: Browser | undefined = await startBrowser();
  const studio = new ServedStudio();
  const problems: string[] = [];
  let address: URL;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    if (browser === undefined) return;
    await studio.start(GRAPHS.confirm, { amount: 7 });
    address = await studio.open();
    context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    page = await context.newPage();
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(address.href);
  });

  beforeEach(() => {
    problems.length = 0;
  });

  afterAll(async () => {
    await browser?.close();
    await studio.close();
  });

  const at = (path: string): string => new URL(path, address).href;
  const open = async (path: string): Promise<void> => {
    await page.goto(at(path));
    await page.locator('#link.live').waitFor();
  };
  const text = (selector: string) => page.locator(selector).innerText();
  /** The browser's own test, where there is one. */
  const inBrowser = (name: string, work: () => Promise<void>) =>
    test(name, async () => {
      if (browser !== undefined) await work();
    });

  inBrowser('opens with the printed address, which keeps no secret', async () => {
    expect(page.url()).toBe(at('/runs'));
    expect(await text('h1')).toBe('Runs');
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  inBrowser('opens for no reader without the secret, and under no other name', async () => {
    const stranger = await fetch(at('/runs'));
    expect([stranger.status, await stranger.text()]).toEqual([
      403,
      expect.stringContaining('Open the printed address'),
    ]);
    const forged = await fetch(at('/runs?token=wrong'), { headers: { cookie: 'stepwright_studio_0=wrong' } });
    expect(forged.status).toBe(403);
    const rebound = await page.request.get(at('/runs'), { headers: { host: 'evil.example:80' } });
    expect(rebound.status()).toBe(403);
  });

  inBrowser('lists runs, the latest first, with what they wait for', async () => {
    const run = await studio.start(GRAPHS.text);
    await open('/runs');
    expect(await text('.runs tbody tr:first-child')).toMatch(
      new RegExp(`${run}.*explain.*waiting.*answer why#1`, 's'),
    );
    expect(problems).toEqual([]);
  });

  inBrowser('filters runs by workflow, status, owner and text', async () => {
    const run = await studio.startForAda(GRAPHS.choice);
    const names = async (query: string) => {
      await open(`/runs?${query}`);
      return page.locator('.runs tbody th').allInnerTexts();
    };
    expect(await names('workflow=choose')).toEqual([run]);
    expect(await names('owner=AD')).toEqual([run]);
    expect(await names('text=which')).toEqual([run]);
    expect(await names(`text=${run.slice(0, 8)}`)).toEqual([run]);
    expect(await names('status=completed&workflow=choose')).toEqual([]);
    expect(await text('#runs')).toContain('No run matches');
  });

  inBrowser('a run that begins appears in an open list', async () => {
    await open('/runs');
    const run = await studio.start(GRAPHS.confirm, { amount: 8 });
    await page.locator(`a[href="/runs/${run}"]`).waitFor();
    expect(problems).toEqual([]);
  });

  inBrowser('a run is followed while it runs', async () => {
    const run = await studio.start(GRAPHS.slow, {}, { kind: 'local' }, 0);
    await open(`/runs/${run}`);
    await page.locator('[data-key="slow"].s-running').waitFor();
    expect(await text('#waits')).toContain('slow is running');
    expect(
      await page.locator('[data-key="later"].s-pending, [data-key="later"]:not([class*="s-"])').count(),
    ).toBe(1);
    studio.release('here it is');
    await page.locator('[data-key="slow"].s-succeeded').waitFor();
    await page.locator('#head .status.completed').waitFor();
    expect(await text('#end')).toContain('done');
    await page.locator('#step-slow summary').click();
    expect(await text('#step-slow')).toContain('here it is');
    expect(problems).toEqual([]);
  });

  inBrowser('a question is answered where its reader may answer it', async () => {
    const run = await studio.start(GRAPHS.confirm, { amount: 9 });
    await open(`/runs/${run}`);
    expect(await text('#waits')).toContain('Pay the bill?');
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.locator('#head .status.completed').waitFor();
    expect(await text('#log')).toContain('actionSubmitted');
  });

  inBrowser('texts of a run are texts on its page', async () => {
    const run = await studio.start(GRAPHS.text);
    await open(`/runs/${run}`);
    expect(await text('.ask')).toContain('</script><img src=x onerror="window.hacked=1">');
    expect(await page.locator('main img').count()).toBe(0);
    await page.locator('#waits textarea').fill(HOSTILE);
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.locator('#head .status.completed').waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(problems).toEqual([]);
  });
});
