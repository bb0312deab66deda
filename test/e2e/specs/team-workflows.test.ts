import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Tool } from 'stepwright';
import { createServer, type StepwrightServer } from 'stepwright/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { nightlyTest } from '../../nightly.js';
import { failureIn, runIn } from '../composite/client.js';
import { freshCall, listening, type Visitor } from '../composite/http.js';
import { registryOf } from '../server/fixture/registry-of.js';

const FOLDER = path.join(import.meta.dirname, 'team');

type Act = (input: Record<string, unknown>) => object;

const text = { type: 'string' };
const number = { type: 'number' };
const object = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** The tools of the workflows: what they take, what they give, and what they do without a test of its own. */
const TOOLS: Readonly<Record<string, readonly [input: object, output: object, act: Act]>> = {
  get_invoice: [
    object({ id: text }),
    object({ number: text, amount: number, vendor: object({ id: text, name: text }) }),
    ({ id }) => ({ number: String(id), amount: 50, vendor: { id: 'v1', name: 'Acme' } }),
  ],
  find_duplicates: [
    object({ number: text, vendor: text }),
    object({ matches: { type: 'array', items: text } }),
    () => ({ matches: [] }),
  ],
  pay_invoice: [
    object({ id: text, amount: number }),
    object({ payment_id: text }),
    () => ({ payment_id: 'p1' }),
  ],
  book_ledger: [object({ invoice: text, payment: text }), object({ entry: text }), () => ({ entry: 'e1' })],
  build: [
    object({ tag: text }),
    object({ artifact: text }),
    ({ tag }) => ({ artifact: `app-${String(tag)}` }),
  ],
  run_tests: [object({ artifact: text, os: text }), object({ passed: number }), () => ({ passed: 9 })],
  deploy: [object({ artifact: text, percent: number }), object({ at: text }), () => ({ at: 'now' })],
  error_rate: [
    object({ since: text }),
    object({ rate: number, baseline: number }),
    () => ({ rate: 1, baseline: 1 }),
  ],
  grant_access: [object({ system: text }), object({ id: text }), () => ({ id: 'g1' })],
  revoke_access: [object({ grant: text }), object({ ok: { type: 'boolean' } }), () => ({ ok: true })],
  start_job: [object({ url: text }), object({ id: text }), () => ({ id: 'j1' })],
  get_job: [
    object({ id: text }),
    object({ status: { enum: ['running', 'done', 'failed'] }, url: text }),
    () => ({ status: 'running', url: 'https://x/j1' }),
  ],
  publish: [object({ url: text }), object({ url: text }), ({ url }) => ({ url })],
  get_pull_request_files: [
    object({ owner: text, repo: text, pull_number: number }),
    object({ files: { type: 'array', items: object({ filename: text }) } }),
    () => ({ files: [{ filename: 'a.md' }, { filename: 'b.ts' }, { filename: 'c.md' }] }),
  ],
  summarize: [
    object({ path: text }),
    object({ summary: text }),
    ({ path: file }) => ({ summary: `about ${String(file)}` }),
  ],
  add_issue_comment: [
    object({ issue_number: number, body: text }),
    object({ id: text }),
    () => ({ id: 'c1' }),
  ],
  get_price: [
    object({ sku: text }),
    object({ value: number }),
    ({ sku }) => ({ value: sku === 'a' ? 10 : 30 }),
  ],
  make_quote: [object({ amount: number }), object({ amount: number }), ({ amount }) => ({ amount })],
};

/** A server of the workflows, and the calls of its tools. */
function team(acts: Readonly<Record<string, Act>> = {}): {
  server: StepwrightServer;
  calls: [tool: string, input: Record<string, unknown>][];
} {
  const calls: [string, Record<string, unknown>][] = [];
  const tools = Object.entries(TOOLS).map(([name, [input, output, act]]) => {
    class Fake {
      execute(given: Record<string, unknown>) {
        calls.push([name, given]);
        return (acts[name] ?? act)(given);
      }
    }
    Tool({ name, description: `Does ${name}` })(Fake as never);
    return { class: Fake, input, output };
  });
  const registry = registryOf({ tools } as never);
  const server = createServer(registry, { specs: { root: FOLDER, files: ['*.yaml'] }, log: () => {} });
  onTestFinished(() => server.stop());
  return { server, calls };
}

/** A user whose token contains its roles. */
function user(sub: string, ...roles: string[]): Visitor {
  const token = JSON.stringify({ clientId: 'app', extra: { sub }, roles });
  return { token: Buffer.from(token).toString('base64url') };
}

const [ada, bob] = [user('ada', 'lead', 'security'), user('bob', 'lead')];

/** Starts a run of Ada, which waits for the answer of somebody else, and answers it. */
async function approved(server: StepwrightServer, name: string, args: object, ok: boolean): Promise<unknown> {
  const url = await listening(server);
  const waiting = await freshCall(url, name, args as Record<string, unknown>, ada);
  const workflow_id = runIn(waiting);
  const own = await freshCall(url, 'submit_result', { workflow_id, result: { ok } }, ada);
  expect(failureIn(own)?.code).toBe('NOT_PERMITTED');
  const { structuredContent: inbox = {} } = await freshCall(url, 'list_workflows', {}, bob);
  const [question] = inbox.to_answer as [{ workflow_id: string; action_id: string; message: string }];
  const answer = { workflow_id: question.workflow_id, action_id: question.action_id, result: { ok } };
  await freshCall(url, 'submit_result', answer, bob);
  await expect
    .poll(
      async () =>
        (await freshCall(url, 'get_workflow_status', { workflow_id }, ada)).structuredContent?.status,
    )
    .toMatch(/completed|failed/);
  const { structuredContent } = await freshCall(url, 'get_workflow_status', { workflow_id }, ada);
  return { message: question.message, ...structuredContent };
}

async function run(name: string, args: object, acts?: Readonly<Record<string, Act>>) {
  const { server, calls } = team(acts);
  const answer = await freshCall(await listening(server), name, args as Record<string, unknown>, ada);
  return { answer, calls, tools: calls.map(([tool]) => tool), failure: failureIn(answer) };
}

const invoice = (amount: number): Readonly<Record<string, Act>> => ({
  get_invoice: () => ({ number: 'R-7', amount, vendor: { id: 'v1', name: 'Acme' } }),
});

test('a small invoice is paid at once, and a duplicate is not', async () => {
  const { answer, tools } = await run('w_approve_invoice', { invoice_id: 'R-7' }, invoice(50));
  expect(answer.structuredContent).toEqual({ payment: 'p1', entry: 'e1' });
  expect(tools).toEqual(['get_invoice', 'find_duplicates', 'pay_invoice', 'book_ledger']);
  const twice = await run(
    'w_approve_invoice',
    { invoice_id: 'R-7' },
    {
      ...invoice(50),
      find_duplicates: () => ({ matches: ['R-7'] }),
    },
  );
  expect(twice.failure).toMatchObject({ code: 'DUPLICATE', message: 'Invoice R-7 was seen before' });
  expect(twice.tools).toEqual(['get_invoice', 'find_duplicates']);
});

nightlyTest('a larger invoice is approved by another lead than the requester', async () => {
  const { server, calls } = team(invoice(900));
  const ended = await approved(server, 'w_approve_invoice', { invoice_id: 'R-7' }, true);
  expect(ended).toMatchObject({ status: 'completed', message: 'Pay 900 to Acme?' });
  expect(calls.map(([tool]) => tool)).toEqual([
    'get_invoice',
    'find_duplicates',
    'pay_invoice',
    'book_ledger',
  ]);
  const refused = team(invoice(900));
  const declined = await approved(refused.server, 'w_approve_invoice', { invoice_id: 'R-7' }, false);
  expect(declined).toMatchObject({ status: 'failed' });
  expect(refused.calls.map(([tool]) => tool)).toEqual(['get_invoice', 'find_duplicates']);
});

test('a release is promoted after its canary, or rolled back', async () => {
  const args = { tag: 'v1.2.3', soak_minutes: 0.0005 };
  const promoted = await run('w_release', args);
  expect(promoted.answer.structuredContent).toEqual({ promoted: 'succeeded', back: 'skipped' });
  expect(
    promoted.calls
      .filter(([tool]) => tool === 'run_tests')
      .map(([, { os }]) => os)
      .sort(),
  ).toEqual(['linux', 'mac', 'windows']);
  expect(promoted.tools.slice(4)).toEqual(['deploy', 'error_rate', 'deploy']);
  const back = await run('w_release', args, { error_rate: () => ({ rate: 2, baseline: 1 }) });
  expect(back.calls.at(-1)).toEqual(['deploy', { artifact: 'previous', percent: 100 }]);
  expect(back.answer.structuredContent).toEqual({ promoted: 'skipped', back: 'succeeded' });
});

nightlyTest('access is granted by somebody else, and taken back after its time', async () => {
  const { server, calls } = team();
  const ended = await approved(server, 'w_access_request', { system: 'db', hours: 0.0001 }, true);
  expect(ended).toMatchObject({ status: 'completed', message: 'Grant access to db for 0.0001 hours?' });
  expect(calls).toEqual([
    ['grant_access', { system: 'db' }],
    ['revoke_access', { grant: 'g1' }],
  ]);
});

nightlyTest('a job is polled until it is done, at most so often', async () => {
  let polls = 0;
  const get_job: Act = () => ({ status: ++polls < 4 ? 'running' : 'done', url: `https://x/${polls}` });
  const done = await run('w_transcode', { url: 'https://x/in' }, { get_job });
  expect(done.tools).toEqual(['start_job', 'get_job', 'get_job', 'get_job', 'get_job', 'publish']);
  expect(done.calls.at(-1)).toEqual(['publish', { url: 'https://x/4' }]);
  const failed = await run(
    'w_transcode',
    { url: 'https://x/in' },
    {
      get_job: () => ({ status: 'failed', url: '' }),
    },
  );
  expect(failed.failure).toMatchObject({ code: 'FAILED' });
  const endless = await run('w_transcode', { url: 'https://x/in' });
  expect(endless.failure).toMatchObject({ code: 'E_LOOP_LIMIT' });
  expect(endless.tools).toEqual(['start_job', ...Array(5).fill('get_job')]);
});

test('changed documents are filtered, summarized and posted as one text', async () => {
  const { calls, tools } = await run('w_doc_review', { pr: 7 });
  expect(tools).toEqual(['get_pull_request_files', 'summarize', 'summarize', 'add_issue_comment']);
  expect(calls.at(-1)?.[1]).toEqual({ issue_number: 7, body: '2 of 3: about a.md; about c.md' });
});

test('a quote is the sum of its prices less a discount', async () => {
  const { calls } = await run('w_quote', { basket: [{ sku: 'a' }, { sku: 'b' }], percent: 15 });
  expect(calls.at(-1)).toEqual(['make_quote', { amount: 34 }]);
});

test('the files have no warning', async () => {
  const { loadWorkflowFiles } = await import('stepwright/formats');
  const annotations = { idempotentHint: true };
  const tools = Object.entries(TOOLS).map(([name, [inputSchema, outputSchema]]) => [
    name,
    { inputSchema, outputSchema, annotations },
  ]);
  const registered = { tools: new Map(tools as never), resources: new Map() } as never;
  const files = readdirSync(FOLDER);
  const { diagnostics, workflows } = await loadWorkflowFiles(files, { root: FOLDER, registered });
  expect(diagnostics.map(({ code, message, place }) => `${place?.file} ${code} ${message}`)).toEqual([]);
  expect(workflows).toHaveLength(files.length);
  expect(files.every((file) => readFileSync(path.join(FOLDER, file), 'utf8') !== '')).toBe(true);
});
