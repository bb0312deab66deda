import type { JsonObject } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import type { Fact } from '../../engine/contract.js';
import type { CallContext, CallPort, ToolOutcome } from '../../tools/port.js';
import { FakeClock } from './fake-clock.fixture.js';
import { runInProcess } from './run-in-process.js';

export type Tool = (input: JsonObject, context: CallContext) => ToolOutcome | Promise<ToolOutcome>;

export const ok = (value: Extract<ToolOutcome, { ok: true }>['value']): ToolOutcome => ({ ok: true, value });

export const never = (): Promise<never> => new Promise(() => {});

/** A port over tools by name; a resource gives its URI as text. */
export function port(tools: Readonly<Record<string, Tool>>): CallPort {
  return {
    async callTool(name, given, context) {
      const tool = tools[name];
      if (tool === undefined) throw new Error(`no tool ${name}`);
      return tool(given, context);
    },
    async readResource(_name, uri) {
      return { ok: true, value: { uri, text: `text of ${uri}` } };
    },
    async evaluate({ name }, args) {
      return name === 'nothing' ? { ok: true } : { ok: true, value: [name, ...args] };
    },
  };
}

export type InProcessRun = Parameters<typeof runInProcess>[0];

/** A run with tools by name, whose clock is fixed, and all it reports. */
export class Setup {
  readonly clock = new FakeClock();
  readonly facts: Fact[] = [];
  readonly progress: unknown[] = [];
  readonly abort = new AbortController();

  run(
    of: Graph,
    tools: Readonly<Record<string, Tool>>,
    options: Partial<InProcessRun> = {},
  ): ReturnType<typeof runInProcess> {
    return runInProcess({
      graph: of,
      input: {},
      runId: 'run-1',
      calls: port(tools),
      context: { requestId: '7', progress: (...report) => this.progress.push(report) },
      signal: this.abort.signal,
      observe: (fact) => this.facts.push(fact),
      clock: this.clock,
      ...options,
    });
  }
}
