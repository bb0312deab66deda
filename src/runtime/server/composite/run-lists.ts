import { defined } from '../../../graph/defined.js';
import { type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import { clip, jsonText } from '../../../graph/printable-text.js';
import type { ToAnswer } from '../../runs/actions/action.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import { lackingScopes, rolesOf } from '../../runs/run/owner.js';
import type { RunStore, RunSummary } from '../../runs/run-store.js';
import { UnreadableRunError } from '../../runs/store/store-error.js';
import { failureResult, type ToolResult } from '../wire.js';
import type { RunTool } from './run-tools.js';
import type { ServedWorkflow } from './served-workflows.js';

interface Listed {
  readonly workflows: ReadonlyMap<string, ServedWorkflow>;
  readonly runs: RunStore;
  /** The most workflows and the most runs in one answer. */
  readonly pageSize: number;
}

/** The tools that list, by what they list beside runs. */
type ListTool = Extract<RunTool, 'list_workflows' | 'list_runs'>;

/** A page of the caller's runs, the latest first; with `list_workflows` also of the workflows that it may start. */
export async function listPage(
  tool: ListTool,
  { workflows: served, runs: store, pageSize }: Listed,
  input: JsonObject,
  request: IdentifiedRequest,
): Promise<ToolResult> {
  const isFull = tool === 'list_workflows';
  const { limit, status, cursor } = queryIn(input);
  const size = Math.min(pageSize, limit);
  const all = [...served.values()].filter(
    ({ graph }) => isFull && lackingScopes(graph.scopes, request).length === 0,
  );
  const start = startOf(tool, cursor, status, all.length);
  if (start === undefined || !(await isOwn(store, start.run, request))) return unknownCursor(tool);
  // One more tells whether there are more.
  const query = { ...defined({ before: start.run, status }), limit: size + 1 };
  const listedRuns = await store.list(request.principal, query);
  const runs = listedRuns.slice(0, size);
  const workflows = all.slice(start.workflow, start.workflow + size).map(workflowLine);
  const isFirst = isFull && cursor === undefined && status === undefined;
  const toAnswer = isFirst ? await store.toAnswer(request.principal) : [];
  const asked = toAnswer.slice(0, pageSize);
  const left_out = toAnswer.length - asked.length;
  const listed = start.workflow + workflows.length;
  const hasMore = listed < all.length || runs.length < listedRuns.length;
  const last = runs.at(-1)?.workflow_id ?? start.run;
  const next = hasMore ? { next_cursor: cursorOf(tool, status, listed, last) } : {};
  const lines = [
    ...workflows.map(
      ({ name, description, tool: own }) =>
        `${name}${own === undefined ? '' : ` (tool ${own})`}: ${clip(description)}`,
    ),
    ...(isFull ? [''] : []),
    ...(runs.length === 0 && start.run === undefined ? ['No runs.'] : runs.map(runLine)),
    ...(asked.length === 0 ? [] : ['', 'To answer:', ...asked.map(toAnswerLine)]),
    ...(left_out === 0 ? [] : [`${left_out} more are left out: answer these first.`]),
    ...(next.next_cursor === undefined
      ? []
      : [`There are more: call ${tool} again with "cursor": ${jsonText(next.next_cursor)}.`]),
  ];
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    structuredContent: {
      ...(isFull ? { workflows } : {}),
      runs: runs.map((run) => ({ ...run })) as readonly Json[],
      ...(rolesOf(request.principal).length === 0 || !isFirst
        ? {}
        : { to_answer: asked.map((question) => ({ ...question })) }),
      ...(left_out === 0 ? {} : { to_answer_left_out: left_out }),
      ...next,
    },
  };
}

function queryIn(input: JsonObject) {
  const limit = ownProperty(input, 'limit');
  const status = ownProperty(input, 'status');
  const cursor = ownProperty(input, 'cursor');
  return {
    limit: typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY,
    status: status as RunSummary['status'],
    cursor: typeof cursor === 'string' ? cursor : undefined,
  };
}

function workflowLine(workflow: ServedWorkflow) {
  const { graph, hash, tool, earlier = [] } = workflow;
  const { name, version, description } = graph;
  const others = earlier.flatMap(({ graph }) => graph.version ?? []);
  return {
    ...{ name, ...defined({ version }), description, hash, ...defined({ tool: tool?.name }) },
    ...(others.length === 0 ? {} : { other_versions: others }),
  };
}

function unknownCursor(tool: ListTool): ToolResult {
  const message = `\`cursor\` is not one that ${tool} returned for this \`status\`, or the run that it refers to was forgotten: call it again without \`cursor\``;
  return failureResult({ code: 'E_INPUT_INVALID', message });
}

/** Whether a run that a cursor names is one of the caller. */
async function isOwn(
  store: RunStore,
  run: string | undefined,
  { principal }: IdentifiedRequest,
): Promise<boolean> {
  if (run === undefined) return true;
  return store.get(principal, run).then(
    ({ ok }) => ok,
    (fault: unknown) => {
      if (fault instanceof UnreadableRunError) return true;
      throw fault;
    },
  );
}

/** A cursor of a list: of runs with this status, so many workflows were listed, and the runs up to this one. */
function cursorOf(tool: ListTool, status: string | undefined, workflows: number, run = ''): string {
  return Buffer.from(`${tool} ${status ?? 'all'} ${workflows} ${run}`).toString('base64url');
}

interface PageStart {
  /** So many workflows were listed. */
  readonly workflow: number;
  /** The last run that was listed; missing for none. */
  readonly run?: string;
}

/** Reads a cursor; undefined for one that the tool did not return. */
function startOf(
  tool: ListTool,
  cursor: string | undefined,
  status: string | undefined,
  workflows: number,
): PageStart | undefined {
  if (cursor === undefined) return { workflow: 0 };
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, count, run] = /^\w+ [a-z]+ (\d{1,9}) (.*)$/s.exec(text) ?? [];
  const workflow = Number(count);
  if (run === undefined || workflow > workflows || cursorOf(tool, status, workflow, run) !== cursor)
    return undefined;
  return run === '' ? { workflow } : { workflow, run };
}

function runLine(run: RunSummary): string {
  if ('unreadable' in run) {
    const why =
      run.unreadable === 'damaged'
        ? 'its part of the store is damaged'
        : 'another version of the server wrote it';
    return `${run.workflow_id}  cannot be read: ${why}`;
  }
  const { workflow_id, name, status, cancelling, open_actions, ...more } = run;
  const undoing = cancelling === true ? ', was cancelled; undoing is in progress' : '';
  const { length: count } = open_actions;
  const open = count === 0 ? '' : `, ${count} open ${count === 1 ? 'action' : 'actions'}`;
  const { started_at, ended_at, arguments: args, arguments_omitted: omitted = [] } = more;
  const end = ended_at === undefined ? '' : ` to ${ended_at}`;
  const without =
    omitted.length === 0 ? '' : ` without ${omitted.map(clip).join(', ')}, too large to be shown`;
  return `${workflow_id}  ${name}  ${status}${undoing}${open}\n  ${started_at}${end}  ${clip(jsonText(args))}${without}`;
}

function toAnswerLine({ workflow_id, action_id, name, message, schema }: ToAnswer): string {
  return `Workflow '${clip(name)}' asks: ${jsonText(message)}
The answer's schema: ${jsonText(schema as Json)}
Answer with submit_result { "workflow_id": ${jsonText(workflow_id)}, "action_id": ${jsonText(action_id)}, "result": … }.`;
}
