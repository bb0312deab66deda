import { defined } from '../../../graph/defined.js';
import type { Graph } from '../../../graph/model.js';
import type { Envelope } from '../../runs/run/envelope.js';
import type { ToolEntry } from '../../tools/registry.js';
import { failureResult, successResult, type ToolResult } from '../wire.js';

/** A tool that clients may call, and how long a call of it may take, in ms. */
export interface CallableTool {
  readonly name: string;
  readonly entry: ToolEntry;
  readonly timeoutMs: number;
}

const INPUT = 'input';
const STEP = 'call';

/** By entry: runs of one tool have one graph. */
const graphs = new WeakMap<ToolEntry, Graph>();

/** The workflow of one step that a call of a tool is, when it is made as a task: then it survives a restart. */
export function toolGraph(tool: CallableTool): Graph {
  const graph = graphs.get(tool.entry) ?? makeGraph(tool);
  graphs.set(tool.entry, graph);
  return graph;
}

function makeGraph({ name, entry, timeoutMs }: CallableTool): Graph {
  const { title, description, inputSchema, secret = [] } = entry;
  const isSecret = secret.length > 0;
  return {
    graphVersion: 1,
    name,
    ...defined({ title }),
    description,
    inputs: [
      {
        name: INPUT,
        description: `What '${name}' is called with`,
        schema: inputSchema,
        required: true,
        ...(isSecret ? { secret: true } : {}),
      },
    ],
    instructions: [],
    nodes: [
      {
        kind: 'call',
        id: STEP,
        after: [],
        join: 'none_failed',
        executor: 'server',
        tool: name,
        timeoutMs,
        input: { kind: 'dict', entries: [{ spread: { kind: 'ref', root: 'inputs', path: [INPUT] } }] },
      },
    ],
    returns: { kind: 'ref', root: 'steps', path: [STEP] },
    expose: [],
  };
}

/** The input of the run of a call. */
export function toolRunInput(input: Readonly<Record<string, unknown>>) {
  return { [INPUT]: input };
}

/** What the call of a tool returns that a run is for. */
export function toolRunResult({ result = null, error }: Envelope): ToolResult {
  if (error === undefined) return successResult(result, undefined);
  const { code, message, outcome_unknown: outcomeUnknown, details } = error;
  return failureResult({ code, message, ...defined({ outcomeUnknown, details }) });
}
