import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { type Answer, callOf, failureIn } from '../composite/client.js';
import { desk } from '../composite/fixture/registry.js';
import { ask, lit, returns, step, workflow } from '../composite/fixture/workflows.js';
import { listening, sessionOf, tokenOf, type Visitor } from '../composite/http.js';
import { startBrowser } from './browser.js';

// Questions in the frame of a host that shows apps.

const APPS = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};
const NAMES = {
  type: 'object',
  properties: { names: { type: 'array', items: { type: 'string', maxLength: 5 } } },
  required: ['names'],
  additionalProperties: false,
};
const graphs = [
  workflow('order', [
    ask('names', { mode: 'yield', expects: NAMES }),
    ask('sure', { message: lit('Order <b>all</b>?') }),
    returns(step('names')),
  ]),
  workflow('person', [ask('sure', { answerBy: [{ kind: 'human' }] }), returns(step('sure'))]),
];

/** A host: the bridge of the SDK for apps shows the app in a sandboxed frame, and passes on what the app asks for. */
const HOST = `
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
let bridge;
globalThis.show = async (html) => {
  await bridge?.close();
  document.body.innerHTML = '<iframe sandbox="allow-scripts" style="width:100%;border:0"></iframe>';
  const frame = document.querySelector('iframe');
  const capabilities = { serverTools: {}, openLinks: {}, updateModelContext: { text: {} } };
  bridge = new AppBridge(null, { name: 'host', version: '1.0.0' }, capabilities);
  bridge.oncalltool = (params) => forward('tools/call', params);
  bridge.onopenlink = (params) => forward('ui/open-link', params);
  bridge.onupdatemodelcontext = (params) => forward('ui/update-model-context', params);
  bridge.onsizechange = ({ height }) => { frame.style.height = height + 'px'; };
  bridge.oninitialized = async () => {
    await bridge.sendToolInput({ arguments: {} });
    await bridge.sendToolResult(await toolResult());
  };
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html;
};
`;

/** The script of the host. */
async function hostScript(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: HOST, resolveDir: import.meta.dirname },
    ...{ bundle: true, format: 'iife', write: false, logLevel: 'error' },
  });
  return outputFiles[0]?.text ?? '';
}

interface Forwarded {
  readonly method: string;
  readonly params: {
    readonly name: string;
    readonly arguments: Record<string, unknown>;
    readonly url?: string;
  };
}

async function hostOf(visitor: Visitor = {}) {
  const { server } = desk({
    workflows: graphs.map((graph) => ({ graph })),
    questions: { page: true, app: true },
    log: () => {},
  });
  const { client } = await sessionOf(await listening(server), { ...visitor, capabilities: APPS });
  return client;
}

type Hosted = Awaited<ReturnType<typeof hostOf>>;

describe('the app of questions', { timeout: 120_000 }, async () => {
  const browser: Browser | undefined = await startBrowser();
  afterAll(() => browser?.close());

  let shownNow: { readonly client: Hosted; readonly result: Answer; readonly forwarded: Forwarded[] };
  const problems: string[] = [];

  /** Opens the page of the host, once: it takes the browser a while to read the SDK. */
  async function hostPage(): Promise<Page> {
    if (browser === undefined) throw new Error('there is a browser');
    const page = await browser.newPage();
    page.on('console', (message) => {
      // The bridge logs its messages.
      if (message.type() !== 'debug') problems.push(message.text());
    });
    await page.exposeFunction('toolResult', () => shownNow.result);
    await page.exposeFunction('forward', async (method: string, params: Forwarded['params']) => {
      const { client, forwarded } = shownNow;
      forwarded.push({ method, params });
      return method === 'tools/call' ? callOf(client, params.name, params.arguments) : {};
    });
    await page.addScriptTag({ content: await hostScript() });
    return page;
  }

  let opened: Promise<Page> | undefined;

  /** Shows the result of a tool as a host does. */
  async function shown(client: Hosted, result: Answer) {
    opened ??= hostPage();
    const page = await opened;
    const forwarded: Forwarded[] = [];
    shownNow = { client, result, forwarded };
    const [content] = (await client.readResource({ uri: 'ui://stepwright/question' })).contents;
    expect(content).toMatchObject({ mimeType: 'text/html;profile=mcp-app' });
    await page.evaluate(`show(${JSON.stringify((content as { text: string }).text)})`);
    return { page, frame: page.frameLocator('iframe'), forwarded };
  }

  test('takes answers of a list and the next question, and the model learns the state', async () => {
    if (browser === undefined) return;
    const client = await hostOf();
    const waiting = await callOf(client, 'w_order');
    const { frame, page, forwarded } = await shown(client, waiting);
    await frame.getByLabel('Names 1').fill('much too long');
    await frame.getByRole('button', { name: 'Send the answer' }).click();
    expect(await frame.locator('.faults li').allTextContents()).toHaveLength(1);
    await frame.getByLabel('Names 1').fill('Ada');
    await frame.getByRole('button', { name: 'Add rows to Names' }).click();
    await frame.getByLabel('Names 3').fill('Bob');
    await frame.getByLabel('Names 3').press('Enter');
    const heading = () => frame.getByRole('heading', { level: 1 }).textContent();
    await expect.poll(heading).toBe('Order <b>all</b>?');
    const height = () => page.evaluate("document.querySelector('iframe').offsetHeight");
    await expect.poll(height).toBeGreaterThan(160);
    if (process.env.PICTURES !== undefined)
      await page.screenshot({ path: `${process.env.PICTURES}/question-app.png`, fullPage: true });
    await frame.getByText('Yes').click();
    await frame.getByRole('button', { name: 'Send the answer' }).click();
    await frame.getByText('it has completed').waitFor();
    const { workflow_id } = waiting.structuredContent ?? {};
    const { structuredContent } = await callOf(client, 'get_workflow_status', { workflow_id });
    expect(structuredContent).toMatchObject({ status: 'completed', result: { names: ['Ada', 'Bob'] } });
    const [told] = forwarded.filter(({ method }) => method === 'ui/update-model-context').slice(-1);
    expect(JSON.stringify(told)).toContain('is completed');
    expect(problems).toEqual([]);
  });

  test('opens the page of a question for people alone, unless the server knows the caller', async () => {
    if (browser === undefined) return;
    const client = await hostOf();
    const waiting = await callOf(client, 'w_person');
    const { frame, forwarded } = await shown(client, waiting);
    await frame.getByRole('button', { name: 'Open the page of the question' }).click();
    await expect.poll(() => forwarded.map(({ method }) => method)).toContain('ui/open-link');
    expect(forwarded.at(-1)?.params.url).toContain('/questions/');
    const ada = await hostOf({ token: tokenOf('desktop', { sub: 'ada' }) });
    const known = await shown(ada, await callOf(ada, 'w_person'));
    await known.frame.getByText('Yes').click();
    await known.frame.getByRole('button', { name: 'Send the answer' }).click();
    await known.frame.getByText('it has completed').waitFor();
  });
});

test('an anonymous host cannot answer a question for people alone with the tool of the app', async () => {
  const client = await hostOf();
  const { structuredContent } = await callOf(client, 'w_person');
  const args = {
    workflow_id: structuredContent?.workflow_id,
    action_id: 'sure#1',
    fields: 'value/confirmed=0',
  };
  const answer = await callOf(client, 'answer_question', args);
  expect(answer.structuredContent).toMatchObject({
    status: 'waiting',
    html: expect.not.stringContaining('<form'),
  });
  const unknown = await callOf(client, 'answer_question', { workflow_id: 'other' });
  expect(failureIn(unknown)).toMatchObject({ code: 'WORKFLOW_NOT_FOUND' });
});

test('only hosts that show apps have the app and its tool in their lists', async () => {
  const { tools } = await (await hostOf()).listTools();
  const metaOf = (name: string) => tools.find((tool) => tool.name === name)?._meta;
  expect(metaOf('w_order')).toMatchObject({ ui: { resourceUri: 'ui://stepwright/question' } });
  expect(metaOf('answer_question')).toEqual({ ui: { visibility: ['app'] } });
  expect(metaOf('get_workflow_status')?.ui).toBeUndefined();
  const { server } = desk({ workflows: graphs.map((graph) => ({ graph })), questions: { app: true } });
  const plain = await (await sessionOf(await listening(server))).client.listTools();
  expect(JSON.stringify(plain)).not.toMatch(/answer_question|ui:\/\//);
});
