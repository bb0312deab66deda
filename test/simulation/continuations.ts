import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../src/graph/defined.js';
import { broken, call, done, graph, list, step } from '../../src/runtime/engine/graph.fixture.js';
import type { JournalRunStore } from '../../src/runtime/runs/journal-run-store.js';
import type { SubmitAnswer } from '../../src/runtime/runs/run/envelope.js';
import type { FakeClock } from '../../src/runtime/runs/run/fake-clock.fixture.js';
import { ada, ok, Store } from '../../src/runtime/runs/store.fixture.js';
import { resultsOf } from '../../src/runtime/server/tasks/task-meta.js';
import type { ToolOutcome } from '../../src/runtime/tools/port.js';
import { type SeenTask, type SentCall, TaskHistory, TOOLS } from './continuation-oracle.js';
import { type Mutation, type OpenCall, SimulatedProcess, type Task } from './process.js';
import { Random } from './random.js';
import { FOLDER, quiet, Violation, waiter } from './simulation.js';

const steps = Object.keys(TOOLS);

const made = (id: string, after: readonly string[] = []) =>
  call(id, { x: broken }, { tool: TOOLS[id] ?? '', after });

/** Clients make four steps, two of them with one tool, and one after the others and a call of the server. */
const trip = graph(
  [
    ...[made('find'), made('pay'), made('tip')],
    call('log', {}, { after: ['find', 'pay', 'tip'], timeoutMs: 3_600_000 }),
    made('last', ['log']),
    done('out', list(...steps.map((id) => step(id))), { after: ['last'] }),
  ],
  { name: 'trip', task: true },
);

/** A tool of no step. */
const OTHER = 'tool-other';

const RUN = 'run-1';

/** A server that clients reach, with what a scheduler decides for it. */
interface Server {
  readonly store: JournalRunStore;
  readonly clock: FakeClock;
  /** Calls of the journal. A volatile one has none. */
  readonly tasks: Task[];
  readonly calls: Pick<OpenCall, 'finish'>[];
  readonly isDead: boolean;
  isLooking: boolean;
  crash(): void;
}

/** A server whose runs end with it. */
async function memoryServer(): Promise<Server> {
  const calls: Pick<OpenCall, 'finish'>[] = [];
  const log = () =>
    new Promise<ToolOutcome>((resolve) => {
      calls.push({ finish: () => resolve(ok('logged')) });
    });
  const opened = new Store({ 'tool-log': log });
  await opened.open();
  const { store, clock } = opened;
  return { store, clock, tasks: [], calls, isDead: false, isLooking: false, crash: () => {} };
}

export interface RaceOptions {
  /** Only a store in a file outlasts a crash. */
  readonly store: 'memory' | 'sqlite';
  /** Breaks each process. Default: nothing is broken. */
  readonly mutation?: Mutation;
  /** Fakes the timers of the polls of journals: moves them on. */
  readonly poll: () => void;
}

/** So many steps are made before each request gets its answer. */
const STEPS = 50;

const MAX_CRASHES = 2;

/** So many rounds have to be enough for an answer, also after a crash. */
const ROUNDS = 200;

/**
 * Two clients that continue one task by calls of tools, while it may be cancelled and servers crash. A seed decides
 * what is sent, which call of a journal is carried out next, and which tool returns.
 */
export class ContinuationRace {
  readonly #random: Random;
  readonly #options: RaceOptions;
  readonly #folder = mkdtempSync(join(FOLDER, 'stepwright-race-'));
  readonly #servers: Server[] = [];
  readonly #calls: SentCall[] = [];
  readonly #seen: SeenTask[] = [];
  /** Requests that failed: none may. */
  readonly #faults: unknown[] = [];
  readonly #waiting = new Map<Promise<void>, Server>();
  readonly #mayCancel: boolean;
  #cancel: { readonly sentAt: number; answeredAt?: number } | undefined;
  #now = 1_000;
  /** Counts what happens. */
  #moment = 0;
  #results = 0;
  #crashes = 0;

  constructor(seed: number, options: RaceOptions) {
    this.#random = new Random(seed);
    this.#options = options;
    this.#mayCancel = this.#random.chance(0.4);
  }

  /** What became of the calls, in order, and then of the task. */
  get outcomes(): readonly string[] {
    return [...this.#calls.map(({ outcome }) => outcome), this.#seen.at(-1)?.status ?? 'unknown'];
  }

  /** @throws Violation, with what happened. */
  async run(): Promise<void> {
    try {
      const server = await this.#begin();
      this.#track(server, server.store.start({ owner: ada, graph: trip, input: {} }, waiter()));
      await this.#answerAll();
      for (let count = 0; count < STEPS; count += 1) await this.#step();
      await this.#answerAll();
      await this.#finish();
      await this.#check();
    } finally {
      for (const server of this.#running) server.crash();
      rmSync(this.#folder, { recursive: true });
    }
  }

  get #path(): string {
    return join(this.#folder, 'runs.db');
  }

  get #running(): readonly Server[] {
    return this.#servers.filter(({ isDead }) => !isDead);
  }

  get #any(): Server {
    return this.#random.pick(this.#running);
  }

  async #begin(): Promise<Server> {
    const world = { now: () => this.#now, took() {}, sent() {}, newRunId: () => RUN };
    const { store, mutation } = this.#options;
    const name = `p${this.#servers.length + 1}`;
    const server =
      store === 'memory'
        ? await memoryServer()
        : await SimulatedProcess.begin(name, this.#path, world, mutation);
    this.#servers.push(server);
    this.#track(server, server.store.resumeAll());
    await quiet();
    return server;
  }

  /** What a server that crashed was asked for is never answered. */
  #track(server: Server, request: Promise<unknown>): void {
    const settled = request
      .catch((fault: unknown) => void this.#faults.push(fault))
      .then(() => void this.#waiting.delete(settled));
    this.#waiting.set(settled, server);
  }

  async #step(): Promise<void> {
    this.#moment += 1;
    const random = this.#random;
    const dice = random.below(100);
    if (dice < 45) this.#carryOut(this.#any);
    else if (dice < 55) this.#any.calls.shift()?.finish();
    else if (dice < 78) this.#call();
    else if (dice < 84) this.#retry();
    else if (dice < 90) this.#look();
    else if (dice < 93) this.#cancelOnce();
    else if (dice < 97) this.#pass(random.pick([50, 300]));
    else if (this.#options.store === 'sqlite') await this.#crash();
    await quiet();
  }

  /** Executes one of the waiting calls of a journal. */
  #carryOut({ tasks }: Server): void {
    const [task] = tasks.splice(this.#random.below(tasks.length), 1);
    task?.work().then(task.resolve, task.reject);
  }

  /** One of the clients calls a tool for the task, or repeats a call. */
  #call(): void {
    const random = this.#random;
    if (this.#calls.length > 0 && random.chance(0.25)) {
      this.#send(random.pick(this.#calls));
      return;
    }
    const named = random.pick(steps);
    const tool = random.chance(0.1) ? OTHER : (TOOLS[named] ?? OTHER);
    const requestKey = random.chance(0.5) ? `request ${this.#results}` : undefined;
    this.#send({ tool, step: random.chance(0.6) ? named : undefined, result: this.#newResult(), requestKey });
  }

  #newResult(): string {
    this.#results += 1;
    return `result ${this.#results}`;
  }

  #send(
    { tool, step: stepId, result, requestKey }: Pick<SentCall, 'tool' | 'step' | 'result' | 'requestKey'>,
    answerMs = this.#random.pick([1_000, 45_000]),
  ): void {
    const sent: SentCall = { tool, step: stepId, result, requestKey, sentAt: this.#moment, outcome: 'open' };
    this.#calls.push(sent);
    const server = this.#any;
    const submission = { tool, args: {}, result, ...defined({ stepId, requestKey }) };
    const answer = server.store.submit(ada, RUN, submission, { ...waiter(), answerMs });
    const noted = answer.then((given) => {
      if (!server.isDead) Object.assign(sent, outcomeOf(given), { answeredAt: this.#moment });
    });
    this.#track(server, noted);
  }

  /** A client has a step tried again: it fails again. */
  #retry(): void {
    const server = this.#any;
    const submission = { stepId: this.#random.pick(steps), retry: true } as const;
    this.#track(server, server.store.submit(ada, RUN, submission, waiter()));
  }

  #cancelOnce(): void {
    if (!this.#mayCancel || this.#cancel !== undefined) return;
    const sent: { readonly sentAt: number; answeredAt?: number } = { sentAt: this.#moment };
    this.#cancel = sent;
    const server = this.#any;
    const cancelled = server.store.cancel(ada, RUN, { compensate: this.#random.chance(0.5) }, waiter());
    const noted = cancelled.then(() => {
      if (!server.isDead) sent.answeredAt = this.#moment;
    });
    this.#track(server, noted);
  }

  /** A client asks how the task is. */
  #look(): void {
    const server = this.#any;
    const sentAt = this.#moment;
    const inspected = server.store.inspect(ada, RUN, ({ envelope, state, mask, variables }) => ({
      status: envelope.status,
      open: envelope.actions.flatMap(({ step_id: id }) => id ?? []),
      results: state && structuredClone(resultsOf(trip, state, mask)),
      ...(envelope.result === undefined ? {} : { result: structuredClone(envelope.result) }),
      variables: structuredClone(variables),
    }));
    const noted = inspected.then((shown) => {
      if (server.isDead) return;
      if (shown === undefined) throw new Violation('the task is not there');
      this.#seen.push({ ...shown, sentAt, answeredAt: this.#moment });
    });
    this.#track(server, noted);
  }

  /** A server ends between two turns of its event loop, and another one begins: often beside one that continues. */
  async #crash(): Promise<void> {
    const isCrash = this.#crashes < MAX_CRASHES && (this.#running.length > 1 || this.#random.chance(0.6));
    if (isCrash) {
      this.#crashes += 1;
      this.#any.crash();
    }
    if (this.#running.length < 2) await this.#begin();
  }

  /** Time passes. Servers look after the task. */
  #pass(ms: number): void {
    if (this.#options.store === 'memory') return;
    this.#now += ms;
    for (const server of this.#running) {
      server.clock.pass(this.#now - server.clock.now());
      if (server.isLooking) continue;
      server.isLooking = true;
      const ended = (): void => {
        server.isLooking = false;
      };
      this.#track(server, server.store.lookAfter().finally(ended));
    }
    this.#options.poll();
  }

  /** Continues until each request to a server that lives has its answer. */
  async #answerAll(): Promise<void> {
    for (let round = 0; this.#isWaiting; round += 1) {
      if (round === ROUNDS) throw new Violation(`a request is never answered: ${this.outcomes.join()}`);
      this.#moment += 1;
      for (const server of this.#running) {
        while (server.tasks.length > 0) this.#carryOut(server);
        for (const { finish } of server.calls.splice(0)) finish();
      }
      await quiet();
      if (round % 4 === 3) this.#pass(100);
    }
    this.#moment += 1;
  }

  get #isWaiting(): boolean {
    return [...this.#waiting.values()].some(({ isDead }) => !isDead);
  }

  /** Clients make the steps that are missing, and are late once more. */
  async #finish(): Promise<void> {
    for (const each of steps) {
      this.#send({ tool: TOOLS[each] ?? OTHER, step: each, result: this.#newResult() }, 45_000);
      await this.#answerAll();
    }
    await this.#lookNow();
    this.#send(this.#random.pick(this.#calls));
    this.#send({ tool: OTHER, result: this.#newResult() });
    await this.#answerAll();
    await this.#lookNow();
  }

  async #lookNow(): Promise<void> {
    this.#look();
    await this.#answerAll();
  }

  async #check(): Promise<void> {
    if (this.#faults.length > 0) throw this.#faults[0];
    // Its server has crashed.
    for (const sent of this.#calls) if (sent.outcome === 'open') sent.outcome = 'unknown';
    const history = new TaskHistory(this.#calls, this.#seen, this.#cancel);
    history.check();
    if (this.#options.store === 'sqlite') await history.checkLog(this.#path);
  }
}

const OUTCOMES: ReadonlyMap<string | undefined, SentCall['outcome']> = new Map([
  [undefined, 'recorded'],
  ['W_EXTRA_CALL', 'extra'],
  ['W_NOT_USED', 'notUsed'],
  ['W_STORED', 'unknown'],
  ['E_JOURNAL', 'unknown'],
]);

function outcomeOf(answer: SubmitAnswer): Pick<SentCall, 'outcome' | 'code'> {
  const code = answer.ok ? answer.warnings?.[0]?.code : answer.failure.code;
  return { outcome: OUTCOMES.get(code) ?? 'refused', ...(code === undefined ? {} : { code }) };
}
