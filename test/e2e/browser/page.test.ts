import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/model.js';
import { chartOf } from '../../../src/print/chart/chart.js';
import { type PageChart, printPage, shownStates } from '../../../src/print/chart/page.js';
import { call, chain, done, graph, input, step } from '../../../src/runtime/engine/graph.fixture.js';
import { startBrowser } from './browser.js';

const HOSTILE = `</script><img src=x onerror="window.hacked=1">'"<!--&amp;\u2028\u0007`;
const hash = (text: string) => createHash('sha256').update(text).digest('base64');

const note = graph(
  chain(
    call('find', { name: input('name') }),
    call('save', { text: step('find', 'text') }, { title: HOSTILE }),
    done('out', step('save')),
  ),
  { name: 'note', description: HOSTILE },
);
const other = graph(chain(call('only')), { name: 'other' });

const LONG =
  'WWWWW WhateverVeryLongIdentifierWithoutAnySpacesInItAtAllWWWWWWWWWW mmmm 漢字漢字漢字漢字漢字漢字漢字漢字 👩‍👩‍👧 @@@@';

/** Steps of which each follows one or two of the six before it. */
const sixty = Array.from({ length: 60 }, (_, index) => {
  const sources = [(index * 7) % 6, (index * 5) % 4].slice(0, 1 + (index % 2));
  const after = [...new Set(sources.map((back) => `n${Math.max(0, index - 1 - back)}`))];
  const words = LONG.split(' ').slice(0, 1 + (index % 6));
  const input = index === 0 ? {} : { from: step(`n${index - 1}`, words.join('')) };
  return call(`n${index}`, input, { title: words.join(' '), after: index === 0 ? [] : after });
});
const fan = Array.from({ length: 40 }, (_, index) =>
  call(`n${index}`, {}, { after: index === 0 ? [] : [...new Set(['n0', `n${index - 1}`])] }),
);

const PICTURES: Readonly<Record<'60 steps' | 'long arrows' | 'hostile texts', Graph>> = {
  '60 steps': graph(sixty, { name: 'sixty' }),
  'long arrows': graph(fan, { name: 'fan' }),
  'hostile texts': note,
};

/** Texts that leave their boxes, and arrows that enter boxes, as the browser measures them. */
const FAULTS = `(() => {
  const faults = [];
  const holds = (outer, { x, y, width, height }) =>
    x >= outer.x && y >= outer.y && x + width <= outer.x + outer.width && y + height <= outer.y + outer.height;
  const bodies = [...document.querySelectorAll('.box')].map((box) => {
    const body = box.querySelector('.body').getBBox();
    for (const text of box.querySelectorAll('text'))
      if (!holds(body, text.getBBox())) faults.push('text: ' + text.textContent);
    return body;
  });
  for (const arrow of document.querySelectorAll('.arrow')) {
    const length = arrow.getTotalLength();
    const points = Array.from({ length: Math.ceil(length / 4) }, (_, index) => arrow.getPointAtLength(index * 4));
    for (const { x, y, width, height } of bodies) {
      const inner = { x: x + 1, y: y + 1, width: width - 2, height: height - 2 };
      const inside = points.filter((point) => holds(inner, { x: point.x, y: point.y, width: 0, height: 0 })).length;
      if (inside > 0 && inside < points.length) faults.push('arrow: ' + arrow.getAttribute('d'));
    }
  }
  return faults;
})()`;

describe('a page of charts', { timeout: 120_000 }, async () => {
  const browser: Browser | undefined = await startBrowser();
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-page-'));
  const problems: string[] = [];
  const requests: string[] = [];
  let page: Page;

  beforeAll(async () => {
    if (browser === undefined) return;
    page = await browser.newPage({ viewport: { width: 1_200, height: 800 } });
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (request) => requests.push(request.url()));
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  async function open(...charts: readonly PageChart[]): Promise<string> {
    const file = join(folder, 'page.html');
    const text = printPage(charts, { title: HOSTILE, hash });
    writeFileSync(file, text);
    problems.length = 0;
    requests.length = 0;
    await page.goto(pathToFileURL(file).href);
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(problems).toEqual([]);
    expect(requests).toEqual([pathToFileURL(file).href]);
    return text;
  }
  const chartIn = (of: Graph, tools?: Parameters<typeof chartOf>[1]): PageChart => ({
    chart: chartOf(of, tools),
  });
  const transform = () => page.locator('svg:not([hidden]) .view').getAttribute('transform');
  const settled = async () => {
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    return transform();
  };
  const details = () => page.locator('#details').innerText();

  test('opens without an error or a request, and shows the details of a step that is clicked', async () => {
    if (browser === undefined) return;
    const outputSchema = { type: 'object', description: HOSTILE };
    await open(chartIn(note, new Map([['tool-find', { description: 'Finds a text', outputSchema }]])));
    expect(await page.locator('#details').isHidden()).toBe(true);
    await page.locator('[data-key="find"]').click();
    const text = await details();
    for (const part of ['find', 'call tool-find', 'Finds a text', '{ name }', '"type": "object"'])
      expect(text).toContain(part);
    expect(text).toContain('</script><img src=x');
    await page.keyboard.press('Escape');
    expect(await page.locator('#details').isHidden()).toBe(true);
  });

  test('takes names of any kind as text', async () => {
    if (browser === undefined) return;
    const text = await open(chartIn(note));
    // Those of the data, the script and no other.
    expect(text.match(/<\/script/g)).toHaveLength(2);
    expect(text).not.toContain('<img');
    await page.locator('[data-key="save"]').click();
    expect(await details()).toContain(
      `</script><img src=x onerror="window.hacked=1">'"<!--&amp;\\u2028\\u0007`,
    );
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
  });

  test('executes no script but its own', async () => {
    if (browser === undefined) return;
    await open(chartIn(note));
    await page.evaluate(`(() => {
      const script = document.createElement('script');
      script.textContent = 'window.hacked = 2';
      document.body.append(script);
    })()`);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(problems.join('\n')).toContain('Content Security Policy');
    const fetched = await page.evaluate(`fetch('https://example.com/').then(() => 'sent', () => 'refused')`);
    expect(fetched).toBe('refused');
  });

  test('is used with the keyboard alone', async () => {
    if (browser === undefined) return;
    await open(chartIn(note), chartIn(other));
    await page.keyboard.press('/');
    await page.keyboard.type('tool-save');
    expect(await page.locator('#count').innerText()).toBe('1 of 1');
    expect(await page.locator('[data-key="save"].match').count()).toBe(1);
    expect(await details()).toContain('call tool-save');
    await page.keyboard.press('Escape');
    expect(await page.locator('.match').count()).toBe(0);
    await page.locator('[data-key="find"]').focus();
    await page.keyboard.press('Enter');
    expect(await details()).toContain('call tool-find');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    const before = await settled();
    await page.keyboard.press('ArrowDown');
    const moved = await settled();
    expect(moved).not.toBe(before);
    await page.keyboard.press('+');
    expect(await settled()).not.toBe(moved);
    await page.keyboard.press('0');
    expect(await settled()).toBe(before);
    await page.locator('#workflow').focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('[data-key="only"]').isVisible()).toBe(true);
    expect(await page.locator('[data-key="find"]').isVisible()).toBe(false);
    expect(problems).toEqual([]);
  });

  test('shows 1,000 nodes, finds one of them, and moves and scales', async () => {
    if (browser === undefined) return;
    const nodes = Array.from({ length: 1_000 }, (_, index) => {
      const after = index === 0 ? [] : [`n${Math.floor((index - 1) / 3)}`, ...(index > 40 ? ['n0'] : [])];
      return call(`n${index}`, index === 0 ? {} : { from: step('n0') }, { after });
    });
    await open(chartIn(graph(nodes, { name: 'large' })));
    expect(await page.locator('.box').count()).toBe(1_000);
    await page.locator('#search').fill('n777');
    expect(await page.locator('#count').innerText()).toBe('1 of 1');
    expect(await details()).toContain('call tool-n777');
    const box = await page.locator('[data-key="n777"]').boundingBox();
    expect(box?.x).toBeGreaterThan(0);
    expect(box?.x).toBeLessThan(1_200);
    const start = await settled();
    await page.mouse.move(400, 400);
    await page.mouse.down();
    await page.mouse.move(450, 480, { steps: 5 });
    await page.mouse.up();
    const dragged = await settled();
    expect(dragged).not.toBe(start);
    await page.mouse.wheel(0, -300);
    await page.waitForFunction(
      `document.querySelector('.view').getAttribute('transform') !== ${JSON.stringify(dragged)}`,
    );
    expect(problems).toEqual([]);
  });

  test.each(Object.entries(PICTURES))(
    'draws texts in their boxes and arrows beside them: %s',
    async (_, of) => {
      if (browser === undefined) return;
      await open(chartIn(of));
      expect(await page.evaluate(FAULTS)).toEqual([]);
    },
  );

  test('prints the whole chart, as wide as the paper', async () => {
    if (browser === undefined) return;
    await open(chartIn(PICTURES['60 steps']));
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    const size = await page.locator('svg:not([hidden])').boundingBox();
    expect(size?.width).toBe(1_200);
    const [width, height] = await page
      .locator('svg:not([hidden])')
      .evaluate((svg) => [Number(svg.dataset.width), Number(svg.dataset.height)]);
    expect(size?.height).toBeCloseTo((1_200 * (height ?? 0)) / (width ?? 1), 0);
    expect(await page.locator('header').isHidden()).toBe(true);
    const colour = await page.evaluate(`getComputedStyle(document.querySelector('.title')).fill`);
    expect(colour).toBe('rgb(31, 36, 48)');
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await page.emulateMedia({ media: null, colorScheme: null });
  });

  test('shows the states of a run', async () => {
    if (browser === undefined) return;
    const states = shownStates(
      new Map([
        [
          'find',
          { status: 'succeeded', counts: { succeeded: 1 }, attempts: 2, startedAt: 1_000, endedAt: 1_350 },
        ],
        [
          'save',
          {
            status: 'failed',
            counts: { failed: 1 },
            attempts: 1,
            startedAt: 1_350,
            endedAt: 1_360,
            failure: { code: 'E_FULL', message: HOSTILE },
          },
        ],
      ]),
    );
    await open({ ...chartIn(note), run: { text: 'run 0123: failed', states } });
    expect(await page.locator('#about').innerText()).toBe('run 0123: failed');
    expect(await page.locator('.s-succeeded .state').textContent()).toBe('succeeded · 2 attempts · 350 ms');
    await page.locator('[data-key="save"]').click();
    expect(await details()).toContain('E_FULL: </script>');
    expect(await details()).toContain('1970-01-01T00:00:01.350Z');
  });
});
