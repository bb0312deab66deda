import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Books } from '../../examples/approval/books.js';
import { registry } from '../../examples/approval/generated/approval.registry.js';
import { PayExpense, ReleaseBudget, ReserveBudget } from '../../examples/approval/tools.js';
import { openTelemetry } from '../../src/opentelemetry/index.js';
import { Recording } from '../../src/opentelemetry/telemetry.fixture.js';
import { createServer } from '../../src/runtime/index.js';
import { temporal } from '../../src/temporal/index.js';
import { describeTemporal } from './host.js';

const ROOT = new URL('../../', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'stepwright-approval-'));
const PROGRAM = join(ROOT, 'node_modules/.cache/stepwright-temporal/approval-worker.mjs');
const address = inject('temporalAddress') ?? '';
const taskQueue = `approval-${randomUUID()}`;
const bundlePath = inject('temporalBundle');

interface Answer {
  readonly workflow_id: string;
  readonly status: string;
  readonly result?: unknown;
  readonly to_answer?: readonly { readonly workflow_id: string; readonly action_id: string }[];
}

/** A worker in a process of its own. Resolves when it has work taken. */
async function startedWorker(fatal = ''): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [PROGRAM, folder, address, taskQueue, bundlePath, fatal], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(worker.stdout, 'data');
  return worker;
}

/** The spans of workers that have ended. */
function spans() {
  const lines = readFileSync(join(folder, 'spans.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

describeTemporal('an expense on Temporal', () => {
  const books = new Books(join(folder, 'books.jsonl'));
  // It starts and answers runs, and executes none of them.
  const server = createServer(registry, {
    store: temporal({ address, taskQueue, worker: false }),
    runs: { leaseMs: 1_000 },
    telemetry: openTelemetry(),
    tools: {
      'reserve-budget': () => new ReserveBudget(books),
      'release-budget': () => new ReleaseBudget(books),
      'pay-expense': () => new PayExpense(books),
    },
  });

  beforeAll(async () => {
    buildSync({
      entryPoints: [join(ROOT, 'test/temporal/approval-worker.ts')],
      outfile: PROGRAM,
      bundle: true,
      packages: 'external',
      alias: {
        'stepwright/runtime': join(ROOT, 'src/runtime/index.ts'),
        stepwright: join(ROOT, 'src/index.ts'),
      },
      platform: 'node',
      format: 'esm',
      target: 'es2022',
      keepNames: true,
      logLevel: 'error',
    });
    await server.start();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = async (subject: string, name: string, input: object): Promise<Answer> => {
    const auth = {
      token: '',
      clientId: 'test',
      scopes: [],
      subject,
      roles: ['lead'],
    };
    const requestId = randomUUID();
    const observed = { method: 'tools/call', params: { name }, requestId };
    const { content, structuredContent, isError } = await openTelemetry().request(observed, () =>
      server.callTool(
        name,
        { ...input },
        { requestId, auth, signal: new AbortController().signal, progress: () => {} },
      ),
    );
    if (isError === true) throw new Error(JSON.stringify(content));
    return structuredContent as unknown as Answer;
  };

  test('is paid once, although the worker is killed after it paid, and is one trace', async () => {
    const recording = new Recording();
    const first = await startedWorker('paid');
    const killed = once(first, 'exit');
    const open = await call('ada', 'w_submit-expense', { purpose: 'paper', amount: 12 });
    expect(open.status).toBe('waiting');
    const { to_answer: [question] = [] } = await call('bob', 'list_workflows', {});
    const answered = call('bob', 'submit_result', {
      workflow_id: question?.workflow_id,
      action_id: question?.action_id,
      result: true,
    });
    expect(await killed).toEqual([null, 'SIGKILL']);
    const second = await startedWorker();
    await answered;
    await expect
      .poll(() => call('ada', 'get_workflow_status', { workflow_id: open.workflow_id }), { timeout: 20_000 })
      .toMatchObject({ status: 'completed', result: { payment: 'E-2' } });
    const kinds = readFileSync(join(folder, 'books.jsonl'), 'utf8').match(/"kind":"\w+"/g);
    expect(kinds).toEqual(['"kind":"reserved"', '"kind":"paid"']);
    // The span of the call that was killed is lost. A busy worker may lose its lease, and the call is repeated by its key.
    const request = recording.span('tools/call w_submit-expense').spanContext();
    const calls = spans().map(({ attributes: { 'stepwright.node.id': node }, ...span }) => [node, span]);
    expect([...new Set(calls.map((each) => JSON.stringify(each)))].map((each) => JSON.parse(each))).toEqual(
      [
        ['reserved', 'reserve-budget'],
        ['paid', 'pay-expense'],
      ].map(([node, tool]) => [
        node,
        { name: `execute_tool ${tool}`, trace: request.traceId, parent: request.spanId },
      ]),
    );
    second.kill();
    await once(second, 'exit');
  }, 120_000);
});
