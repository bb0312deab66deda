import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Books } from '../../examples/approval/books.js';
import { SchemaCompiler } from '../../src/formats/json-schema/schema-compiler.js';
import { ask } from '../../src/runtime/engine/constructs.fixture.js';
import { call, chain, done, graph, step } from '../../src/runtime/engine/graph.fixture.js';
import type { RunStore, Waiter } from '../../src/runtime/runs/run-store.js';
import { ada, ok } from '../../src/runtime/runs/store.fixture.js';
import { temporal } from '../../src/temporal/index.js';

/** What processes of a test share. */
export interface Shared {
  readonly address: string;
  readonly taskQueue: string;
  readonly bundlePath: string;
  /** A file with a line for each effect. */
  readonly books: string;
}

const CALL = { tool: 'tool-enter' };

/** Two effects, and a question between them. */
const STEPS = graph(
  chain(call('reserve', {}, CALL), ask('sure'), call('pay', {}, CALL), done('out', step('pay'))),
);

const WAITER: Waiter = {
  answerMs: 5_000,
  request: {
    // Each request listens to its own.
    get signal() {
      return new AbortController().signal;
    },
    ...{ requestId: '1', progress: () => {}, principal: ada },
  },
};

/** A store of a process: with a worker, or for clients alone. */
export function storeOf({ books: file, ...shared }: Shared, isWorker: boolean): RunStore {
  const books = new Books(file);
  const worker = isWorker && { stickyQueueScheduleToStartTimeout: 1_000 };
  return temporal({ ...shared, worker }).open({
    calls: {
      async callTool(_name, _input, { idempotencyKey = '', origin }) {
        const run = origin?.source === 'workflow' ? origin.run : '';
        return ok(books.enter(idempotencyKey, 'paid', run, 1).id);
      },
      readResource: () => Promise.reject(new Error('no resources')),
      evaluate: () => Promise.reject(new Error('no functions')),
    },
    schemas: new SchemaCompiler(),
    secretInputs: () => [],
    toolSafety: () => 'key',
    log: () => {},
    newRunId: () => randomBytes(16).toString('hex'),
    limits: { leaseMs: 1_000 },
  });
}

/** Opens a store. Resolves when its process executes runs, if it does. */
export async function opened(store: RunStore): Promise<void> {
  await store.open?.();
  await store.resumeAll?.();
  await store.executing?.();
}

/** Starts a run. Undefined where it is not known whether that took effect. */
export async function startRun(store: RunStore): Promise<string | undefined> {
  const answer = await store.start({ owner: ada, graph: STEPS, input: {} }, WAITER).catch(() => undefined);
  if (answer === undefined) return undefined;
  if (!answer.ok) throw new Error(answer.failure.message);
  return answer.envelope.workflow_id;
}

/** Answers the question of a run, again until there is a response. */
export async function answerRun(store: RunStore, id: string): Promise<void> {
  const submission = { actionId: 'sure#1', result: true };
  const answer = await again(async () => {
    const response = await store.submit(ada, id, submission, WAITER);
    const isEarly = !response.ok && response.failure.code === 'UNKNOWN_ACTION';
    return isEarly ? undefined : response;
  });
  if (!answer.ok) throw new Error(`${answer.failure.code}: ${answer.failure.message}`);
}

/** The result of a run as soon as it is over. */
export function resultOf(store: RunStore, id: string): Promise<unknown> {
  return again(async () => {
    const answer = await store.get(ada, id);
    if (!answer.ok) throw new Error(answer.failure.message);
    const { status, result, error } = answer.envelope;
    return status === 'completed' ? result : error;
  });
}

async function again<T>(request: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const response = await request().catch(() => undefined);
    if (response !== undefined) return response;
    await delay(200);
  }
}
