import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, describe, inject } from 'vitest';
import { SchemaCompiler } from '../../src/formats/json-schema/schema-compiler.js';
import type { JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import type { RunStoreOptions } from '../../src/runtime/runs/journal-run-store.js';
import type { Envelope } from '../../src/runtime/runs/run/envelope.js';
import type { RunStore, Waiter } from '../../src/runtime/runs/run-store.js';
import { ada, envelopeIn, type Tool } from '../../src/runtime/runs/store.fixture.js';
import { encodedLog } from '../../src/runtime/tools/log.js';
import { type TemporalOptions, temporal } from '../../src/temporal/index.js';
import { isNightly } from '../nightly.js';
import { opened } from './lanes.js';

const address = inject('temporalAddress');

/** Tests that need a Temporal server. Without one the set-up says so, and fails in CI. */
export const describeTemporal: (name: string, tests: () => void) => void = describe.runIf(
  address !== undefined,
);

/** The same in the nightly run only. A suite without a test would fail. */
export const describeNightly: typeof describeTemporal = isNightly ? describeTemporal : () => {};

/** A store on Temporal, with tools by name. */
export class TemporalHost {
  readonly taskQueue: string;
  readonly log: string[] = [];
  readonly options: RunStoreOptions;
  readonly store: RunStore;

  constructor(
    tools: Readonly<Record<string, Tool>> = {},
    more: TemporalOptions & { readonly run?: Partial<RunStoreOptions> } = {},
  ) {
    const { run = {}, ...temporalOptions } = more;
    this.taskQueue = more.taskQueue ?? `test-${randomUUID()}`;
    this.options = {
      calls: {
        async callTool(name, given, context) {
          const tool = tools[name];
          if (tool === undefined) throw new Error(`no tool ${name}`);
          return tool(given, context);
        },
        async readResource(_name, uri) {
          return { ok: true, value: { uri, text: uri } };
        },
        async evaluate({ name }, args) {
          return { ok: true, value: [name, ...args] };
        },
      },
      schemas: new SchemaCompiler(),
      secretInputs: () => [],
      log: encodedLog((text) => this.log.push(text)),
      newRunId: () => randomBytes(16).toString('hex'),
      ...run,
    };
    this.store = temporal({
      ...temporalOptions,
      address: address ?? '',
      taskQueue: this.taskQueue,
      bundlePath: inject('temporalBundle'),
    }).open(this.options);
    afterAll(() => this.store.close?.());
  }

  /** Resolves when it executes runs. */
  open(): Promise<void> {
    return opened(this.store);
  }

  waiter(more: Partial<Waiter> = {}): Waiter {
    const { signal } = new AbortController();
    return {
      answerMs: 20_000,
      request: { signal, requestId: '1', progress: () => {}, principal: ada },
      ...more,
    };
  }

  async start(graph: Graph, input: JsonObject = {}, more: Partial<Waiter> = {}): Promise<Envelope> {
    return envelopeIn(await this.store.start({ owner: ada, graph, input }, this.waiter(more)));
  }

  async get(id: string): Promise<Envelope> {
    return envelopeIn(await this.store.get(ada, id));
  }

  async submit(id: string, result: Envelope['result'], actionId?: string): Promise<Envelope> {
    const submission = { result: result ?? null, ...(actionId === undefined ? {} : { actionId }) };
    return envelopeIn(await this.store.submit(ada, id, submission, this.waiter()));
  }
}
