import * as sqlite from '@photostructure/sqlite';
import { SchemaCompiler } from '../../src/formats/json-schema/schema-compiler.js';
import { JournalRunStore } from '../../src/runtime/runs/journal-run-store.js';
import { FakeClock } from '../../src/runtime/runs/run/fake-clock.fixture.js';
import { FILE_LIMITS } from '../../src/runtime/runs/run-store.js';
import type { RunJournal } from '../../src/runtime/runs/store/journal.js';
import { SqliteJournal } from '../../src/runtime/runs/store/sqlite/sqlite-journal.js';
import { ok } from '../../src/runtime/runs/store.fixture.js';
import type { CallContext, ToolOutcome } from '../../src/runtime/tools/port.js';
import { ONCE } from './workload.js';

/** A call of the journal that the process has made and that the scheduler has not picked. */
export interface Task {
  readonly name: string;
  /** Whether it writes: then it may fail after it has written, too. */
  readonly writes: boolean;
  readonly work: () => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (fault: Error) => void;
}

/** An effect of a tool, outside of the store. */
export interface Effect {
  readonly process: string;
  readonly tool: string;
  /** Names the run; see `runRef`. */
  readonly run: string;
  readonly node: string;
  readonly key: string;
  /** The process has no such tool. */
  readonly isLacked: boolean;
  /** When the call was made, in ms. */
  readonly at: number;
}

/** A call of a tool that has taken effect and has not returned. */
export interface OpenCall {
  readonly effect: Effect;
  readonly finish: () => void;
}

/** Breaks a process, to see whether the simulation notices. */
export interface Mutation {
  readonly journal?: (journal: RunJournal, process: SimulatedProcess) => RunJournal;
  /** Changes the idempotency key that a tool gets. */
  readonly key?: (key: string, process: SimulatedProcess) => string;
  readonly holdsUnsafeCalls?: boolean;
  /** Says that a process has all tools. */
  readonly isCapable?: true;
}

/** What is outside of a process. */
interface World {
  now(): number;
  took(effect: Effect): void;
  /** An item was sent to an inbox. */
  sent(item: string): void;
  newRunId(): string;
  /** The workflow of which the process has no tools. */
  readonly lacks?: string | undefined;
}

type Database = InstanceType<typeof sqlite.DatabaseSync>;

const LACKED = [{ kind: 'tool', name: 'a' }] as const;

/** The members of a journal that return at once. */
const IMMEDIATE: ReadonlySet<PropertyKey> = new Set(['watch', 'follow']);
const WRITES: ReadonlySet<PropertyKey> = new Set(['append', 'send', 'claim', 'release', 'abandon']);

/** The shipped run store and the shipped journal on a file, with a clock, a disk and tools that a scheduler moves. */
export class SimulatedProcess {
  readonly clock = new FakeClock();
  readonly log: string[] = [];
  readonly tasks: Task[] = [];
  readonly calls: OpenCall[] = [];
  store!: JournalRunStore;
  journal!: SqliteJournal;
  isDead = false;
  isStopped = false;
  isLooking = false;
  /** The open file, without the journal. */
  database!: Database;

  static async begin(
    name: string,
    path: string,
    world: World,
    mutation: Mutation = {},
  ): Promise<SimulatedProcess> {
    const process = new SimulatedProcess(name);
    await process.#open(path, world, mutation);
    return process;
  }

  private constructor(readonly name: string) {}

  async #open(path: string, world: World, mutation: Mutation): Promise<void> {
    const opened = (database: Database): void => {
      this.database = database;
    };
    class DatabaseSync extends sqlite.DatabaseSync {
      constructor(file: string) {
        super(file);
        if (file === path) opened(this);
      }
    }
    this.journal = await SqliteJournal.open(path, {
      ...{ driver: { DatabaseSync }, synchronous: 'normal', pollMs: 20, leaseMs: 1_000 },
      monotonicNow: () => world.now(),
    });
    const send = this.journal.send.bind(this.journal);
    this.journal.send = async (item) => {
      await send(item);
      world.sent(item.id);
    };
    this.clock.pass(world.now() - this.clock.now());
    const through = (name: PropertyKey, work: () => Promise<unknown>): Promise<unknown> =>
      new Promise((resolve, reject) => {
        if (this.isDead) return;
        this.tasks.push({ name: String(name), writes: WRITES.has(name), work, resolve, reject });
      });
    const scheduledJournal = scheduled<RunJournal>(this.journal, through, {
      // The scheduler looks after the runs.
      leases: scheduled(this.journal.leases, through, { intervalMs: 2 ** 30 }),
      index: scheduled(this.journal.index, through),
    });
    const journal = mutation.journal?.(scheduledJournal, this) ?? scheduledJournal;
    this.store = new JournalRunStore(
      { hasRuns: true, open: async () => ({ journal }) },
      {
        calls: {
          callTool: (tool, _input, context) => this.#call(tool, context, world, mutation),
          readResource: async () => ({ ok: true, value: {} }),
          evaluate: async () => ok(null),
        },
        schemas: new SchemaCompiler(),
        clock: this.clock,
        secretInputs: () => [],
        toolSafety: (tool) => (tool === ONCE ? 'none' : 'key'),
        missing: ({ name }) => (name === world.lacks && mutation.isCapable === undefined ? LACKED : []),
        holdsUnsafeCalls: mutation.holdsUnsafeCalls ?? true,
        log: (text) => void this.log.push(String(text)),
        newRunId: () => world.newRunId(),
        limits: { ...FILE_LIMITS, maxOpenRuns: 1_000, maxPendingActions: 1_000 },
      },
    );
    // The engine is loaded before the scheduler begins.
    await this.store.open();
  }

  #call(
    tool: string,
    { idempotencyKey = '', origin }: CallContext,
    world: World,
    mutation: Mutation,
  ): Promise<ToolOutcome> {
    const key = mutation.key?.(idempotencyKey, this) ?? idempotencyKey;
    if (origin?.source !== 'workflow') throw new Error('a call of no workflow');
    const isLacked = origin.workflow === world.lacks;
    const effect = {
      process: this.name,
      tool,
      run: origin.run,
      node: origin.node,
      key,
      isLacked,
      at: world.now(),
    };
    world.took(effect);
    return new Promise((resolve) => {
      this.calls.push({ effect, finish: () => resolve(ok(tool)) });
    });
  }

  /** Whether the scheduler may move it. */
  get isRunning(): boolean {
    return !this.isDead && !this.isStopped;
  }

  /** Ends it between two turns of its event loop. */
  crash(): void {
    this.isDead = true;
    this.tasks.length = 0;
    this.calls.length = 0;
    this.database.close();
  }
}

/** The same object, whose methods wait for the scheduler. */
function scheduled<T extends object>(
  target: T,
  through: (name: PropertyKey, work: () => Promise<unknown>) => Promise<unknown>,
  replaced: Partial<T> = {},
): T {
  return new Proxy(target, {
    get(object, name) {
      if (Object.hasOwn(replaced, name)) return replaced[name as keyof T];
      const member: unknown = Reflect.get(object, name, object);
      if (typeof member !== 'function') return member;
      if (IMMEDIATE.has(name)) return member.bind(object);
      return (...args: unknown[]) => through(name, async () => member.apply(object, args));
    },
  });
}
