import type { ToolContext } from '../../../src/decorators/context.js';
import type { ToolAnnotations } from '../../../src/decorators/tool.js';
import type { Json, JsonObject, JsonSchema } from '../../../src/graph/json.js';
import type { Graph, Input } from '../../../src/graph/model.js';
import type { RetrySafety } from '../../../src/graph/tool-safety.js';
import { planOf } from '../../../src/plan/compile.js';
import type { Fact, RunState } from '../../../src/runtime/engine/contract.js';
import { commandsOf } from '../../../src/runtime/engine/read.js';
import { RunRecord } from '../../../src/runtime/runs/actions/run-record.js';
import type { Clock } from '../../../src/runtime/runs/run/clock.js';
import { envelopeOf, type LiveStatus } from '../../../src/runtime/runs/run/envelope.js';
import { LiveRun } from '../../../src/runtime/runs/run/live-run.js';
import { observeFacts } from '../../../src/runtime/runs/run/run-host.js';
import { runInProcess } from '../../../src/runtime/runs/run/run-in-process.js';
import type { InProcessRun } from '../../../src/runtime/runs/run/setup.fixture.js';
import type { Journal } from '../../../src/runtime/runs/store/journal.js';
import { RunMask } from '../../../src/runtime/secrets/run-mask.js';
import { taskTrace } from '../../../src/runtime/server/requests/prompt-run.js';
import { toolsOf } from '../../../src/runtime/server/tasks/task-meta.js';
import type { Registry, ToolEntry } from '../../../src/runtime/tools/registry.js';
import { createToolset } from '../../../src/runtime/tools/toolset.js';
import { Ledger } from '../../../src/runtime/trace/ledger.js';
import type { PromptTrace } from '../../../src/runtime/trace/messages.js';
import { createTrace } from '../../../src/runtime/trace/trace.js';

/** A tool made of one function; without a schema it takes anything. */
export interface FakeTool {
  readonly description: string;
  readonly run: (input: never, context: ToolContext) => unknown;
  readonly schema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  readonly retrySafety?: RetrySafety;
  /** Names of secret inputs. */
  readonly secret?: readonly string[];
}

/** Makes a tool that remembers its calls, for each run anew. It may abort the run it is called in. */
export type FreshTool = (abort: (reason: string) => void) => FakeTool;

/** A workflow and the world it runs in. */
export interface Scenario {
  readonly graph: Graph;
  readonly tools?: Readonly<Record<string, FakeTool | FreshTool>>;
  /** Text by name; a name without text fails to be read. Its URI is `res://` and the name. */
  readonly resources?: Readonly<Record<string, string | Uint8Array | undefined>>;
  /** Pure functions by name, each with its name as hash. */
  readonly functions?: Readonly<Record<string, (...args: never[]) => unknown>>;
  readonly given?: Readonly<Record<string, string>>;
  /** The arguments as values. Default: `given`. */
  readonly input?: JsonObject;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** What is answered to the questions of steps, by their keys. Others stay open, and close the trace. */
  readonly answers?: Readonly<Record<string, Json>>;
  /** With it the run is stored, and waits instead of ending if no answer comes. A task is always stored. */
  readonly workflowId?: string;
  /** Where its run is written. */
  readonly journal?: Journal;
  /** Where it waits it is cancelled, and what it did is undone. */
  readonly cancel?: boolean;
}

/** Runs a scenario with the real toolset, engine and host, and gives its trace. */
export async function traceOf(scenario: Scenario): Promise<PromptTrace> {
  const { graph, given = {}, input = given, deadlineMs, journal } = scenario;
  const controller = new AbortController();
  const { signal = controller.signal } = scenario;
  const toolset = createToolset<Registry>(
    registryOf(scenario, (reason) => controller.abort(reason)),
    { log() {} },
  );
  const context = { requestId: 'r1', progress() {} };
  const instructions = await Promise.all(
    graph.instructions.map(async ({ resource, uri }) => ({
      uri,
      outcome: await toolset.readResource(resource, uri, {
        ...context,
        signal: new AbortController().signal,
      }),
    })),
  );
  const mask = new RunMask(graph, {
    input,
    argumentTexts: Object.entries(given),
    secretInputs: (name) => toolset.describeTool(name)?.secret ?? [],
  });
  const trace = createTrace({
    graph,
    describeTool: (name) => toolset.describeTool(name),
    args: Object.entries(given),
    mask,
    instructions,
  });
  const observe = (fact: Fact, state: RunState): void => trace.observe(fact, state);
  const options = {
    graph,
    input,
    mask,
    runId: 'run-1',
    calls: toolset,
    toolSafety: toolset.toolSafety,
    context,
    observe,
    clock: jumpingClock(),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(journal === undefined ? {} : { journal }),
  };
  const { workflowId } = scenario;
  if (graph.task || workflowId !== undefined || scenario.answers !== undefined) {
    const { state, liveStatus } = await answered(options, scenario);
    if (graph.task) {
      const record = new RunRecord(options.clock);
      const envelope = envelopeOf({ state, liveStatus, mask, record, paused: [] });
      return taskTrace(state, envelope, { trace, mask, toolOf: toolsOf(new Ledger(planOf(graph))) });
    }
    return trace.finish(state, workflowId === undefined ? undefined : { workflowId });
  }
  const { state } = await runInProcess({
    ...options,
    leavesValues: true,
    signal,
  });
  return trace.finish(state);
}

/** Runs until it is over, or nothing goes on without an answer that is not given. */
function answered(
  options: InProcessRun & { readonly observe: NonNullable<InProcessRun['observe']> },
  { answers = {}, cancel }: Scenario,
): Promise<{ readonly state: RunState; readonly liveStatus: LiveStatus }> {
  let isCancelled = false;
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const { liveStatus, state } = run;
      for (const command of commandsOf(state)) {
        if (command.kind !== 'requestAction' || !Object.hasOwn(answers, command.node)) continue;
        run.answer(command.id, answers[command.node] ?? null);
        return;
      }
      if (liveStatus === 'busy') return;
      if (cancel && !isCancelled) {
        isCancelled = true;
        run.cancel('not wanted any more', { compensate: true });
      } else resolve({ state, liveStatus });
    };
    const run = new LiveRun(options, options, (event) => {
      if (event.kind === 'facts') observeFacts(event, options.observe);
      if (event.kind === 'idle') look();
      if (event.kind === 'failed') reject(event.fault);
    });
    run.go();
  });
}

/** A trace as a page a person can read and compare. */
export function page({ description, messages, _meta }: PromptTrace): string {
  const blocks = messages.map(({ role, content }, index) => {
    const { 'stepwright/part': part, ...rest } = content._meta ?? { 'stepwright/part': 'none' };
    const meta = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
    const body = content.type === 'text' ? content.text : JSON.stringify(content.resource, null, 2);
    return `=== ${index + 1} [${role}] ${part}${meta}\n${body}\n`;
  });
  return `${description}\n${blocks.join('')}=== _meta\n${JSON.stringify(_meta, null, 2)}\n`;
}

export const textInput = (name: string, options: Partial<Input> = {}): Input => ({
  name,
  description: name,
  schema: { type: 'string' },
  required: true,
  ...options,
});

/** Time passes only when nothing else can happen: a timer fires once every call that ever ends has ended. */
function jumpingClock(): Clock {
  let now = 1_000_000;
  return {
    now: () => now,
    setTimer(callback, delayMs) {
      const due = now + delayMs;
      const timer = setImmediate(() => {
        now = Math.max(now, due);
        callback();
      });
      return () => clearImmediate(timer);
    },
  };
}

export function registryOf(
  { tools = {}, resources = {}, functions = {} }: Scenario,
  abort: (reason: string) => void,
): Registry {
  return {
    registryVersion: 1,
    checksum: '',
    tools: Object.fromEntries(
      Object.entries(tools).map(([name, tool]) => [
        name,
        toolEntry(typeof tool === 'function' ? tool(abort) : tool),
      ]),
    ),
    resources: Object.fromEntries(
      Object.entries(resources).map(([name, content]) => [
        name,
        {
          class: class {
            read() {
              if (content === undefined) throw new Error(`${name} is gone`);
              return content;
            }
          },
          uri: `res://${name}`,
          mimeType: typeof content === 'string' ? 'text/markdown' : 'image/png',
          fingerprint: '',
        },
      ]),
    ),
    workflows: {},
    functions: Object.fromEntries(
      Object.entries(functions).map(([name, fn]) => [name, { function: fn, hash: name }]),
    ),
  };
}

function toolEntry({ description, run, schema, annotations, retrySafety, secret }: FakeTool): ToolEntry {
  return {
    class: class {
      execute(input: never, context: ToolContext) {
        return run(input, context);
      }
    },
    description,
    inputSchema: schema ?? { type: 'object' },
    ...(annotations === undefined ? {} : { annotations }),
    ...(retrySafety === undefined ? {} : { retrySafety }),
    ...(secret === undefined ? {} : { secret }),
    fingerprint: '',
  };
}
