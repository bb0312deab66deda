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
import { ask } from '../../../src/runtime/engine/constructs.fixture.js';
import {
  again,
  call,
  chain,
  done,
  graph,
  input,
  lit,
  step,
} from '../../../src/runtime/engine/graph.fixture.js';
import { nightlyTest, smoke } from '../../nightly.js';
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
  const bodies = [...document.querySelectorAll('#stage svg:not([hidden]) .box')].map((box) => {
    const body = box.querySelector('.body').getBBox();
    for (const text of box.querySelectorAll('text'))
      if (!holds(body, text.getBBox())) faults.push('text: ' + text.textContent);
    return body;
  });
  for (const arrow of document.querySelectorAll('#stage svg:not([hidden]) .arrow')) {
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

/** Texts that are too small or cut off, and a page or a chart that is wider than the screen, as the browser measures them. */
const LEGIBLE = `(() => {
  const faults = [];
  const svg = document.querySelector('#stage svg:not([hidden])');
  const scale = svg.querySelector('.view').getCTM().a;
  for (const text of svg.querySelectorAll('text')) {
    const size = parseFloat(getComputedStyle(text).fontSize) * scale;
    if (size < 11) faults.push('small: ' + size + ' ' + text.textContent);
    const { left, right } = text.getBoundingClientRect();
    if (left < 0 || right > innerWidth) faults.push('cut: ' + text.textContent);
  }
  for (const element of document.querySelectorAll('header *, footer *')) {
    if (parseFloat(getComputedStyle(element).fontSize) < 11) faults.push('small: ' + element.textContent);
    if (element.getBoundingClientRect().right > innerWidth) faults.push('cut: ' + element.outerHTML);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push('wider than the screen');
  return faults;
})()`;

interface Look {
  readonly fill: readonly number[];
  readonly stroke: readonly number[];
  readonly outline: string;
}

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
  const transform = () => page.locator('#stage svg:not([hidden]) .view').getAttribute('transform');
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
    await page.locator('#stage svg:not([hidden]) [data-key="find"]').click();
    const text = await details();
    for (const part of ['find', 'call tool-find', 'Finds a text', '{ name }', '"type": "object"'])
      expect(text).toContain(part);
    expect(text).toContain('</script><img src=x');
    await page.keyboard.press('Escape');
    expect(await page.locator('#details').isHidden()).toBe(true);
  });

  nightlyTest('takes names of any kind as text', async () => {
    if (browser === undefined) return;
    const text = await open(chartIn(note));
    // Those of the data, the script and no other.
    expect(text.match(/<\/script/g)).toHaveLength(2);
    expect(text).not.toContain('<img');
    await page.locator('#stage svg:not([hidden]) [data-key="save"]').click();
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

  nightlyTest('is used with the keyboard alone', async () => {
    if (browser === undefined) return;
    await open(chartIn(note), chartIn(other));
    await page.keyboard.press('/');
    await page.keyboard.type('tool-save');
    expect(await page.locator('#count').innerText()).toBe('1 of 1');
    expect(await page.locator('#stage svg:not([hidden]) [data-key="save"].match').count()).toBe(1);
    expect(await details()).toContain('call tool-save');
    await page.keyboard.press('Escape');
    expect(await page.locator('#stage svg:not([hidden]) .match').count()).toBe(0);
    await page.locator('#stage svg:not([hidden]) [data-key="find"]').focus();
    await page.keyboard.press('Enter');
    expect(await details()).toContain('call tool-find');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await page.keyboard.press('0');
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
    expect(await page.locator('#stage svg:not([hidden]) [data-key="only"]').isVisible()).toBe(true);
    expect(await page.locator('#stage svg:not([hidden]) [data-key="find"]').isVisible()).toBe(false);
    expect(problems).toEqual([]);
  });

  nightlyTest('shows 1,000 nodes, finds one of them, and moves and scales', async () => {
    if (browser === undefined) return;
    const nodes = Array.from({ length: 1_000 }, (_, index) => {
      const after = index === 0 ? [] : [`n${Math.floor((index - 1) / 3)}`, ...(index > 40 ? ['n0'] : [])];
      return call(`n${index}`, index === 0 ? {} : { from: step('n0') }, { after });
    });
    await open(chartIn(graph(nodes, { name: 'large' })));
    expect(await page.locator('#stage svg:not([hidden]) .box').count()).toBe(1_000);
    await page.locator('#search').fill('n777');
    expect(await page.locator('#count').innerText()).toBe('1 of 1');
    expect(await details()).toContain('call tool-n777');
    const box = await page.locator('#stage svg:not([hidden]) [data-key="n777"]').boundingBox();
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
      `document.querySelector('#stage svg:not([hidden]) .view').getAttribute('transform') !== ${JSON.stringify(dragged)}`,
    );
    expect(problems).toEqual([]);
  });

  nightlyTest.each(Object.entries(PICTURES))(
    'draws texts in their boxes and arrows beside them: %s',
    async (_, of) => {
      if (browser === undefined) return;
      await open(chartIn(of));
      expect(await page.evaluate(FAULTS)).toEqual([]);
    },
  );

  nightlyTest('prints the whole chart in its own size', async () => {
    if (browser === undefined) return;
    await open(chartIn(PICTURES['60 steps']));
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    const svg = page.locator('#stage svg:not([hidden])');
    const size = await svg.boundingBox();
    const { width, height } = await svg.evaluate(({ dataset }) => ({ ...dataset }));
    expect([size?.width, size?.height]).toEqual([Number(width), Number(height)]);
    expect(await page.locator('header').isHidden()).toBe(true);
    const colour = await page.evaluate(
      `getComputedStyle(document.querySelector('#stage svg:not([hidden]) .title')).fill`,
    );
    expect(colour).toBe('rgb(31, 36, 48)');
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await page.emulateMedia({ media: null, colorScheme: null });
  });

  const everyState = [
    'running',
    'waiting',
    'succeeded',
    'failed',
    'handled',
    'skipped',
    'cancelled',
    'ready',
  ];
  const waits = graph(
    chain(
      call(
        'find-the-supplier-with-theLongestNameOfAllSuppliers',
        {},
        { retry: again(2, { delayMs: 2_000 }) },
      ),
      ask('sure', 'confirm', { message: lit('Really?\n\nIt costs money.'), timeoutMs: 86_400_000 } as never),
      ...everyState.map((name) => call(name)),
    ),
    { name: 'waits' },
  );
  const branches = Array.from({ length: 8 }, (_, index) => call(`b${index}`, {}, { after: ['start'] }));
  const wide = graph([call('start'), ...branches, call('end', {}, { after: branches.map(({ id }) => id) })], {
    name: 'wide',
  });
  const run = {
    text: 'run 0123',
    states: shownStates(
      new Map(everyState.map((status) => [status, { status, counts: { [status]: 1 }, attempts: 1 }])),
    ),
  };

  for (const width of smoke([375, 1_280]))
    nightlyTest(`is legible without scrolling sideways at ${width} px, with a legend`, async () => {
      if (browser === undefined) return;
      await page.setViewportSize({ width, height: 800 });
      for (const of of [waits, wide, PICTURES['60 steps'], PICTURES['long arrows']]) {
        await open({ ...chartIn(of), ...(of === waits && { run }) });
        expect(await page.evaluate(LEGIBLE)).toEqual([]);
        expect(await page.evaluate(FAULTS)).toEqual([]);
      }
      await open({ ...chartIn(waits), run });
      const texts = (await page.locator('#stage svg:not([hidden]) text').allTextContents()).join('\n');
      expect(texts).toContain('time limit: 1 day');
      expect(texts).toContain('at most 3 attempts, 2 s apart');
      expect(texts).not.toMatch(/\d{4,} ms|\\n/);
      const legend = await page.locator('.legend li').allInnerTexts();
      expect(legend).toEqual(expect.arrayContaining(['step', 'question', 'waiting', 'failed, and handled']));
      await page.setViewportSize({ width: 1_200, height: 800 });
    });

  nightlyTest('shows each state by colours and by an outline of its own', async () => {
    if (browser === undefined) return;
    const looks = async (): Promise<readonly Look[]> => {
      await page.evaluate('document.body.offsetWidth');
      return page.evaluate(`${JSON.stringify(everyState)}.map((name) => {
        const { fill, stroke, strokeWidth, strokeDasharray } = getComputedStyle(
          document.querySelector('#stage svg:not([hidden]) .s-' + name + ' > .body'));
        const numbers = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
        return { fill: numbers(fill), stroke: numbers(stroke), outline: strokeWidth + ' ' + strokeDasharray };
      })`);
    };
    await open({ ...chartIn(waits), run });
    const distance = (one: readonly number[], other: readonly number[]) =>
      Math.hypot(...one.map((value, index) => value - (other[index] ?? 0)));
    for (const media of [{ colorScheme: 'dark' }, { colorScheme: 'light' }, { media: 'print' }] as const) {
      await page.emulateMedia(media);
      const all = await looks();
      expect(new Set(all.map(({ outline }) => outline)).size).toBe(everyState.length);
      for (const [index, one] of all.entries())
        for (const other of all.slice(index + 1))
          expect(distance(one.fill, other.fill) + distance(one.stroke, other.stroke)).toBeGreaterThan(60);
    }
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
    expect(await page.locator('#stage svg:not([hidden]) .s-succeeded .state').textContent()).toMatch(
      /^succeeded \(2×\) · 350 ms$/,
    );
    await page.locator('#stage svg:not([hidden]) [data-key="save"]').click();
    expect(await details()).toContain('E_FULL: </script>');
    expect(await details()).toContain('1970-01-01T00:00:01.350Z');
  });
});
