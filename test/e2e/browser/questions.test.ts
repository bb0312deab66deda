import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { fetchHandler, nodeHandler } from 'stepwright/runtime';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { nightlyTest } from '../../nightly.js';
import { desk } from '../composite/fixture/registry.js';
import { ask, lit, returns, step, workflow } from '../composite/fixture/workflows.js';
import { freshCall } from '../composite/http.js';
import { startBrowser } from './browser.js';

const ORDER = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name on the invoice', maxLength: 40 },
    note: { type: 'string', description: 'Shown to the supplier.' },
    amount: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
    gift: { type: 'boolean' },
    channel: { enum: ['email', 'letter', 'phone'] },
    country: { enum: ['Austria', 'Belgium', 'Denmark', 'Estonia', 'France', 'Germany', 'Italy'] },
    tags: { type: 'array', items: { enum: ['urgent', 'internal'] } },
    due: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    names: { type: 'array', items: { type: 'string', maxLength: 20 } },
    address: {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 40 } },
      required: ['city'],
      additionalProperties: false,
    },
    extra: {},
  },
  required: ['name', 'amount', 'gift', 'channel', 'country'],
  additionalProperties: false,
};
const MESSAGE = 'Pay <b>Paper & Co</b> 1,200 EUR?\nThe invoice is overdue since Monday.';

const graphs = [
  workflow('pay', [ask('approved', { message: lit(MESSAGE) }), returns(step('approved'))]),
  workflow('comment', [ask('comment', { mode: 'text' }), returns(step('comment'))]),
  workflow('seen', [ask('seen', { mode: 'info' }), returns(lit('over'))]),
  workflow('where', [
    ask('where', { mode: 'choice', options: lit(['left', 'right']) }),
    returns(step('where')),
  ]),
  workflow('order', [ask('order', { mode: 'yield', expects: ORDER }), returns(step('order'))]),
];

/** Faults of a page that its reader sees. */
const FAULTS = `(() => {
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth) faults.push('wider than the window');
  for (const field of document.querySelectorAll('input:not([type=hidden]), select, textarea')) {
    if (field.labels.length === 0) faults.push('no label: ' + field.name);
    if (parseFloat(getComputedStyle(field).fontSize) < 16) faults.push('small text: ' + field.name);
  }
  for (const text of document.querySelectorAll('p, li, legend, label, button, h2, figcaption'))
    if (parseFloat(getComputedStyle(text).fontSize) < 14) faults.push('small text: ' + text.textContent);
  for (const target of document.querySelectorAll('.option, .send, .add, select, textarea, input:not([type=radio], [type=checkbox], [type=hidden])'))
    if (target.getBoundingClientRect().height < 44) faults.push('small target: ' + (target.name ?? target.textContent));
  return faults;
})()`;

describe('the page of a question in a browser', { timeout: 120_000 }, async () => {
  const browser: Browser | undefined = await startBrowser();
  let url: URL;
  let end: () => void;

  beforeAll(async () => {
    const { server } = desk({ workflows: graphs.map((graph) => ({ graph })), questions: { page: true } });
    const handler = fetchHandler(server, { log: () => {} });
    const http = createHttpServer(nodeHandler(handler));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
    end = () => {
      void handler.close();
      http.closeAllConnections();
      http.close();
    };
  });
  afterAll(async () => {
    end();
    await browser?.close();
  });

  /** Starts a workflow, and opens the page of its question without script. */
  async function opened(name: string, options: BrowserContextOptions = {}) {
    const { structuredContent } = await freshCall(url, `w_${name}`);
    const { workflow_id, action } = structuredContent as {
      workflow_id: string;
      action: { page_url: string };
    };
    const page = await pageAt(action.page_url, options);
    const run = async () =>
      (await freshCall(url, 'get_workflow_status', { workflow_id })).structuredContent as object;
    return { page, address: action.page_url, run };
  }

  async function pageAt(address: string, options: BrowserContextOptions = {}): Promise<Page> {
    if (browser === undefined) throw new Error('there is a browser');
    const context = await browser.newContext({ javaScriptEnabled: false, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('requestfailed', (request) => problems.push(request.url()));
    await page.goto(address);
    expect(problems).toEqual([]);
    return page;
  }

  const send = (page: Page) => page.locator('.send').click();

  nightlyTest('takes a confirmation, once', async () => {
    if (browser === undefined) return;
    const { page, address, run } = await opened('pay');
    expect(await page.locator('h1').textContent()).toBe(MESSAGE);
    await page.getByText('No', { exact: true }).click();
    await send(page);
    expect(await page.locator('h1').textContent()).toBe('Your answer was taken');
    expect(await page.locator('pre').textContent()).toBe('No');
    expect(await run()).toMatchObject({ status: 'completed', result: { confirmed: false } });
    const used = await pageAt(address);
    expect(await used.locator('h1').textContent()).toBe('This question is no longer open');
    expect(await used.locator('form').count()).toBe(0);
  });

  nightlyTest('takes a text of several lines', async () => {
    if (browser === undefined) return;
    const { page, run } = await opened('comment');
    await page.getByLabel('Your answer').fill('first\nsecond <&"');
    await send(page);
    expect(await run()).toMatchObject({ result: { input: 'first\nsecond <&"' } });
  });

  nightlyTest('takes an acknowledgement', async () => {
    if (browser === undefined) return;
    const { page, run } = await opened('seen');
    await page.getByRole('button', { name: 'OK, continue' }).click();
    expect(await run()).toMatchObject({ status: 'completed' });
  });

  nightlyTest('takes one of several options, by the keyboard', async () => {
    if (browser === undefined) return;
    const { page, run } = await opened('where');
    await page.getByLabel('left').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForSelector('figure');
    expect(await run()).toMatchObject({ result: { selected: 'right' } });
  });

  test('takes each kind of field, after faults and further rows', async () => {
    if (browser === undefined) return;
    const { page, run } = await opened('order');
    // The browser itself asks for what is missing.
    await send(page);
    expect(await page.locator('h1').textContent()).toBe('order?');
    await page.getByLabel('Name on the invoice').fill('Ada');
    await page.getByLabel('Note').fill('please');
    await page.getByLabel('Amount').fill('3');
    await page.getByRole('group', { name: 'Gift' }).getByText('Yes').click();
    await page.getByText('letter', { exact: true }).click();
    await page.getByLabel('Country').selectOption('France');
    await page.getByText('urgent', { exact: true }).click();
    await page.getByLabel('Due').fill('2026-12-24');
    await page.getByLabel('At optional').fill('2026-12-24T18:30:00');
    await page.getByLabel('Names 1').fill('Bob');
    await page.getByLabel('Names 3').fill('Cy');
    await page.getByRole('button', { name: 'Add rows to Names' }).click();
    expect(await page.locator(':focus').getAttribute('name')).toBe('value/names/2');
    await page.getByLabel('Names 3').fill('Di');
    await page.getByRole('button', { name: 'Remove Names 1' }).click();
    await page.getByLabel('City').fill('Lyon');
    await page.getByLabel('Extra').fill('{"a": [1}');
    await send(page);
    expect(await page.locator('.faults li').allTextContents()).toEqual([
      expect.stringMatching(/^Extra: Enter JSON/),
    ]);
    expect(await page.locator(':focus').getAttribute('name')).toBe('json/extra');
    await page.getByLabel('Extra').fill('{"a": [1]}');
    await send(page);
    expect(await run()).toMatchObject({
      status: 'completed',
      result: {
        name: 'Ada',
        note: 'please',
        amount: 3,
        gift: true,
        channel: 'letter',
        country: 'France',
        tags: ['urgent'],
        due: '2026-12-24',
        at: '2026-12-24T18:30:00Z',
        names: ['Cy', 'Di'],
        address: { city: 'Lyon' },
        extra: { a: [1] },
      },
    });
  });

  const looks = [
    ['in the dark', { viewport: { width: 375, height: 700 }, colorScheme: 'dark' }],
    ['on a phone', { viewport: { width: 375, height: 700 } }],
    ['on a desk', { viewport: { width: 1_200, height: 900 } }],
  ] as const;
  nightlyTest.each(looks)('is legible %s', async (_name, options) => {
    if (browser === undefined) return;
    for (const name of ['pay', 'order']) {
      const { page } = await opened(name, { ...options, javaScriptEnabled: true });
      expect(await page.evaluate(FAULTS)).toEqual([]);
      const [text, paper] = (await page.evaluate(
        "[getComputedStyle(document.querySelector('h1')).color, getComputedStyle(document.querySelector('main')).backgroundColor]",
      )) as string[];
      const isDark = 'colorScheme' in options;
      expect(brightness(text) > brightness(paper)).toBe(isDark);
      if (process.env.PICTURES !== undefined)
        await page.screenshot({
          path: `${process.env.PICTURES}/${name}${_name.replaceAll(' ', '-')}.png`,
          fullPage: true,
        });
    }
  });

  test('does not take what a page of another origin sends', async () => {
    if (browser === undefined) return;
    const { address, run } = await opened('pay');
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const foreign = await context.newPage();
    await foreign.route('https://evil.example/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" action="${address}"><input name="value/confirmed" value="0"><button>Win</button></form>`,
      }),
    );
    await foreign.goto('https://evil.example/');
    await foreign.getByText('Win').click();
    await foreign.waitForSelector('h1');
    expect(await foreign.locator('h1').textContent()).toBe('The answer was not taken');
    expect(await run()).toMatchObject({ status: 'waiting' });
  });

  nightlyTest('says that its link has expired', async () => {
    if (browser === undefined) return;
    const { address } = await opened('pay');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    const response = await fetch(address);
    const expired = await browser.newPage();
    onTestFinished(() => expired.close());
    await expired.setContent(await response.text());
    expect(await expired.locator('h1').textContent()).toBe('This link has expired');
  });
});

function brightness(color = ''): number {
  return [...color.matchAll(/\d+/g)].reduce((sum, [part]) => sum + Number(part), 0);
}
