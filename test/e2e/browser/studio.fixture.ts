import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registry as approval } from '../../../examples/approval/generated/approval.registry.js';
import { registry as greeting } from '../../../examples/greeting/generated/greeting.registry.js';
import { listen } from '../../../src/cli/commands/studio.js';
import type { Owner } from '../../../src/decorators/context.js';
import { SchemaCompiler } from '../../../src/formats/json-schema/schema-compiler.js';
import type { JsonObject } from '../../../src/graph/json.js';
import type { Graph } from '../../../src/graph/model.js';
import { ask, wait } from '../../../src/runtime/engine/constructs.fixture.js';
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
import type { OperatorCommand } from '../../../src/runtime/runs/actions/operator-commands.js';
import { fileStore } from '../../../src/runtime/runs/operate/run-stores.js';
import { SqliteOperator } from '../../../src/runtime/runs/operate/sqlite-operator.js';
import type { Waiter } from '../../../src/runtime/runs/run-store.js';
import { ada, broken, envelopeIn, ok, type Tool } from '../../../src/runtime/runs/store.fixture.js';
import { definitionsOf } from '../../../src/runtime/server/definitions.js';
import type { StepwrightServer } from '../../../src/runtime/server/stepwright-server.js';
import { runRef } from '../../../src/runtime/tools/port.js';
import type { Registry } from '../../../src/runtime/tools/registry.js';
import { untypedServer } from '../../../src/runtime/transports/start-server.js';

export const HOSTILE = `</script><img src=x onerror="window.hacked=1">'"<!--&amp;\u2028\u0007`;
export const local: Owner = { kind: 'local' };

/** Steps of which each follows one or two of those before it. */
const sixtySteps = Array.from({ length: 60 }, (_, index) => {
  const sources = [(index * 7) % 6, (index * 5) % 4].slice(0, 1 + (index % 2));
  const after = [...new Set(sources.map((back) => `n${Math.max(0, index - 1 - back)}`))];
  const title = ['Collect the receipts', 'Check the budget', 'Ask the supplier', 'Book it'][index % 4] ?? '';
  return call(`n${index}`, index === 0 ? {} : { from: step(`n${index - 1}`) }, {
    ...{ title: `${title} ${index}`, after: index === 0 ? [] : after },
    ...(index === 30 && { tool: 'tool-slow' }),
  });
});

const amount = [
  { name: 'amount', description: 'In euros', schema: { type: 'number' }, required: true },
] as const;

export const GRAPHS = {
  confirm: graph(
    chain(
      ask('sure', 'confirm', { message: lit('Pay the bill?') }),
      call('pay', { amount: input('amount') }),
      done('out', step('pay')),
    ),
    {
      ...{ name: 'pay-bill', description: 'Pays a bill', inputs: amount },
    },
  ),
  text: graph(chain(ask('why', 'text', { message: lit(HOSTILE) }), done('out', step('why'))), {
    name: 'explain',
  }),
  choice: graph(
    chain(
      ask('which', 'choice', { message: lit('Which size?'), options: lit(['small', 'large']) }),
      done('out', step('which')),
    ),
    { name: 'choose' },
  ),
  slow: graph(chain(call('before'), call('slow'), call('later'), done('out', lit('done'))), {
    name: 'slow-line',
  }),
  failing: graph(
    chain(
      call('fetch', { url: lit('https://example.com') }),
      call('broken', {}, { retry: again(2, { delayMs: 1 }) }),
      done('out', step('broken')),
    ),
    {
      name: 'failing',
    },
  ),
  nightly: graph(chain(wait('pause', { durationMs: lit(86_400_000) }), done('out', lit('done'))), {
    name: 'nightly',
  }),
  sixty: graph(sixtySteps, { name: 'sixty-steps' }),
  /** The one of today: runs in the store have the other one. */
  edited: graph(
    chain(
      ask('which', 'choice', { message: lit('Which colour?'), options: lit(['red', 'blue']) }),
      done('out', step('which')),
    ),
    {
      name: 'choose',
    },
  ),
  approval: approval.workflows['submit-expense'].graph as Graph,
} as const;

const waiter: Waiter = {
  answerMs: 3_000,
  request: { signal: new AbortController().signal, requestId: '1', progress: () => {}, principal: local },
};

/** A store that a server uses, and the page of it. */
export class ServedStudio {
  readonly folder = mkdtempSync(join(tmpdir(), 'stepwright-studio-'));
  readonly path = join(this.folder, 'runs.db');
  /** Results of tools. Default: a tool returns its input. */
  readonly tools: Record<string, Tool> = {
    'tool-broken': () => broken('the bank does not answer'),
    'tool-slow': () =>
      new Promise((resolve) => {
        this.release = (value = 'late') => resolve(ok(value));
      }),
    'reserve-budget': () => ok({ reservation: 'r-17' }),
    'release-budget': () => ok({}),
    'pay-expense': () => ok({ payment: 'p-4' }),
  };
  /** Lets the call of `tool-slow` return. */
  release: (value?: string) => void = () => {};
  readonly #store = fileStore(this.path, {
    calls: {
      callTool: async (name, given, context) => this.tools[name]?.(given, context) ?? ok(given),
      readResource: async () => ({ ok: true, value: {} }),
      evaluate: async () => ok(null),
    },
    ...{ schemas: new SchemaCompiler(), secretInputs: () => [], missing: () => [], log: () => {} },
    newRunId: () => `run-${crypto.randomUUID()}`,
    limits: { maxOpenRuns: 100_000, maxPendingActions: 100_000 },
  });
  #studio: Awaited<ReturnType<typeof listen>> | undefined;
  #team: Awaited<ReturnType<typeof listen>> | undefined;
  #server: StepwrightServer | undefined;

  /** Starts a run, and returns its name. */
  async start(of: Graph, given: JsonObject = {}, owner: Owner = local, answerMs = 3_000): Promise<string> {
    const request = { ...waiter.request, principal: owner };
    return runRef(
      envelopeIn(await this.#store.start({ owner, graph: of, input: given }, { request, answerMs }))
        .workflow_id,
    );
  }

  startForAda(of: Graph, given: JsonObject = {}): Promise<string> {
    return this.start(of, given, ada);
  }

  /** Sends a command to a run, as another operator. */
  async send(run: string, command: OperatorCommand): Promise<void> {
    const operator = new SqliteOperator(this.path);
    const [head] = await operator.read((reader) => reader.find(run));
    await operator.send(head?.id ?? '', command, { kind: 'operator', name: 'bob' }, 10_000);
  }

  /** The address of the page, with its secret. It has a workflow that can be started, and one that was changed. */
  async open(): Promise<URL> {
    this.#studio ??= await listen(
      { store: `sqlite:${this.path}`, projects: this.#projects(), options: {} },
      { token: 'a-token', port: 0 },
    );
    return this.#studio.url;
  }

  /** The address of the page for callers of the server, each with a token that is its name and its roles. */
  async openForTeam(): Promise<URL> {
    const verify = (token: string) => {
      const [clientId = '', ...roles] = token.split('.');
      return clientId === 'ada' || clientId === 'lea'
        ? { clientId, subject: clientId, scopes: [], roles }
        : undefined;
    };
    this.#team ??= await listen(
      { store: `sqlite:${this.path}`, options: { auth: { verify } } },
      { token: '', port: 0, host: '127.0.0.1' },
    );
    return this.#team.url;
  }

  #projects() {
    const registry: Registry = greeting;
    const options = {
      store: `sqlite:${this.path}`,
      log: () => {},
      workflows: [{ graph: GRAPHS.edited }],
    } as const;
    const server = async () => {
      this.#server ??= untypedServer(registry, options);
      await this.#server.start();
      return this.#server;
    };
    return [{ file: 'greeting.registry.ts', definitions: definitionsOf(registry, options), server }];
  }

  async close(): Promise<void> {
    this.release();
    await this.#studio?.close();
    await this.#team?.close();
    await this.#server?.stop();
    await this.#store.close();
    rmSync(this.folder, { recursive: true });
  }
}
