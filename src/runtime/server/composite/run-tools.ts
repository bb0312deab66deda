import { isJsonObject, type JsonSchema } from '../../../graph/json.js';
import type { Peer } from '../../tools/port.js';
import type { ToolListing } from '../wire.js';

/** Names of the tools that look after runs, in the order they are listed. */
export const RUN_TOOLS = [
  'start_workflow',
  'submit_result',
  'get_workflow_status',
  'cancel_workflow',
  'list_workflows',
  'list_runs',
  'resume_workflow',
  'get_next_step',
  'submit_step_result',
  'get_workflow_state',
] as const;

export type RunTool = (typeof RUN_TOOLS)[number];

/** What runs of a workflow may need. */
export interface RunTraits {
  /** It is a prompt or a tool: callers may start it. */
  readonly isExposed: boolean;
  /** It may ask for something. */
  readonly asks: boolean;
  /** It has work for the agent that calls: commands, tools of its own, tasks. */
  readonly needsAgent: boolean;
  /** It has a loop that agents drive. */
  readonly hasChildren: boolean;
  /** It may ask for something, or wait for a time. */
  readonly canWait: boolean;
  /** Its runs are tasks: they are kept. */
  readonly isTask: boolean;
  /** A run of it may outlast the request that starts it: it can wait, or makes calls that no caller can continue. */
  readonly outlastsRequest: boolean;
  /** How it is offered as a tool, where it is one. */
  readonly tool?: object;
  /** Other versions of it. */
  readonly earlier?: readonly RunTraits[];
}

/**
 * The tools that look after runs of these workflows. A run that cannot wait is found by the id in the answer that
 * started it, so that nothing lists it.
 */
export function runToolsFor(workflows: readonly RunTraits[]): readonly RunTool[] {
  const exposed = workflows
    .flatMap((each) => [each, ...(each.earlier ?? [])])
    .filter((each) => each.isExposed);
  const hasChildren = exposed.some((workflow) => workflow.hasChildren);
  const needsAgent = exposed.some((workflow) => workflow.needsAgent);
  const hasTasks = exposed.some(({ isTask }) => isTask);
  const isNeeded: Readonly<Record<RunTool, boolean>> = {
    start_workflow: needsAgent || exposed.some(({ earlier }) => earlier !== undefined),
    submit_result: needsAgent || exposed.some(({ asks }) => asks),
    get_workflow_status: exposed.some(asksById),
    cancel_workflow: exposed.some(asksById),
    resume_workflow: hasTasks,
    list_workflows: exposed.some(({ canWait }) => canWait),
    list_runs: needsAgent || hasTasks,
    get_next_step: hasChildren,
    submit_step_result: hasChildren,
    // An option of the server.
    get_workflow_state: false,
  };
  return RUN_TOOLS.filter((name) => isNeeded[name]);
}

/** Whether callers ask for runs of a workflow by their ids. */
function asksById({ tool, outlastsRequest, isTask }: RunTraits): boolean {
  return tool !== undefined || outlastsRequest || isTask;
}

/** The states of a run, as an envelope has them. */
const RUN_STATES = { enum: ['running', 'waiting', 'completed', 'failed', 'cancelled'] } as const;

/** The schema of an `Envelope`: the members that a model reads. It is part of each listed tool, and admits the others. */
export const ENVELOPE_SCHEMA = {
  type: 'object',
  properties: {
    workflow_id: { type: 'string' },
    status: RUN_STATES,
    actions: { type: 'array' },
    result: {},
    error: { type: 'object' },
  },
  required: ['workflow_id', 'status'],
} as const satisfies JsonSchema;

/** Of `submit_result`: a caller that is not the owner gets `accepted` alone, and a sub-agent its next step. */
const SUBMIT_SCHEMA: JsonSchema = {
  ...ENVELOPE_SCHEMA,
  properties: { ...ENVELOPE_SCHEMA.properties, status: { type: 'string' } },
};

/** What an agent does next. */
const STEP_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    status: { enum: ['pending_step', 'waiting', 'complete', 'error'] },
    step: { type: 'object' },
    retry_after_ms: { type: 'number' },
    final_result: {},
    error: { type: 'object' },
  },
  required: ['status'],
};

const CHILD: JsonSchema = { type: 'string', minLength: 1, description: 'Workflow ID of your prompt' };

const ERROR: JsonSchema = { description: '{ message, code? }: the step fails with it.' };

const TEXT: JsonSchema = { type: 'string' };

const ID: JsonSchema = { type: 'string', minLength: 1, description: 'Id of the run' };

const LIST: JsonSchema = { type: 'array' };

/** Which of a list is returned. */
const PAGE: JsonSchema = strict({
  status: { ...RUN_STATES, description: 'Only runs with this status' },
  limit: { type: 'integer', minimum: 1 },
  cursor: { type: 'string', description: '`next_cursor` of the page before' },
});

const READS = { readOnlyHint: true, openWorldHint: false } as const;

/** The tools that look after runs. `run_id` is taken for `workflow_id` as well. */
export const runTools: Readonly<Record<RunTool, ToolListing>> = {
  start_workflow: {
    name: 'start_workflow',
    title: 'Start a workflow',
    description: 'Starts a workflow by name, and returns the run: open actions, result or failure.',
    inputSchema: strict(
      {
        name: { type: 'string', minLength: 1, description: 'From list_workflows' },
        inputs: { description: '{ name: value }' },
        version: TEXT,
      },
      'name',
    ),
    outputSchema: ENVELOPE_SCHEMA,
    annotations: { readOnlyHint: false },
  },
  submit_result: {
    name: 'submit_result',
    title: 'Answer a waiting workflow',
    description: 'Answers an open action of a run with `result`, or with `error`.',
    inputSchema: strict(
      {
        workflow_id: ID,
        action_id: { type: 'string', minLength: 1, description: 'May be left out where one is open' },
        result: {
          description: 'What fits the schema of the action; in short true, false, a text or an option.',
        },
        error: ERROR,
      },
      'workflow_id',
    ),
    outputSchema: SUBMIT_SCHEMA,
    // Sending an answer once more changes nothing.
    annotations: { readOnlyHint: false, idempotentHint: true },
  },
  get_workflow_status: {
    name: 'get_workflow_status',
    title: 'Get the state of a workflow run',
    description: 'Returns the state of a run: open actions, result or failure.',
    // The answer that a long result does not fit explains `result_from`; every list would pay for a description.
    inputSchema: strict({ workflow_id: ID, result_from: { type: 'integer', minimum: 0 } }, 'workflow_id'),
    outputSchema: ENVELOPE_SCHEMA,
    annotations: READS,
  },
  cancel_workflow: {
    name: 'cancel_workflow',
    title: 'Cancel a workflow run',
    description: 'Cancels a run and its calls in flight.',
    inputSchema: strict(
      {
        workflow_id: ID,
        reason: { type: 'string', maxLength: 500 },
        compensate: { type: 'boolean', description: 'Undo what it did first. Default: false' },
      },
      'workflow_id',
    ),
    outputSchema: ENVELOPE_SCHEMA,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  },
  list_workflows: {
    name: 'list_workflows',
    title: 'List workflows and runs',
    description: 'Lists workflows, your runs (latest first) and questions you may answer.',
    inputSchema: PAGE,
    outputSchema: {
      type: 'object',
      properties: { workflows: LIST, runs: LIST, to_answer: LIST, next_cursor: TEXT },
      required: ['workflows', 'runs'],
    },
    annotations: READS,
  },
  list_runs: {
    name: 'list_runs',
    title: 'List runs',
    description: 'Lists your runs (latest first).',
    inputSchema: PAGE,
    outputSchema: { type: 'object', properties: { runs: LIST, next_cursor: TEXT }, required: ['runs'] },
    annotations: READS,
  },
  resume_workflow: {
    name: 'resume_workflow',
    title: 'Resume a workflow',
    description: 'Tries the failed steps of a paused run again, and returns the run.',
    inputSchema: strict(
      {
        workflow_id: ID,
        steps: {
          type: 'array',
          items: TEXT,
          description: 'Only these steps. A call that may have taken effect is repeated only if it is named.',
        },
      },
      'workflow_id',
    ),
    outputSchema: ENVELOPE_SCHEMA,
    annotations: { readOnlyHint: false },
  },
  get_next_step: {
    name: 'get_next_step',
    title: 'Get the next step of a task',
    description: 'For sub-agents: returns the next step of your task, the same one until it is submitted.',
    inputSchema: strict({ workflow_id: CHILD }, 'workflow_id'),
    outputSchema: STEP_SCHEMA,
    annotations: READS,
  },
  submit_step_result: {
    name: 'submit_step_result',
    title: 'Submit the result of a step',
    description:
      'For sub-agents: submits `result` or `error` of a step of your task, and returns the next step.',
    inputSchema: strict(
      {
        workflow_id: CHILD,
        step_id: { type: 'string', minLength: 1 },
        action_id: { type: 'string', minLength: 1, description: 'May be left out' },
        result: { description: 'What fits the schema of the step' },
        error: ERROR,
      },
      'workflow_id',
      'step_id',
    ),
    outputSchema: STEP_SCHEMA,
    annotations: { readOnlyHint: false, idempotentHint: true },
  },
  get_workflow_state: {
    name: 'get_workflow_state',
    title: 'Get the values of a workflow run',
    description: 'For debugging: returns the fields of the state of a run.',
    inputSchema: strict({ workflow_id: ID }, 'workflow_id'),
    outputSchema: {
      type: 'object',
      properties: { workflow_id: TEXT, status: RUN_STATES, state: { type: 'object' } },
      required: ['workflow_id', 'status', 'state'],
    },
    annotations: READS,
  },
};

/** The address of the app that shows questions in the frame of a host, by the extension `io.modelcontextprotocol/ui`. */
export const QUESTION_APP = 'ui://stepwright/question';

export const APP_TYPE = 'text/html;profile=mcp-app';

/** The tool of that app. Hosts show it to no model. */
export const QUESTION_TOOL: ToolListing = {
  name: 'answer_question',
  title: 'Show and answer a question',
  description:
    'For the app of questions: returns the form of an open question, and takes what was filled in.',
  inputSchema: strict(
    { workflow_id: ID, action_id: TEXT, fields: { type: 'string', description: 'Of the form, URL-encoded' } },
    'workflow_id',
  ),
  annotations: { readOnlyHint: false, idempotentHint: true },
  _meta: { ui: { visibility: ['app'] } },
};

export function showsApps(peer: Pick<Peer, 'client'> | undefined): boolean {
  const { extensions } = peer?.client?.capabilities ?? {};
  const app = isJsonObject(extensions) ? extensions['io.modelcontextprotocol/ui'] : undefined;
  return isJsonObject(app) && Array.isArray(app.mimeTypes) && app.mimeTypes.includes(APP_TYPE);
}

/** A list of tools for a host that shows apps. @param mayAsk whether the run of a tool may ask something. */
export function withQuestionApp(
  tools: readonly ToolListing[],
  mayAsk: (tool: string) => boolean,
): readonly ToolListing[] {
  const shown = tools.map((tool) => {
    if (!mayAsk(tool.name)) return tool;
    return { ...tool, _meta: { ...tool._meta, ui: { resourceUri: QUESTION_APP } } };
  });
  return [...shown, QUESTION_TOOL];
}

function strict(
  properties: Readonly<Record<string, JsonSchema>>,
  ...required: readonly string[]
): JsonSchema {
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}
