import type { Json, JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { advance } from '../../src/runtime/engine/advance.js';
import type { Advance, Command, RunState } from '../../src/runtime/engine/contract.js';
import { start } from '../../src/runtime/engine/start.js';

const AT = 1_000;

/** A run in the hands of the simplest host there is: it answers one call after the other, at once. */
export class HostedRun {
  readonly #graph: Graph;
  readonly #open: Command[] = [];
  #next = 0;
  state: RunState;

  constructor(graph: Graph, input: JsonObject = {}) {
    this.#graph = graph;
    this.state = this.#take(start(graph, input, { runId: 'run-1', at: AT }));
  }

  /** Answers up to `count` calls. */
  answer(count = Number.POSITIVE_INFINITY): this {
    let left = count;
    for (
      let command = this.#open[this.#next];
      command !== undefined && left > 0;
      command = this.#open[this.#next]
    ) {
      this.#next += 1;
      if (command.kind !== 'callTool') continue;
      left -= 1;
      const value = increment(command.input as { readonly n: number });
      this.#take(
        advance(this.#graph, this.state, { kind: 'toolReturned', at: AT, command: command.id, value }),
      );
    }
    return this;
  }

  /** @throws Error where the run has not succeeded: then there is nothing to measure. */
  get result(): Json {
    const { status, result, failure } = this.state.run;
    if (status !== 'succeeded') throw new Error(`the run is ${status}: ${failure?.message ?? 'no failure'}`);
    return result ?? null;
  }

  #take({ state, commands }: Advance): RunState {
    for (const command of commands) this.#open.push(command);
    return state;
  }
}

/** What the tool does, here and in the peers. */
export function increment({ n }: { readonly n: number }): { n: number } {
  return { n: n + 1 };
}
