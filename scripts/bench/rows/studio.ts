import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Page } from 'playwright-core';
import { ASSETS } from '../../../src/studio/html.js';
import { startBrowser } from '../../../test/e2e/browser/browser.js';
import { GRAPHS, local, ServedStudio } from '../../../test/e2e/browser/studio.fixture.js';
import { inTurns, type Sample } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

/**
 * The pages of the studio in a headless browser. Other engines have no page that could be measured beside it: all times
 * are by the clock, and a page of one line says what the browser takes.
 */
export async function studio({ studio: { runs, samples } }: Sizes): Promise<Row[]> {
  const browser = await startBrowser();
  if (browser === undefined) return [];
  const served = new ServedStudio();
  const line = await pageOfOneLine();
  try {
    const address = await served.open();
    for (let run = 0; run < runs; run += 1) await served.start(GRAPHS.confirm, { amount: run }, local, 0);
    const sixty = await served.start(GRAPHS.sixty, {}, local, 0);
    const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    await page.goto(address.href);
    const at = (path: string): string => new URL(path, address).href;
    await page.goto(at(`/runs/${sixty}`));
    await page.locator('[data-key="n30"].s-running').first().waitFor();
    const inTurnsOf = <Name extends string>(contestants: Readonly<Record<Name, Sample>>) =>
      // Each is visited once before.
      inTurns(contestants, { rounds: samples, warmUpMs: 1 });
    const paints = await inTurnsOf({
      list: () => firstPaint(page, at('/runs')),
      run: () => firstPaint(page, at(`/runs/${sixty}`)),
      line: () => firstPaint(page, line.address),
    });
    const { all } = await inTurnsOf({ all: () => listAll(page, at('/runs?limit=500')) });
    const weights = [await weight(page, at('/runs?limit=500')), await weight(page, at(`/runs/${sixty}`))];
    const { live } = await inTurnsOf({ live: () => toScreen(page, served, at) });
    const ms = (name: string, value: number, atMost: number, peer?: Row['peer']): Row =>
      row({
        ...{ name, unit: 'µs', ours: value * 1_000, target: { of: 'ours', atMost: atMost * 1_000 } },
        ...(peer && { peer }),
      });
    const peer = { name: 'a page of one line', value: paints.line * 1_000 };
    return [
      ms('studio: first paint of the list of runs, by the clock', paints.list, 300, peer),
      ms('studio: first paint of a run of 60 steps, by the clock', paints.run, 300, peer),
      ms(`studio: ${runs} runs listed, by the clock`, all, 200),
      ms('studio: from the result of a tool to the screen, by the clock', live, 150),
      row({
        name: 'studio: weight of the heaviest page with its files',
        unit: 'kB',
        ours: Math.max(...weights) / 1_000,
        target: { of: 'ours', atMost: 250 },
      }),
    ];
  } finally {
    await browser.close();
    await served.close();
    line.close();
  }
}

async function pageOfOneLine() {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><link rel="icon" href="data:,"><p>One line</p>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

async function firstPaint(page: Page, address: string): Promise<number> {
  await page.goto(address, { waitUntil: 'load' });
  return page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  })`);
}

/** Reads all pages of the list. */
async function listAll(page: Page, address: string): Promise<number> {
  const start = performance.now();
  for (let next: string | undefined = address; next !== undefined; ) {
    const text: string = await (await page.request.get(next)).text();
    const [, path] = /rel="next" href="([^"]*)"/.exec(text) ?? [];
    next = path === undefined ? undefined : new URL(path.replaceAll('&amp;', '&'), address).href;
  }
  return performance.now() - start;
}

async function weight(page: Page, address: string): Promise<number> {
  const files = [address, ...[...ASSETS.keys()].map((path) => new URL(path, address).href)];
  const bodies = await Promise.all(files.map(async (file) => (await page.request.get(file)).body()));
  return bodies.reduce((sum, { length }) => sum + length, 0);
}

/** From the result of a tool of a run until the page shows its step as over. */
async function toScreen(page: Page, served: ServedStudio, at: (path: string) => string): Promise<number> {
  const run = await served.start(GRAPHS.slow, {}, local, 0);
  await page.goto(at(`/runs/${run}`));
  await page.locator('[data-key="slow"].s-running').first().waitFor();
  await page.locator('#link.live').waitFor();
  const shown = page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      if (document.querySelector('[data-key="slow"].s-succeeded') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(Date.now()));
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true });
  })`);
  // The page watches by the time that its answer to another request is there.
  await page.evaluate('1');
  const start = Date.now();
  served.release();
  return (await shown) - start;
}
