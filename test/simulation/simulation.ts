import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { DELIVERY_GRACE_MS } from '../../src/graph/limits.js';
import { planOf } from '../../src/plan/compile.js';
import type { Event } from '../../src/runtime/engine/events.js';
import { effectiveEvents, Replay } from '../../src/runtime/engine/fork.js';
import { snapshot } from '../../src/runtime/engine/snapshot.js';
import type { Envelope } from '../../src/runtime/runs/run/envelope.js';
import type { RunStore, Waiter } from '../../src/runtime/runs/run-store.js';
import { SqliteReader } from '../../src/runtime/runs/store/sqlite/store-reader.js';
import { StoreError, UnreadableRunError } from '../../src/runtime/runs/store/store-error.js';
import { ada } from '../../src/runtime/runs/store.fixture.js';
import { runRef } from '../../src/runtime/tools/port.js';
import { type Effect, type Mutation, SimulatedProcess, type Task } from './process.js';
import { Random } from './random.js';
import { LIMIT_MS, NAP_MS, ONCE, RESULTS, WORK_MS, WORKLOAD } from './workload.js';

/** What a simulation is made of, beside its seed. */
export interface SimulationOptions {
  /** How many steps are made among faults, before everything heals. Default: {@link STEPS}. */
  readonly steps?: number;
  /** Breaks each process. Default: nothing is broken. */
  readonly mutation?: Mutation;
  /** Fakes the timers of the polls of journals: moves them on. */
  readonly poll: () => void;
}

/** How many steps a simulation has, unless given. */
export const STEPS = 60;

/** What must never happen. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

interface OpenAction {
  readonly run: string;
  readonly action: string;
  /** Of an action for the agent of an item. */
  readonly child?: string;
}

/** An answer of a caller. */
interface SentAnswer extends OpenAction {
  /** Of a question; of work whether it was done. */
  readonly value: boolean;
  readonly process: SimulatedProcess;
  outcome: 'open' | 'accepted' | 'refused' | 'lost';
}

/** Memory where there is such a folder: a seed has little else to wait for than the disk. */
export const FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const MAX_PROCESSES = 3;
const MAX_RUNS = 4;

/** After so long work of the client has expired. */
const LONG_MS = WORK_MS + DELIVERY_GRACE_MS + 100;

/** So many rounds without faults have to be enough for every run to end. */
const HEALING = 400;

/**
 * Several processes on one file, in one process: the shipped host and the shipped journal. A seed decides what happens
 * next: which call of a journal is carried out, which tool returns, how far time goes, and which faults there are.
 */
export class Simulation {
  readonly #random: Random;
  readonly #options: SimulationOptions;
  readonly #folder = mkdtempSync(join(FOLDER, 'stepwright-simulation-'));
  readonly #processes: SimulatedProcess[] = [];
  readonly #effects: Effect[] = [];
  /** Items that went through an inbox. */
  readonly #sent = new Set<string>();
  /** Ids of runs: of some the start was lost. */
  readonly #ids: string[] = [];
  readonly #acknowledged = new Set<string>();
  readonly #answers: SentAnswer[] = [];
  /** What agents work on, as far as envelopes have shown it. */
  readonly #agents = new Map<string, OpenAction>();
  /** The workflows of which processes have no tools, as versions of a server that is being deployed. */
  readonly #lacks = new Map<SimulatedProcess, string>();
  readonly #waiting = new Set<Promise<unknown>>();
  #now = 1_000;
  #names = 0;
  #starts = 0;
  #hasFaults = true;

  constructor(seed: number, options: SimulationOptions) {
    this.#random = new Random(seed);
    this.#options = options;
  }

  /** What happened outside of the store, in order. */
  get trace(): readonly string[] {
    return [
      ...this.#effects.map(({ process, tool, run }) => `${process} ${tool} ${run}`),
      ...this.#answers.map(
        ({ process, run, action, outcome }) => `${process.name} ${run} ${action} ${outcome}`,
      ),
    ];
  }

  /** @throws Violation, with what happened. */
  async run(): Promise<void> {
    try {
      await this.#begin();
      for (let step = 0; step < (this.#options.steps ?? STEPS); step += 1) await this.#step();
      await this.#heal();
      await this.#check();
    } finally {
      for (const process of this.#processes) if (!process.isDead) process.crash();
      rmSync(this.#folder, { recursive: true });
    }
  }

  get #path(): string {
    return join(this.#folder, 'runs.db');
  }

  get #running(): readonly SimulatedProcess[] {
    return this.#processes.filter(({ isRunning }) => isRunning);
  }

  async #begin(): Promise<SimulatedProcess> {
    this.#names += 1;
    const name = `p${this.#names}`;
    const isWhole = !this.#hasFaults || this.#random.chance(0.5);
    const lacks = isWhole ? undefined : this.#random.pick(Object.keys(WORKLOAD));
    const world = {
      now: () => this.#now,
      took: (effect: Effect) => void this.#effects.push(effect),
      sent: (item: string) => void this.#sent.add(item),
      newRunId: () => {
        const id = `run-${this.#ids.length + 1}`;
        this.#ids.push(id);
        return id;
      },
    };
    const process = await SimulatedProcess.begin(
      name,
      this.#path,
      { ...world, lacks },
      this.#options.mutation,
    );
    if (lacks !== undefined) this.#lacks.set(process, lacks);
    this.#processes.push(process);
    this.#track(process.store.resumeAll());
    await quiet();
    return process;
  }

  /** What a dead process was asked for is never answered. */
  #track(promise: Promise<unknown>): void {
    const settled = promise.then(
      () => void this.#waiting.delete(settled),
      () => void this.#waiting.delete(settled),
    );
    this.#waiting.add(settled);
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const dice = random.below(100);
    const process = this.#running.length === 0 ? undefined : random.pick(this.#running);
    if (process === undefined) await this.#revive();
    else if (dice < 38) this.#carryOut(process);
    else if (dice < 58)
      random
        .pick([process, ...this.#running])
        .calls.shift()
        ?.finish();
    else if (dice < 68) this.#start(process);
    else if (dice < 82) this.#answer(process);
    else if (dice < 92) this.#pass(random.chance(0.03) ? LONG_MS : random.pick([10, 100, 300, 900]));
    else if (dice < 95) process.crash();
    else if (dice < 97) process.isStopped = true;
    else await this.#revive();
    await quiet();
  }

  async #revive(): Promise<void> {
    const stopped = this.#processes.filter(({ isDead, isStopped }) => !isDead && isStopped);
    if (stopped.length > 0 && this.#random.chance(0.5)) this.#goOn(this.#random.pick(stopped));
    else if (this.#processes.filter(({ isDead }) => !isDead).length < MAX_PROCESSES) await this.#begin();
    else if (stopped.length > 0) this.#goOn(this.#random.pick(stopped));
  }

  /** A process that was stopped goes on, and its timers find that time has passed. */
  #goOn(process: SimulatedProcess): void {
    process.isStopped = false;
    if (!process.isDead) process.clock.pass(this.#now - process.clock.now());
  }

  /** Carries out a call of a journal: any of those that wait, well or badly. */
  #carryOut(process: SimulatedProcess): void {
    const { tasks } = process;
    if (tasks.length === 0) return;
    const [task] = tasks.splice(this.#random.below(tasks.length), 1) as [Task];
    const fault = this.#hasFaults ? this.#random.below(100) : 100;
    const error = new StoreError('busy', this.#path, `${task.name} failed`);
    if (fault < 3) task.reject(error);
    else if (fault < 6 && task.writes) {
      const failed = (): void => task.reject(error);
      task.work().then(failed, failed);
    } else task.work().then(task.resolve, task.reject);
  }

  #start(process: SimulatedProcess): void {
    if (this.#starts >= MAX_RUNS) return;
    this.#starts += 1;
    const graph = this.#random.pick(Object.values(WORKLOAD));
    if (this.#lacks.get(process) === graph.name) return;
    const started = process.store.start({ owner: ada, graph, input: {} }, waiter()).then((answer) => {
      if (!answer.ok || process.isDead) return;
      this.#acknowledged.add(answer.envelope.workflow_id);
      this.#look(answer.envelope);
    });
    this.#track(started);
  }

  /** Takes note of what agents work on. */
  #look({ workflow_id: run, actions }: Envelope): void {
    for (const { parameters } of actions) {
      for (const { workflow_id: child, item } of 'children' in parameters ? parameters.children : [])
        this.#agents.set(child, { run, action: `look[${JSON.stringify(item)}]#1`, child });
    }
  }

  #answer(process: SimulatedProcess): void {
    if (this.#ids.length === 0) return;
    const run = this.#random.pick(this.#ids);
    const ofRun = [...this.#agents.values()].filter((each) => each.run === run);
    const actions = ['sure#1', 'still#1', 'look#1', 'issue#1', 'plan#1'];
    const open = ofRun.length > 0 ? ofRun : actions.map((action): OpenAction => ({ run, action }));
    const picked = this.#random.pick(open);
    if (picked.child !== undefined && this.#random.chance(0.4))
      this.#track(process.store.nextStep(ada, picked.child, waiter()));
    else this.#send(process, picked, this.#random.chance(0.7));
  }

  #send(process: SimulatedProcess, open: OpenAction, value: boolean): void {
    const sent: SentAnswer = { ...open, value, process, outcome: 'open' };
    this.#answers.push(sent);
    this.#track(
      submit(process.store, sent).then(
        (answer) => {
          if (process.isDead) return;
          sent.outcome = answer.ok && !hasWarning(answer) ? 'accepted' : 'refused';
          if (answer.ok && 'envelope' in answer) this.#look(answer.envelope);
        },
        () => {
          sent.outcome = 'lost';
        },
      ),
    );
  }

  /** Time passes. Processes look after their runs as often as they have to, unless they are slow. */
  #pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 100) {
      const part = Math.min(100, ms - passed);
      this.#now += part;
      for (const process of this.#running) {
        process.clock.pass(this.#now - process.clock.now());
        if (!process.isLooking && (!this.#hasFaults || this.#random.chance(0.6))) this.#lookAfter(process);
      }
    }
    this.#options.poll();
  }

  #lookAfter(process: SimulatedProcess): void {
    process.isLooking = true;
    const ended = (): void => {
      process.isLooking = false;
    };
    this.#track(process.store.lookAfter().then(ended, ended));
  }

  /** No more faults: every run has to end, or to wait for an operator. */
  async #heal(): Promise<void> {
    this.#hasFaults = false;
    for (const process of this.#processes) if (process.isStopped) this.#goOn(process);
    const healthy = await this.#begin();
    for (let round = 0; round < HEALING; round += 1) {
      for (const process of this.#running) {
        while (process.tasks.length > 0) this.#carryOut(process);
        for (const { finish } of process.calls.splice(0)) finish();
      }
      await quiet();
      if (round % 4 === 0) this.#pass(100);
      if (round % 10 === 9 && (await this.#areOver(healthy))) return;
    }
    for (const { run, action, process } of this.#unanswered)
      throw new Violation(`${run}: the answer to ${action} in ${process.name} has no response`);
    throw new Violation(`runs do not end: ${JSON.stringify(await this.#envelopes(healthy))}`);
  }

  /** Whether all runs are over or wait for an operator. Answers what is asked. */
  async #areOver(process: SimulatedProcess): Promise<boolean> {
    let isOver = true;
    for (const [id, envelope] of await this.#envelopes(process)) {
      const { status, paused_steps: paused } = envelope ?? {};
      const isLost = status === undefined && !this.#acknowledged.has(id);
      if (isLost || status === 'completed' || paused !== undefined) continue;
      isOver = false;
      if (envelope !== undefined) this.#look(envelope);
      for (const { action_id: action, type, parameters } of envelope?.actions ?? []) {
        if (type !== 'wait' && !('children' in parameters)) this.#send(process, { run: id, action }, true);
      }
      for (const open of this.#agents.values()) if (open.run === id) this.#send(process, open, true);
    }
    return isOver && this.#unanswered.length === 0;
  }

  /** Answers whose senders still wait for a response. */
  get #unanswered(): readonly SentAnswer[] {
    return this.#answers.filter(({ process, outcome }) => outcome === 'open' && !process.isDead);
  }

  async #envelopes(process: SimulatedProcess): Promise<[string, Envelope | undefined][]> {
    const found: [string, Envelope | undefined][] = [];
    for (const id of this.#ids) {
      const answer = await this.#ask(process, process.store.get(ada, id));
      found.push([id, answer.ok ? answer.envelope : undefined]);
    }
    return found;
  }

  /** Carries out all calls of the journal until an answer is there. */
  async #ask<T>(process: SimulatedProcess, promise: Promise<T>): Promise<T> {
    let isThere = false;
    const there = promise
      .catch((fault: unknown) => {
        throw fault instanceof UnreadableRunError ? new Violation(fault.message) : fault;
      })
      .finally(() => {
        isThere = true;
      });
    // It is awaited below, and may fail before.
    there.catch(() => {});
    for (let round = 0; round < 100 && !isThere; round += 1) {
      while (process.tasks.length > 0) this.#carryOut(process);
      await quiet();
    }
    if (!isThere) throw new Violation('a run that is asked for is never shown');
    return there;
  }

  async #check(): Promise<void> {
    const reader = await SqliteReader.open(this.#path);
    try {
      for (const id of this.#ids) this.#checkRun(reader, id);
      this.#checkEffects();
    } finally {
      reader.close();
    }
  }

  #checkRun(reader: SqliteReader, id: string): void {
    const [head] = reader.find(id);
    const read = head && reader.read(head);
    const effects = this.#effects.filter(({ run }) => run === runRef(id));
    if (head === undefined || read === undefined) {
      if (this.#acknowledged.has(id)) throw new Violation(`${id} was acknowledged, and is lost`);
      if (effects.length > 0) throw new Violation(`${id} had effects before it was safe`);
      return;
    }
    const { graph } = read;
    const entries = reader.entries(head, 1, 100_000);
    if (entries.some(({ seq }, index) => seq !== index + 1)) throw new Violation(`${id}: the log has a gap`);
    const begun = read.loaded.rows.find(({ table }) => table === 'start');
    if (begun?.table !== 'start') throw new Violation(`${id} has no start`);
    const replay = new Replay(planOf(graph), id, begun.row, () => {});
    for (const events of effectiveEvents(entries)) replay.apply(events);
    const [folded, stored] = [snapshot(replay.state), read.loaded.rows].map((rows) =>
      rows.map(({ table, key, row }) => JSON.stringify([table, key, row])).sort(),
    );
    if (JSON.stringify(folded) !== JSON.stringify(stored))
      throw new Violation(`${id}: its log leads to ${folded?.join()}, and its rows are ${stored?.join()}`);
    const events = entries.flatMap((entry) => entry.events);
    for (const sent of this.#answers)
      if (sent.run === id && sent.outcome === 'accepted') checkAccepted(sent, events);
    for (const { kind, id: item } of events) {
      if (
        kind === 'actionSubmitted' &&
        item !== undefined &&
        this.#sent.has(item) &&
        !this.#hasResponse(item)
      )
        throw new Violation(`${id}: an answer is in the log, and its item has no response`);
    }
    for (const event of events) {
      if (event.kind === 'timerFired' && graph.name === 'nap' && event.at < begun.row.startedAt + NAP_MS)
        throw new Violation(`${id}: its timer fired at ${event.at}`);
      if (event.kind === 'timerFired' && RESULTS.has(stepOf(event.command))) checkExpiry(id, event, events);
      if (event.kind === 'timerFired' && graph.name === 'limited') this.#checkLimit(effects, event);
    }
  }

  /** A call that was taken over times out after the process that makes it again has worked on it for its limit. */
  #checkLimit(effects: readonly Effect[], { at }: { readonly at: number }): void {
    const made = effects.filter((effect) => effect.at <= at);
    const last = made.at(-1);
    if (last === undefined || made.every(({ process }) => process === last.process)) return;
    if (at < last.at + LIMIT_MS)
      throw new Violation(
        `${last.process} began to work on ${last.node} at ${last.at}, which timed out at ${at}`,
      );
  }

  #hasResponse(item: string): boolean {
    const [process] = this.#running;
    return process?.database.prepare('SELECT 1 FROM responses WHERE id = ?').get(item) !== undefined;
  }

  /** An effect has one key, however often it was repeated; one that may not be repeated is there once. */
  #checkEffects(): void {
    const keys = new Map<string, string>();
    const once = new Set<string>();
    for (const { run, node, tool, key, isLacked, process } of this.#effects) {
      if (isLacked) throw new Violation(`${process} took ${run}, and has no tool of it`);
      const effect = `${run} ${node}`;
      const before = keys.get(effect);
      if (before !== undefined && before !== key)
        throw new Violation(`${effect} took effect with two keys: ${before} and ${key}`);
      keys.set(effect, key);
      if (tool === ONCE && once.has(effect)) throw new Violation(`${effect} took effect twice`);
      if (tool === ONCE) once.add(effect);
    }
  }
}

/** Everything has happened that needs neither time nor the scheduler. */
export async function quiet(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await turn();
}

export function waiter(): Waiter {
  const { signal } = new AbortController();
  return { answerMs: 45_000, request: { signal, requestId: '1', progress: () => {}, principal: ada } };
}

type Answer = Awaited<ReturnType<RunStore['submit']>> | Awaited<ReturnType<RunStore['nextStep']>>;

function submit(store: RunStore, { run, action, child, value }: SentAnswer): Promise<Answer> {
  const work = RESULTS.get(stepOf(action));
  const content = work === undefined || value ? { result: work ?? value } : { error: { message: 'no' } };
  const submission = { actionId: action, ...content };
  if (child !== undefined) return store.nextStep(ada, child, waiter(), submission);
  return store.submit(ada, run, submission, waiter());
}

/** The step of an action: `look` of `look[1]#1`. */
function stepOf(action: string): string {
  return action.replace(/[[#].*/, '');
}

/** An answer that was accepted is in the log, once, as it was sent. */
function checkAccepted({ run, action, value }: SentAnswer, events: readonly Event[]): void {
  const inLog = events.filter(
    (event) =>
      (event.kind === 'actionSubmitted' || event.kind === 'actionFailed') && event.command === action,
  );
  const [event] = inLog;
  if (inLog.length !== 1 || event === undefined)
    throw new Violation(
      `${run}: the answer to ${action} was accepted, and is in the log ${inLog.length} times`,
    );
  const work = RESULTS.get(stepOf(action));
  const expected = work === undefined ? { confirmed: value } : value ? work : undefined;
  const actual = event.kind === 'actionSubmitted' ? event.value : undefined;
  if (JSON.stringify(actual) !== JSON.stringify(expected))
    throw new Violation(
      `${run}: ${value} was accepted for ${action}, and the log has ${JSON.stringify(event)}`,
    );
}

/** Work of the client expires its limit and a grace after its first delivery. */
function checkExpiry(
  run: string,
  { command, at }: Extract<Event, { kind: 'timerFired' }>,
  events: readonly Event[],
): void {
  const delivered = events.find((event) => event.kind === 'actionDelivered' && event.command === command);
  if (delivered === undefined || at < delivered.at + WORK_MS + DELIVERY_GRACE_MS)
    throw new Violation(`${run}: ${command} was delivered at ${delivered?.at}, and expired at ${at}`);
}

function hasWarning(answer: Answer): boolean {
  return 'warnings' in answer && answer.warnings !== undefined && answer.warnings.length > 0;
}
