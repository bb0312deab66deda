import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/model.js';
import { stoppedSteps } from '../../../src/runtime/engine/read.js';
import { RunMask } from '../../../src/runtime/secrets/run-mask.js';
import { isPaused, pauseFacts } from '../../../src/runtime/trace/paused-calls.js';
import { storedLedger } from '../../../src/runtime/trace/stored-ledger.js';
import { closingOf } from '../../../src/runtime/trace/trace.js';
import { isNightly } from '../../nightly.js';
import { drive, ENGINE } from '../../oracle/drive.js';
import { type Case, INPUT } from '../../oracle/random-graph.js';
import { sample, sampleAt } from '../../oracle/runs.js';
import { type Asked, CarriedOn, fits, givenTo, inputOf, isAbout, type Stopped, stop } from './carried-on.js';

/** How many random graphs are tried. `STEPWRIGHT_SOAK_RUNS` asks for more. */
const RUNS = Number(process.env.STEPWRIGHT_SOAK_RUNS ?? (isNightly ? 1_500 : 600));

/** The index of the only graph to try, as a failure names it. Default: all are tried. */
const ONLY = process.env.STEPWRIGHT_GRAPH;

function graphs(): [index: number, Case][] {
  if (ONLY !== undefined) return [[Number(ONLY), sampleAt(Number(ONLY))]];
  return [...sample(RUNS).entries()];
}

const TIMED = ['branch', 'parallel', 'foreach', 'workflow', 'wait'];

/** Without what hangs on the moment at which something happens: retries, limits, places, and state that is read. */
function timeless({ maxConcurrency: _, ...graph }: Graph): Graph {
  return JSON.parse(JSON.stringify(graph), (key, value) => {
    if (value?.kind === 'ref' && value.root === 'state') return { kind: 'literal', value: 'state' };
    if (key === 'retry' || (key === 'errorStrategy' && value.kind === 'retry')) return undefined;
    if (!TIMED.includes(value?.kind)) return value;
    const { timeoutMs: _timeoutMs, ...node } = value;
    return node;
  }) as Graph;
}

/** A note that says that a call may be left out. */
const MAY_BE_LEFT_OUT = /Only |conditional|Stop before|Once for each|only after/;

/** Makes the calls of a hand-off in their order, and compares them with what the run asks for when it is carried on. */
class Replay {
  /** The calls that were listed, and asked for. */
  readonly made: Asked[] = [];
  readonly #stopped: Stopped;
  readonly #run: CarriedOn;
  readonly #listed: Stopped['trace']['_meta']['calls'];
  /** Steps that failed for good: the hand-off does not count on them, and here they never end. */
  readonly #lost: ReadonlySet<string>;

  constructor(stopped: Stopped, luck: boolean) {
    this.#stopped = stopped;
    this.#run = new CarriedOn(stopped, luck);
    const { calls, errors } = stopped.trace._meta;
    this.#listed = calls.filter(({ undoes }) => undoes !== true);
    const failed = errors.flatMap(({ step }) => step ?? []);
    this.#lost = new Set(failed.filter((step) => !this.#listed.some((call) => isAbout(call, step))));
  }

  /** What a hand-off has to say of it is nothing more: the run has ended, or does not do as the calls say. */
  get #isOver(): boolean {
    const { jumped, failed, status } = this.#run;
    return status !== 'running' || failed.length > 0 || (jumped.length > 0 && this.#lost.size > 0);
  }

  /** What is wrong with the hand-off. */
  fault(): string | undefined {
    for (let place = 0; ; ) {
      const open = this.#run.open().filter(({ node }) => !this.#lost.has(node));
      if (this.#isOver) return this.#run.status === 'succeeded' ? this.#notMade(place) : undefined;
      const [back] = this.#run.jumped;
      if (back !== undefined)
        return this.#isTold(back) ? undefined : `does not tell that '${back}' goes back`;
      const rest = this.#listed.slice(place);
      const unlisted = open.find(({ node }) => !rest.some((call) => isAbout(call, node)));
      if (unlisted !== undefined && this.#lost.size === 0) return `does not list '${unlisted.node}' here`;
      // What is done for each item comes together.
      const group = rest.slice(
        0,
        Math.max(
          1,
          rest.findIndex((call) => !isForEach(call)),
        ),
      );
      const calls = rest.every(isForEach) ? rest : isForEach(rest[0]) ? group : rest.slice(0, 1);
      const asked = open.find(({ node }) => calls.some((call) => isAbout(call, node)));
      if (calls.length === 0) return undefined;
      if (asked === undefined) {
        const missing = calls.length === 1 ? this.#notMade(place, place + 1) : undefined;
        if (missing !== undefined && this.#lost.size === 0) return missing;
      } else {
        const call = calls.find((each) => isAbout(each, asked.node));
        const listed = call && givenTo(call);
        if (!fits(listed, inputOf(asked), this.#run.answers))
          return `lists '${asked.node}' with ${JSON.stringify(listed)} for ${JSON.stringify(inputOf(asked))}`;
        this.made.push(asked);
        this.#run.answer(asked);
      }
      if (asked === undefined || !isForEach(calls[0])) place += calls.length;
    }
  }

  /** A call that is listed without a condition, and not made. A question may be withdrawn. */
  #notMade(from: number, to?: number): string | undefined {
    const isGuarded = this.#listed.slice(0, from).some(({ note }) => note?.includes('Stop before') === true);
    const call = this.#listed
      .slice(from, to)
      .find((each) => !('ask' in each) && !MAY_BE_LEFT_OUT.test(each.note ?? ''));
    return call === undefined || isGuarded || this.#lost.size > 0
      ? undefined
      : `lists '${call.step}' in vain`;
  }

  #isTold(node: string): boolean {
    const { content } = this.#stopped.trace.messages.at(-1) ?? {};
    const id = node.replace(/.*\//, '').replace(/\[.*/, '');
    const told = new RegExp(`[Ss]tep '${id}'.* goes back to`);
    return content?.type === 'text' && told.test(content.text);
  }
}

function isForEach(call: Stopped['trace']['_meta']['calls'][number] | undefined): boolean {
  return call?.in?.includes('[*]') === true;
}

/** Whether there is something to carry on with: nothing was undone or ended on purpose, or done after the failure. */
function goesOn({ state, trace, wentOn }: Stopped): boolean {
  const { pause_reason: reason, undone } = trace._meta;
  const isStopped = state.run.status === 'failed' || state.run.status === 'cancelled';
  return isStopped && !wentOn && reason?.type !== 'stopped' && undone === undefined;
}

/** Every case without times; a task also as a plain workflow, which fails where the task pauses. */
function* formsOf(cases: Iterable<readonly [number, Case]>): Generator<readonly [number, Case]> {
  for (const [number, { graph, ...rest }] of cases) {
    const { task, ...plain } = timeless(graph);
    yield [number, { ...rest, graph: plain }];
    if (task === true) yield [number, { ...rest, graph: { ...plain, task } }];
  }
}

/** How many calls the cases make at least, of each kind of work. They are a third of what there are. */
const FLOORS = {
  ...{ any: RUNS / 2, callTool: RUNS / 6, readResource: RUNS / 120, ask: RUNS / 210 },
  ...{ shell: RUNS / 450, mcp_call: RUNS / 375, delegate: RUNS / 1_500, agents: RUNS / 300 },
};

/** What a call is counted as: its kind, and work of an agent that drives the items of a loop. */
function kindsOf(graph: Graph, asked: Asked): string[] {
  const inLoops = new Set<string>();
  JSON.stringify(graph, (_, value) => {
    if (value?.kind === 'foreach' && value.agent !== undefined)
      for (const [, id = ''] of JSON.stringify(value.body).matchAll(/"id":"(\w+)"/g)) inLoops.add(id);
    return value;
  });
  const kind = asked.kind === 'requestAction' ? asked.action.type : asked.kind;
  return ['any', kind, ...(inLoops.has(asked.node.replace(/\[.*/, '')) ? ['agents'] : [])];
}

describe('the calls of a hand-off', () => {
  test('are those the engine makes, in an order and with values that it takes', { timeout: 900_000 }, () => {
    const made = new Map<string, number>();
    for (const [number, each] of formsOf(graphs())) {
      const stopped = stop(each);
      if (!goesOn(stopped)) continue;
      for (const luck of [true, false]) {
        const replay = new Replay(stopped, luck);
        expect(replay.fault(), `STEPWRIGHT_GRAPH=${number}: ${JSON.stringify(each)}`).toBeUndefined();
        // A task gets answers that hide the others.
        if (each.graph.task === true) continue;
        for (const kind of replay.made.flatMap((asked) => kindsOf(each.graph, asked)))
          made.set(kind, (made.get(kind) ?? 0) + 1);
      }
    }
    // The property is about something: many calls of each kind are listed, and made.
    if (ONLY !== undefined) return;
    for (const [kind, floor] of Object.entries(FLOORS))
      expect(made.get(kind) ?? 0, kind).toBeGreaterThanOrEqual(floor);
  });

  test('of a paused task are its steps that wait to be made, each once and no other', () => {
    let paused = 0;
    for (const [number, { graph, world }] of graphs()) {
      if (graph.task !== true) continue;
      const mask = new RunMask(graph, { input: INPUT });
      drive(ENGINE, graph, INPUT, world, ({ advance: { state } }) => {
        if (!isPaused(state)) return;
        const ledger = storedLedger(state);
        for (const fact of pauseFacts(state)) ledger.observe(fact, state);
        const run = { graph, mask, ledger, state, describeTool: () => undefined };
        const { calls } = closingOf(run, { workflowId: 'run' });
        const listed = calls.filter(({ undoes }) => undoes !== true).map(({ step }) => step);
        const open = stoppedSteps(state).map(({ node }) => node);
        expect(listed.toSorted(), `STEPWRIGHT_GRAPH=${number}`).toEqual(open.toSorted());
        paused += 1;
      });
    }
    if (ONLY === undefined) expect(paused).toBeGreaterThan(RUNS / 20);
  });
});
