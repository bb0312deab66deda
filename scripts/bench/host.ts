import type { Json, JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { advance } from '../../src/runtime/engine/advance.js';
import type { Advance, Command, Event, RunState } from '../../src/runtime/engine/contract.js';
import { start } from '../../src/runtime/engine/start.js';

const AT = 1_000;

type Call = Extract<Command, { kind: 'callTool' }>;

/** A run in the hands of the simplest host there is: it answers one call after the other, at once. */
export class HostedRun {
  readonly #graph: Graph;
  /** Calls that were not answered yet, from `#next` on. */
  readonly #open: Call[] = [];
  #next = 0;
  state: RunState;

  constructor(graph: Graph, input: JsonObject = {}) {
    this.#graph = graph;
    this.state = this.#take(start(graph, input, { runId: 'run-1', at: AT }));
  }

  /** Answers up to `count` calls. */
  answer(count = Number.POSITIVE_INFINITY): this {
    for (let left = count; left > 0; left -= 1) {
      const call = this.#nextCall();
      if (call === undefined) break;
      const value = increment(call.input as { readonly n: number });
      const event: Event = { kind: 'toolReturned', at: AT, command: call.id, value };
      this.state = this.#take(advance(this.#graph, this.state, event));
    }
    return this;
  }

  /** @throws Error where the run has not succeeded: then there is nothing to measure. */
  get result(): Json {
    const { status, result, failure } = this.state.run;
    if (status !== 'succeeded') throw new Error(`the run is ${status}: ${failure?.message ?? 'no failure'}`);
    return result ?? null;
  }

  /** Calls that were answered are not kept. */
  #nextCall(): Call | undefined {
    const call = this.#open[this.#next];
    this.#next += 1;
    if (this.#next >= this.#open.length) {
      this.#open.length = 0;
      this.#next = 0;
    }
    return call;
  }

  #take({ state, commands }: Advance): RunState {
    for (const command of commands) if (command.kind === 'callTool') this.#open.push(command);
    return state;
  }
}

/** What the tool does, here and in the peers. */
export function increment({ n }: { readonly n: number }): { n: number } {
  return { n: n + 1 };
}
