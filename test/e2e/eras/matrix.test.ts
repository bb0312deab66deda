import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { expect, test, vi } from 'vitest';
import type { Json } from '../../../src/graph/json.js';
import type { AskNode, Graph } from '../../../src/graph/model.js';
import { sentFields } from '../../../src/print/form/sent-fields.fixture.js';
import { page } from '../../docs/fences.js';
import { isNightly } from '../../nightly.js';
import { type Answer, callOf, textIn } from '../composite/client.js';
import { desk } from '../composite/fixture/registry.js';
import { ask, call, lit, returns, step, workflow } from '../composite/fixture/workflows.js';
import { listening, sessionOf } from '../composite/http.js';
import { getTask, resultOf, startTask } from '../tasks/tasks.js';
import { envelope, post, statelessClient } from './client.js';

// How each kind of question reaches the user of each kind of client. docs/protocol-versions.md has the expectations.

/** The columns of the table: an era of the protocol, and what a client declares. */
const PROFILES = {
  '2026-07-28, `form`': { isNew: true, elicitation: { form: {} } },
  '2026-07-28, `form` and `url`': { isNew: true, elicitation: { form: {}, url: {} } },
  '2026-07-28, no elicitation': { isNew: true },
  '2025-11-25, `form`': { isNew: false, elicitation: { form: {} } },
  '2025-11-25, `form` and `url`': { isNew: false, elicitation: { form: {}, url: {} } },
  '2025-11-25, no elicitation': { isNew: false },
  '2026-07-28, apps': { isNew: true, showsApps: true },
  '2025-11-25, apps': { isNew: false, showsApps: true },
} as const satisfies Record<string, Profile>;

interface Profile {
  readonly isNew: boolean;
  readonly showsApps?: boolean;
  readonly elicitation?: { readonly form: Record<string, never>; readonly url?: Record<string, never> };
}

/** A kind of question: its step, its answer, and the fields of the answer on its page. */
interface Kind {
  readonly ask: Partial<AskNode>;
  readonly answer: Record<string, Json>;
  readonly fields: Readonly<Record<string, string>>;
}

const object = (properties: object) => ({
  mode: 'yield' as const,
  expects: { type: 'object', properties, required: Object.keys(properties) } as Record<string, Json>,
});
const yes = { answer: { confirmed: true }, fields: { 'value/confirmed': '0' } };

const KINDS: Readonly<Record<string, Kind>> = {
  '`confirm`': { ask: {}, ...yes },
  '`approves`': { ask: { approves: 'booked' }, ...yes },
  '`info`': { ask: { mode: 'info' }, answer: { acknowledged: true }, fields: {} },
  '`text`': { ask: { mode: 'text' }, answer: { input: 'fine' }, fields: { 'value/input': 'fine' } },
  '`choice`': {
    ask: { mode: 'choice', options: lit(['left', 'right']) },
    answer: { selected: 'right' },
    fields: { 'value/selected': '1' },
  },
  'several choices': {
    ask: object({ sides: { type: 'array', items: { type: 'string', enum: ['left', 'right'] } } }),
    answer: { sides: ['right'] },
    fields: { 'value/sides/0': '1' },
  },
  'another list': {
    ask: object({ names: { type: 'array', items: { type: 'string' } } }),
    answer: { names: ['Ada'] },
    fields: { 'value/names/0': 'Ada' },
  },
  'a nested object': {
    ask: object({ address: object({ city: { type: 'string' } }).expects }),
    answer: { address: { city: 'Lyon' } },
    fields: { 'value/address/city': 'Lyon' },
  },
  '`answerBy: human()`': { ask: { answerBy: [{ kind: 'human' }] }, ...yes },
};

const nameOf = (kind: string): string => kind.replaceAll(/\W+/g, '-').replaceAll(/^-|-$/g, '');

const graphs = Object.entries(KINDS).map(
  ([kind, { ask: more }]): Graph => ({
    ...workflow(nameOf(kind), [
      ask('asked', more),
      ...(more.approves === undefined
        ? []
        : [call('booked', 'create-booking', { city: lit('Rome'), seats: lit(2) })]),
      returns(more.mode === 'info' ? lit({ acknowledged: true }) : step('asked')),
    ]),
    taskSupport: 'optional',
  }),
);

/** The state of a run, in the result of a tool. */
interface Run {
  readonly workflow_id: string;
  readonly action: { readonly action_id: string; readonly page_url: string };
}

type Meta = Readonly<Record<string, unknown>>;

/** A client of a profile. Its user answers the questions that reach it, and notes how. */
abstract class AskedClient {
  /** How the user was asked, by the latest request. */
  way: string | undefined;
  kind: Kind | undefined;
  showsApps = false;
  abstract readonly formWay: string;
  abstract call(name: string, args?: Record<string, unknown>): Promise<Answer>;
  abstract prompt(
    name: string,
  ): Promise<{ readonly messages: readonly object[]; readonly _meta?: Meta | undefined }>;
  /** Calls a tool as a task, up to its question. */
  abstract task(name: string): Promise<{ readonly id: string; readonly message: string }>;
  abstract taskResult(id: string): Promise<Answer>;

  /** Whether the user is asked while the client waits for the result of a task. */
  async asksForTask(): Promise<boolean> {
    return this.way !== undefined;
  }

  readonly user = async (question: { readonly mode?: string | undefined; readonly url?: string }) => {
    const { answer = {}, fields = {} } = this.kind ?? {};
    if (question.mode === 'url') {
      this.way = 'URL';
      await fillIn(question.url ?? '', fields);
      return { action: 'accept' as const };
    }
    this.way = this.formWay;
    return { action: 'accept' as const, content: answer as Record<string, string> };
  };
}

/** Sends the form of a page with these fields. */
async function fillIn(url: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const sent = sentFields(await (await fetch(url)).text()).filter(([name]) => !Object.hasOwn(fields, name));
  const body = new URLSearchParams([...sent, ...Object.entries(fields)]);
  const html = await (await fetch(url, { method: 'POST', body })).text();
  expect(html).toContain('Your answer was taken');
}

class NewClient extends AskedClient {
  readonly formWay = 'input request';
  readonly #url: URL;
  readonly #client: Awaited<ReturnType<typeof statelessClient>>;
  readonly #capabilities: object;

  constructor(url: URL, client: Awaited<ReturnType<typeof statelessClient>>, capabilities: object) {
    super();
    this.#url = url;
    this.#client = client;
    this.#capabilities = { ...capabilities, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    if ('elicitation' in capabilities)
      client.setRequestHandler('elicitation/create', ({ params }) => this.user(params));
  }

  async call(name: string, args = {}) {
    return (await this.#client.callTool({ name, arguments: args })) as Answer;
  }

  prompt(name: string) {
    return this.#client.getPrompt({ name });
  }

  async task(name: string) {
    const { taskId } = await this.#send('tools/call', { name: `w_${name}`, arguments: {} });
    const id = String(taskId);
    let message = '';
    await expect
      .poll(async () => {
        const { inputRequests, statusMessage = '' } = await this.#send('tasks/get', { taskId: id });
        message = String(statusMessage);
        for (const [key, { params }] of Object.entries(
          (inputRequests ?? {}) as Record<string, { params: object }>,
        ))
          await this.#send('tasks/update', {
            taskId: id,
            inputResponses: { [key]: await this.user(params) },
          });
        return this.way !== undefined || message.includes('Action ');
      })
      .toBe(true);
    return { id, message };
  }

  async taskResult(taskId: string) {
    let result: unknown;
    await expect
      .poll(async () => {
        ({ result } = await this.#send('tasks/get', { taskId }));
        return result;
      })
      .toBeDefined();
    return result as Answer;
  }

  async #send(method: string, params: object): Promise<Meta> {
    const response = await post(this.#url, method, {
      params: { ...params, _meta: envelope(this.#capabilities) },
      headers: {
        'mcp-name': 'taskId' in params ? String(params.taskId) : String((params as { name?: string }).name),
      },
    });
    return ((await response.json()) as { result: Meta }).result;
  }
}

class OldClient extends AskedClient {
  readonly formWay = 'elicitation';

  constructor(
    readonly client: Client,
    readonly canAsk: boolean,
  ) {
    super();
  }

  call(name: string, args = {}) {
    return callOf(this.client, name, args);
  }

  prompt(name: string) {
    return this.client.getPrompt({ name });
  }

  async task(name: string) {
    const { task } = await startTask(this.client, `w_${name}`);
    let message = '';
    await expect
      .poll(async () => {
        ({ statusMessage: message = '' } = await getTask(this.client, task.taskId));
        return message;
      })
      .toContain('Action ');
    return { id: task.taskId, message };
  }

  taskResult(id: string) {
    return resultOf(this.client, id);
  }

  override async asksForTask() {
    const isAsked = () => expect(this.way).toBeDefined();
    if (this.canAsk) await vi.waitFor(isAsked, 2_000).catch(() => {});
    return this.way !== undefined;
  }
}

const APPS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

async function clientOf({ isNew, elicitation, showsApps }: Profile, url: URL): Promise<AskedClient> {
  const capabilities = {
    ...(elicitation && { elicitation }),
    ...(showsApps === true ? { extensions: APPS } : {}),
  };
  if (isNew) return new NewClient(url, await statelessClient(url, { capabilities }), capabilities);
  // The user is that of the client which is made with it.
  const user = (question: object): Promise<ElicitResult> => old.user(question);
  const canAsk = elicitation !== undefined;
  const { client } = await sessionOf(url, { ...(canAsk ? { user } : {}), capabilities });
  const old = new OldClient(client, canAsk);
  return old;
}

/** Sends the form of a question that a host shows in a frame. Undefined where the frame has no form. */
async function answeredInFrame(client: AskedClient, id: string): Promise<'app' | undefined> {
  const { fields = {} } = client.kind ?? {};
  const shown = await client.call('answer_question', { workflow_id: id });
  const html = String(shown.structuredContent?.html);
  const [, action_id] = /<form data-action="([^"]+)">/.exec(html) ?? [];
  if (action_id === undefined) return undefined;
  const sent = sentFields(html).filter(([name]) => !Object.hasOwn(fields, name));
  const filled = new URLSearchParams([...sent, ...Object.entries(fields)]).toString();
  const answer = await client.call('answer_question', { workflow_id: id, action_id, fields: filled });
  expect(answer.structuredContent).toMatchObject({ status: 'completed' });
  return 'app';
}

/** Answers a question that did not reach the user: as the model that reads this text, or on the page that it names. */
async function answered(client: AskedClient, text: string, id: string): Promise<'action' | 'link'> {
  const { answer, fields = {} } = client.kind ?? {};
  const { structuredContent } = await client.call('get_workflow_status', { workflow_id: id });
  const { action } = structuredContent as unknown as Run;
  const submission = { workflow_id: id, action_id: action.action_id, result: answer };
  const submitted = await client.call('submit_result', submission);
  if (submitted.isError !== true) {
    expect(text).toContain('submit_result');
    return 'action';
  }
  expect(JSON.stringify(submitted._meta)).toContain('NOT_PERMITTED');
  const [link] = /http:[^\s"]+\/questions\/[\w-]+/.exec(text) ?? [];
  if (link === undefined) expect(text).toContain('it returns the address of the page');
  await fillIn(link ?? action.page_url, fields);
  return 'link';
}

const STARTS: Readonly<Record<string, (client: AskedClient, name: string) => Promise<string>>> = {
  async 'a tool'(client, name) {
    const result = await client.call(`w_${name}`);
    if (client.way === undefined) {
      const { workflow_id } = result.structuredContent as unknown as Run;
      const inFrame = client.showsApps ? await answeredInFrame(client, workflow_id) : undefined;
      return inFrame ?? answered(client, textIn(result), workflow_id);
    }
    expect(result.structuredContent).toEqual(client.kind?.answer);
    return client.way;
  },
  async 'a prompt'(client, name) {
    const { messages, _meta = {} } = await client.prompt(name);
    if (client.way === undefined) {
      const way = await answered(client, JSON.stringify(messages.at(-1)), String(_meta.workflow_id));
      return way === 'action' ? 'hand-off' : `hand-off and ${way}`;
    }
    expect(_meta).toMatchObject({ status: 'succeeded', result: client.kind?.answer });
    return client.way;
  },
  async 'a task'(client, name) {
    const { id, message } = await client.task(name);
    const result = client.taskResult(id);
    const way = (await client.asksForTask()) ? client.way : await answered(client, message, id);
    expect((await result).structuredContent).toEqual(client.kind?.answer);
    return way ?? '';
  },
};

/** The cells of the table in the documentation, by profile: `a tool: another list` to the way. */
function expectations(): Map<string, Record<string, string>> {
  const [, section = ''] = page('docs/protocol-versions.md').split('\n## How a question is put\n');
  const [header = [], , ...rows] =
    section
      .split('\n## ')[0]
      ?.split('\n')
      .filter((line) => line.startsWith('|'))
      .map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ) ?? [];
  const profiles = header.slice(2);
  const cells = rows.flatMap(([starts = '', kinds = '', ...ways]) =>
    starts
      .split(', ')
      .flatMap((start) => kinds.split(', ').map((kind) => ({ name: `${start}: ${kind}`, ways }))),
  );
  expect(new Set(cells.map(({ name }) => name)).size, 'each cell stands once').toBe(cells.length);
  return new Map(
    profiles.map((profile, index) => [
      profile,
      Object.fromEntries(cells.map(({ name, ways }) => [name, ways[index] ?? ''])),
    ]),
  );
}

test('the table of the documentation has each profile', () => {
  expect([...expectations().keys()]).toEqual(Object.keys(PROFILES));
});

/** Of each era the profile with the most ways. */
const IN_EVERY_BUILD = ['2026-07-28, `form` and `url`', '2025-11-25, `form` and `url`'];

test.each(Object.entries(PROFILES).filter(([profile]) => isNightly || IN_EVERY_BUILD.includes(profile)))(
  'each question reaches the user of a client of %s, and its answer the run',
  {
    timeout: 60_000,
  },
  async (profile, capabilities) => {
    const { server } = desk({
      workflows: graphs.map((graph) => ({ graph })),
      questions: { page: true, app: true },
      log: () => {},
    });
    const client = await clientOf(capabilities, await listening(server, { auth: undefined as never }));
    const ways: Record<string, string> = {};
    for (const [start, put] of Object.entries(STARTS))
      for (const [kind, details] of Object.entries(KINDS)) {
        Object.assign(client, { kind: details, way: undefined, showsApps: 'showsApps' in capabilities });
        ways[`${start}: ${kind}`] = await put(client, nameOf(kind));
      }
    expect(ways).toEqual(expectations().get(profile));
  },
);
