import type { Owner } from '../../decorators/context.js';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { encodedLog } from '../tools/log.js';
import type { CallContext, CallPort, ToolOutcome } from '../tools/port.js';
import type { Submission } from './actions/action.js';
import type { JournalRunStore, RunStoreOptions } from './journal-run-store.js';
import { journalStore, memoryStore } from './operate/run-stores.js';
import type { IdentifiedRequest } from './request.js';
import type { Envelope, SubmitAnswer } from './run/envelope.js';
import { FakeClock } from './run/fake-clock.fixture.js';
import type { RunLimits, Waiter } from './run-store.js';
import type { InboxItem, Journal, RunJournal } from './store/journal.js';
import { MemoryJournal } from './store/memory-journal.js';

export type Tool = (input: JsonObject, context: CallContext) => ToolOutcome | Promise<ToolOutcome>;

export const [ada, bob, eve] = ['ada', 'bob', 'eve'].map(
  (subject): Owner => ({ kind: 'principal', subject }),
) as [Owner, Owner, Owner];

export const ok = (value: Json): ToolOutcome => ({ ok: true, value });

export const broken = (message: string): ToolOutcome => ({
  ok: false,
  attempted: true,
  failure: { code: 'E_TOOL_ERROR', message },
});

export const never = (): Promise<never> => new Promise(() => {});

type Overrides = Partial<Omit<Waiter, 'request'>> & { readonly request?: Partial<IdentifiedRequest> };

/** A store with a fixed clock, with tools by name. */
export class Store {
  readonly clock = new FakeClock();
  readonly log: string[] = [];
  readonly options: RunStoreOptions;
  readonly store: JournalRunStore;
  #ids = 0;

  constructor(
    tools: Readonly<Record<string, Tool>> = {},
    limits: Partial<RunLimits> = {},
    journal?: Journal,
  ) {
    const calls: CallPort = {
      async callTool(name, given, context) {
        const tool = tools[name];
        if (tool === undefined) throw new Error(`no tool ${name}`);
        return tool(given, context);
      },
      async readResource(_name, uri) {
        return { ok: true, value: { uri, text: uri } };
      },
      async evaluate() {
        return { ok: true };
      },
    };
    this.options = {
      calls,
      schemas: new SchemaCompiler(),
      clock: this.clock,
      secretInputs: (tool) => (tool === 'tool-login' ? ['pin'] : []),
      toolSafety: (tool) =>
        tool.startsWith('tool-read') ? 'readOnly' : tool === 'tool-same' ? 'idempotent' : 'none',
      log: encodedLog((text) => this.log.push(text)),
      newRunId: () => `run-${++this.#ids}`,
      limits,
    };
    this.store = journal === undefined ? memoryStore(this.options) : journalStore(journal, this.options);
  }

  waiter(more: Overrides = {}): Waiter {
    const { request, ...rest } = more;
    const signal = new AbortController().signal;
    return {
      answerMs: 45_000,
      ...rest,
      request: { signal, requestId: '1', progress: () => {}, principal: ada, ...request },
    };
  }

  async start(graph: Graph, input: JsonObject = {}, more: Overrides = {}): Promise<Envelope> {
    return envelopeIn(await this.store.start({ owner: ada, graph, input }, this.waiter(more)));
  }

  /** Opens the store: then a run starts at once. */
  async open(): Promise<void> {
    await this.store.list(ada);
  }

  submit(id: string, submission: Submission, owner: Owner = ada): Promise<SubmitAnswer> {
    return this.store.submit(owner, id, submission, this.waiter());
  }

  async get(id: string): Promise<Envelope> {
    return envelopeIn(await this.store.get(ada, id));
  }
}

export function envelopeIn(answer: SubmitAnswer): Envelope {
  if (!answer.ok) throw new Error(`${answer.failure.code}: ${answer.failure.message}`);
  if ('accepted' in answer) throw new Error('the caller is not the owner of the run');
  return answer.envelope;
}

/** The code a request is refused with; `accepted` where it is not. */
export function codeOf(answer: SubmitAnswer): string {
  return answer.ok ? 'accepted' : answer.failure.code;
}

/** Lets everything happen that needs no time. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A journal whose runs a test looks after: its store does not. */
export function unattended<T extends RunJournal>(journal: T): T {
  const leases = bound(journal.leases, { intervalMs: 2 ** 30 });
  return bound(journal, { leases } as Partial<T>);
}

function bound<T extends object>(target: T, replaced: Partial<T>): T {
  return new Proxy(target, {
    get(object, name) {
      if (Object.hasOwn(replaced, name)) return replaced[name as keyof T];
      const member: unknown = Reflect.get(object, name, object);
      return typeof member === 'function' ? member.bind(object) : member;
    },
  });
}

/** A journal with the first entries of the run of another one. */
export async function copyOf(
  journal: MemoryJournal,
  count = Number.POSITIVE_INFINITY,
): Promise<MemoryJournal> {
  const read = journal.read('run-1');
  if (read === undefined) throw new Error('there is no run');
  const copy = new MemoryJournal();
  for (const entry of read.entries.slice(0, count)) {
    for (const { id } of entry.consumed ?? []) {
      const item: InboxItem = { run: 'run-1', id, kind: 'operator', at: 0, content: {} };
      await copy.send(item);
    }
    await copy.append(entry.seq === 1 ? { ...entry, graph: read.graph } : entry);
  }
  return copy;
}

/** Statements that make the file of a store one of the first version. */
export const EARLIER = `DROP TABLE secrets; DROP TABLE counts; DROP TRIGGER run_began; DROP TRIGGER run_ended; DROP TRIGGER run_removed;
  DROP TRIGGER question_replaced; DROP TRIGGER question_asked; DROP TRIGGER question_removed; DROP INDEX left_runs; ALTER TABLE runs DROP COLUMN missing;
  ALTER TABLE holders DROP COLUMN silent_ms; ALTER TABLE runs DROP COLUMN identity; ALTER TABLE runs DROP COLUMN sum;
  ALTER TABLE runs DROP COLUMN sum_seq; ALTER TABLE entries DROP COLUMN sum; ALTER TABLE inbox DROP COLUMN sum;
  ALTER TABLE responses DROP COLUMN sum; PRAGMA user_version = 1`;
