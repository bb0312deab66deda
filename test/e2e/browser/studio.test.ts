import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isNightly } from '../../nightly.js';
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
  const inNightly: typeof inBrowser = isNightly ? inBrowser : () => {};

  inBrowser('opens with the printed address, which keeps no secret', async () => {
    expect(page.url()).toBe(at('/runs'));
    expect(await text('h1')).toBe('Runs');
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  inBrowser('opens for no reader without the secret, and under no other name', async () => {
    const stranger = await fetch(at('/runs'));
    expect([stranger.status, await stranger.text()]).toEqual([
      403,
      expect.stringContaining('the address that <code>stepwright studio</code> has printed'),
    ]);
    const forged = await fetch(at('/runs?token=wrong'), { headers: { cookie: 'stepwright_studio_0=wrong' } });
    expect(forged.status).toBe(403);
    const rebound = await page.request.get(at('/runs'), { headers: { host: 'evil.example:80' } });
    expect(rebound.status()).toBe(403);
  });

  inNightly('opens the page that was asked for with the secret in its form', async () => {
    const other = await browser?.newPage();
    await other?.goto(at('/runs?status=waiting'));
    const send = async (token: string) => {
      await other?.getByLabel('Token').fill(token);
      await other?.getByRole('button', { name: 'Open the page' }).click();
    };
    await send('wrong');
    await other?.getByRole('alert').waitFor();
    await send('a-token');
    await other?.waitForURL(at('/runs?status=waiting'));
    expect(await other?.locator('.runs tbody tr').count()).toBeGreaterThan(0);
    await other?.close();
  });

  inBrowser('lists runs, the latest first, with what they wait for', async () => {
    const run = await studio.start(GRAPHS.text);
    await open('/runs');
    expect(await text('.runs tbody tr:first-child')).toMatch(
      new RegExp(`${run}.*explain.*waiting.*answer why#1`, 's'),
    );
    expect(problems).toEqual([]);
  });

  inNightly('filters runs by workflow, status, owner and text', async () => {
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

  inNightly('opens for a team with tokens of the server, and each reader answers as itself', async () => {
    const run = await studio.startForAda(GRAPHS.approval, { purpose: 'A desk', amount: 300 });
    const team = await studio.openForTeam();
    const other = await browser?.newPage();
    if (other === undefined) return;
    await other.goto(new URL(`/runs/${run}`, team).href);
    const send = async (token: string) => {
      await other.getByLabel('Token').fill(token);
      await other.getByRole('button', { name: 'Open the page' }).click();
    };
    for (const [token, why] of [
      ['eve.operator', 'token'],
      ['ada.lead', "ada lacks the role 'operator'"],
    ] as const) {
      await send(token);
      await other.getByRole('alert').filter({ hasText: why }).waitFor();
    }
    await send('ada.operator.lead');
    await other.locator('#head .status.waiting').waitFor();
    expect(await other.locator('#waits').innerText()).toContain('who is not the owner');
    expect(await other.locator('#waits form').count()).toBe(0);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await send('lea.operator.lead');
    await other.goto(new URL(`/runs/${run}`, team).href);
    expect(await other.locator('#waits').innerText()).toContain('you answer as lea');
    await other.getByRole('button', { name: 'Yes' }).click();
    await other.locator('#head .status.completed').waitFor();
    expect(await other.evaluate('document.cookie')).toBe('');
    await other.close();
  });

  inNightly('a run that waits for a time says until when, in the list as well', async () => {
    const run = await studio.start(GRAPHS.nightly, {}, { kind: 'local' }, 0);
    await open('/runs?workflow=nightly');
    expect(await text('.runs tbody tr')).toMatch(/waiting.*pause/s);
    await open(`/runs/${run}`);
    expect(await text('#waits')).toMatch(/pause.*continues at .*\d\d:\d\d/s);
    expect(await page.locator('#waits form').count()).toBe(0);
  });

  inNightly('a run that begins appears in an open list', async () => {
    await open('/runs');
    const run = await studio.start(GRAPHS.confirm, { amount: 8 });
    await page.locator(`a[href="/runs/${run}"]`).waitFor();
    expect(problems).toEqual([]);
  });

  inBrowser('a run is followed while it runs', async () => {
    const run = await studio.start(GRAPHS.slow, {}, { kind: 'local' }, 0);
    await open(`/runs/${run}`);
    await page.locator('[data-key="slow"].s-running').first().waitFor();
    expect(await text('#waits')).toContain('slow is running');
    expect(
      await page.locator('[data-key="later"].s-pending, [data-key="later"]:not([class*="s-"])').count(),
    ).toBe(1);
    studio.release('here it is');
    await page.locator('[data-key="slow"].s-succeeded').first().waitFor();
    await page.locator('#head .status.completed').waitFor();
    expect(await text('#end')).toContain('done');
    expect(await page.locator('.timeline .t-succeeded').count()).toBe(4);
    await page.locator('#step-slow summary').click();
    expect(await text('#step-slow')).toContain('here it is');
    expect(problems).toEqual([]);
  });

  inBrowser('a question is answered where its reader may answer it', async () => {
    const run = await studio.start(GRAPHS.confirm, { amount: 9 });
    await open(`/runs/${run}`);
    expect(await text('#waits')).toMatch(/Pay the bill\?.*For the owner of the run: you answer as .+\./s);
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

  inNightly('a question that its reader may not answer says who may', async () => {
    const run = await studio.startForAda(GRAPHS.approval, { purpose: 'Two chairs', amount: 240 });
    await open(`/runs/${run}`);
    expect(await text('#waits')).toContain(
      "To be answered by a caller with the role 'lead' who is not the owner",
    );
    expect(await page.locator('#waits form').count()).toBe(0);
    const forged = await post(`/runs/${run}/answer`, {
      action: 'approved.expense.2.1#1',
      'json/confirmed': 'true',
    });
    expect([forged.status(), await forged.text()]).toEqual([
      422,
      expect.stringContaining('You may not answer this question'),
    ]);
  });

  /** Sends a form as the page does. */
  const post = async (path: string, fields: Readonly<Record<string, string>>, more = {}) => {
    const key = (await page.locator('input[name=key]').first().getAttribute('value')) ?? '';
    return context.request.post(at(path), {
      form: { key, ...fields },
      headers: { origin: address.origin, ...more },
      maxRedirects: 0,
    });
  };

  inNightly('an incomplete answer is shown again with its fault', async () => {
    const run = await studio.start(GRAPHS.choice);
    await open(`/runs/${run}`);
    await page.locator('#waits form').evaluate((form) => form.setAttribute('novalidate', ''));
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.locator('#waits [role=alert]').waitFor();
    await page.locator('#waits').getByText('large').click();
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.locator('#head .status.completed').waitFor();
    expect(await text('#end')).toContain('large');
  });

  inNightly('an answer that is being written survives changes of the run', async () => {
    const run = await studio.start(GRAPHS.text);
    await open(`/runs/${run}`);
    await page.locator('#waits textarea, #waits input[type=text]').first().fill('half an ans');
    await page.evaluate(`new Promise((done) => setTimeout(done, 0))`);
    await page.locator('#do-cancel summary').click();
    await studio.send(run, { command: 'answer', actionId: 'why#1', result: 'from elsewhere' });
    await page.locator('#head .status.completed').waitFor();
    expect(await text('#end')).toContain('from elsewhere');
  });

  inNightly('a run is cancelled with a reason, and what it did is undone', async () => {
    const run = await studio.startForAda(GRAPHS.approval, { purpose: 'A yacht', amount: 9_900 });
    await open(`/runs/${run}`);
    await page.locator('#do-cancel summary').click();
    await page.getByLabel('Reason').fill('too expensive');
    await page.getByLabel('Undo what it did').check();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.locator('#head .status.cancelled').waitFor();
    expect(await text('#end')).toContain('too expensive');
    expect(await text('ul.undone')).toContain('release-budget');
    expect(await text('#step-reserved summary')).toContain('undone');
    expect((await page.locator('#steps .name').allInnerTexts()).slice(0, 2)).toEqual([
      'approved',
      'reserved',
    ]);
    expect(await text('#log')).toContain(', as an operator: too expensive');
  });

  inNightly('a failed run is retried with a reason', async () => {
    const run = await studio.start(GRAPHS.failing);
    await open(`/runs/${run}`);
    expect(await text('.failure')).toContain('the bank does not answer');
    expect(await text('#step-broken summary')).toContain('3 attempts');
    studio.tools['tool-broken'] = () => ({ ok: true, value: 'paid' });
    await page.locator('#do-retry summary').click();
    await page.getByLabel('Reason').fill('the bank is back');
    await page.getByRole('button', { name: 'Retry the run' }).click();
    await page.locator('#head .status.completed').waitFor();
    expect(await text('#end')).toContain('paid');
  });

  inNightly('a form without a reason changes no run', async () => {
    const run = await studio.start(GRAPHS.confirm, { amount: 1 });
    await open(`/runs/${run}`);
    const response = await post(`/runs/${run}/cancel`, { reason: ' ' });
    expect([response.status(), await response.text()]).toEqual([
      422,
      expect.stringContaining('Give a reason'),
    ]);
    await open(`/runs/${run}`);
    expect(await text('#head')).toContain('waiting');
  });

  inNightly('a form of another page changes no run', async () => {
    const run = await studio.start(GRAPHS.confirm, { amount: 1 });
    await open(`/runs/${run}`);
    const answer = { action: 'sure#1', 'json/confirmed': 'true' };
    const statuses = [
      await post(`/runs/${run}/answer`, answer, { origin: 'http://127.0.0.1:1' }),
      await post(`/runs/${run}/answer`, { ...answer, key: 'guess' }),
      await context.request.post(at(`/runs/${run}/answer`), { form: answer, maxRedirects: 0 }),
      await post(`/runs/${run}/nothing`, { ...answer, reason: 'x' }),
    ].map((response) => response.status());
    expect(statuses).toEqual([403, 403, 403, 422]);
    await open(`/runs/${run}`);
    expect(await text('#head')).toContain('waiting');
  });

  inBrowser('no page may be framed, and no script runs but its own', async () => {
    const headers = (await page.request.get(at('/runs'))).headers();
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    await open('/runs');
    await page.evaluate(`(() => {
      const script = document.createElement('script');
      script.textContent = 'window.hacked = 2';
      document.body.append(script);
    })()`);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await page.evaluate(`fetch('https://example.com/').then(() => 'sent', () => 'refused')`)).toBe(
      'refused',
    );
  });

  inNightly('a workflow is shown with its graph, and started by its form', async () => {
    await page.goto(at('/workflows'));
    await page.getByRole('link', { name: 'personalized-greeting' }).click();
    expect(await page.locator('.graph [data-key="greeting"]:visible').count()).toBe(1);
    await page.getByLabel('Name').fill('Ada');
    await page.getByRole('button', { name: 'Start a run' }).click();
    await page.locator('#head .status.completed').waitFor();
    expect(await text('#end')).toContain('Hi Ada!');
    expect(await text('#end')).toContain('"name": "Ada"');
  });

  inNightly('arguments that do not fit are shown again with their faults', async () => {
    await page.goto(at('/workflows/personalized-greeting'));
    await page.locator('#start').evaluate((form) => form.setAttribute('novalidate', ''));
    await page.getByRole('button', { name: 'Start a run' }).click();
    expect(await text('#start [role=alert]')).toContain('Name');
    expect(new URL(page.url()).pathname).toBe('/workflows/personalized-greeting/start');
  });

  inNightly('a workflow is tried on stubs', async () => {
    await page.goto(at('/workflows/personalized-greeting'));
    await page.getByLabel('Name').fill('Ada');
    await page.locator('#stubs summary').click();
    await page.locator('[name=stubs]').fill('{"greet": {"greeting": "Ahoy"}}');
    await page.getByRole('button', { name: 'Dry run' }).click();
    expect(await text('#report')).toContain('succeeded: "Ahoy"');
    await page.locator('[name=stubs]').fill('{"gret": 1}');
    await page.getByRole('button', { name: 'Dry run' }).click();
    expect(await text('#notice')).toContain('did you mean `greet`?');
  });

  inNightly('the change of a workflow is shown with what it does to open runs', async () => {
    const run = await studio.start(GRAPHS.choice);
    await page.goto(at('/workflows/choose/change'));
    expect(await text('.diff del')).toContain('Which size?');
    expect(await text('.diff ins')).toContain('Which colour?');
    expect(await page.locator('tr', { hasText: run }).innerText()).toContain(
      'continues on its old definition',
    );
  });

  inBrowser('a step of the graph leads to its details', async () => {
    const run = await studio.start(GRAPHS.failing);
    await open(`/runs/${run}`);
    await page.locator('[data-key="fetch"]:visible').click();
    await page.locator('#step-fetch[open]').waitFor();
    expect(await text('#step-fetch')).toContain('https://example.com');
  });

  inNightly('is used with the keyboard alone', async () => {
    const run = await studio.start(GRAPHS.text);
    await open('/runs');
    await page.keyboard.press('/');
    await page.keyboard.type(run);
    await page.keyboard.press('Enter');
    await page.waitForURL(/text=/);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(at(`/runs/${run}`));
    expect(await text('h1')).toContain('explain');
  });

  inNightly('works without its script', async () => {
    const plain = await browser?.newContext({ javaScriptEnabled: false });
    const other = await plain?.newPage();
    if (other === undefined) return;
    const run = await studio.start(GRAPHS.confirm, { amount: 3 });
    await other.goto(address.href);
    await other.goto(at(`/runs/${run}`));
    await other.getByRole('button', { name: 'No' }).click();
    await other.locator('#head .status.completed').waitFor();
    expect(await other.locator('#head time').first().innerText()).toMatch(/^\d{4}-\d\d-\d\d .* UTC$/);
    await plain?.close();
  });

  const MEASURED = `(() => {
    const faults = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: element, textContent } = walker.currentNode;
      const scale = element instanceof SVGTextElement ? element.getScreenCTM().a : 1;
      const isShown = textContent.trim() !== '' && element.getClientRects().length > 0;
      if (isShown && parseFloat(getComputedStyle(element).fontSize) * scale < 11) faults.push(textContent);
    }
    for (const graph of document.querySelectorAll('.graph')) {
      if (graph.scrollWidth > graph.clientWidth) faults.push('a graph is wider than its place: ' + graph.scrollWidth);
      if (graph.parentElement.querySelector('.legend li') === null) faults.push('no legend');
    }
    if (document.documentElement.scrollWidth > innerWidth) faults.push('wider than the screen: ' + document.documentElement.scrollWidth);
    return faults;
  })()`;

  for (const [name, size] of [
    ['a phone', { width: 375, height: 700 }],
    ['a screen', { width: 1_280, height: 800 }],
  ] as const)
    inNightly(`all texts are legible, and nothing is cut, on ${name}`, async () => {
      const runs = [
        await studio.start(GRAPHS.sixty, {}, { kind: 'local' }, 0),
        await studio.start(GRAPHS.text),
        await studio.start(GRAPHS.failing),
      ];
      await page.setViewportSize(size);
      for (const path of [
        '/runs',
        '/workflows',
        '/workflows/choose/change',
        '/workflows/personalized-greeting',
        ...runs.map((run) => `/runs/${run}`),
      ]) {
        await page.goto(at(path));
        expect([path, await page.evaluate(MEASURED)]).toEqual([path, []]);
      }
      await page.setViewportSize({ width: 1_280, height: 800 });
    });

  inNightly('a graph of 60 steps follows the step that runs', async () => {
    const run = await studio.start(GRAPHS.sixty, {}, { kind: 'local' }, 0);
    await open(`/runs/${run}`);
    expect(await page.locator('.graph .box:visible').count()).toBe(60);
    await page.locator('.graph [data-key="n30"].s-running:visible').waitFor();
    const [outer, inner] = [
      await page.locator('.graph').boundingBox(),
      await page.locator('.graph [data-key="n30"]:visible').boundingBox(),
    ];
    expect(inner?.y).toBeGreaterThanOrEqual(outer?.y ?? 0);
    expect((inner?.y ?? 0) + (inner?.height ?? 0)).toBeLessThanOrEqual(
      (outer?.y ?? 0) + (outer?.height ?? 0),
    );
  });

  inNightly('fits dark surroundings, and paper', async () => {
    await open(`/runs/${await studio.start(GRAPHS.confirm, { amount: 4 })}`);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe('rgb(16, 19, 24)');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.evaluate(`getComputedStyle(document.body).color`)).toBe('rgb(0, 0, 0)');
    expect(await page.locator('header').isHidden()).toBe(true);
    expect(await page.locator('.graph rect.bar:visible').count()).toBe(3);
    await page.emulateMedia({ media: null, colorScheme: null });
  });

  inBrowser('pages of what is not there say so', async () => {
    for (const path of ['/runs/none', '/nothing', '/workflows/none', '/runs/none/answer']) {
      const response = await page.request.get(at(path));
      expect([path, response.status()]).toEqual([path, 404]);
    }
  });

  inNightly('a list continues on further pages', async () => {
    for (let count = 0; count < 5; count += 1) await studio.start(GRAPHS.confirm, { amount: count });
    const names = () => page.locator('.runs tbody th').allInnerTexts();
    await open('/runs?limit=3&workflow=pay-bill');
    const first = await names();
    await page.getByRole('link', { name: 'Older runs' }).click();
    await page.waitForURL(/before=/);
    const second = await names();
    expect(first).toHaveLength(3);
    expect(new Set([...first, ...second]).size).toBe(first.length + second.length);
    await page.getByRole('link', { name: 'Latest runs' }).click();
    expect(await names()).toEqual(first);
  });

  inNightly('a page is small, and requests its own files alone', async () => {
    const run = await studio.start(GRAPHS.sixty, {}, { kind: 'local' }, 0);
    const requests: string[] = [];
    const addresses: string[] = [];
    const other = await context.newPage();
    other.on('request', (request) => {
      const { href, pathname } = new URL(request.url());
      requests.push(pathname);
      if (!pathname.startsWith('/live/')) addresses.push(href);
    });
    await other.goto(at(`/runs/${run}`), { waitUntil: 'load' });
    await other.locator('#link.live').waitFor();
    expect(requests.sort()).toEqual(
      [`/live/runs/${run}`, `/runs/${run}`, '/studio.css', '/studio.js'].sort(),
    );
    const bodies = await Promise.all(
      addresses.map(async (address) => (await context.request.get(address)).body()),
    );
    expect(bodies.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(250_000);
    const style = addresses.find((address) => address.includes('.css')) ?? '';
    const kept = (await context.request.get(style)).headers()['cache-control'];
    expect(kept).toBe('private, max-age=31536000, immutable');
    expect((await context.request.get(style.replace(/\?.*/, '?old'))).status()).toBe(404);
    await other.close();
  });
});
