import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { defined } from '../../../graph/defined.js';
import { type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { clip, jsonText } from '../../../graph/printable-text.js';
import type { Submission, ToAnswer } from '../../runs/actions/action.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import type { Envelope } from '../../runs/run/envelope.js';
import { rolesOf } from '../../runs/run/owner.js';
import type { RunStore, RunSummary, Waiter } from '../../runs/run-store.js';
import { UnreadableRunError } from '../../runs/store/store-error.js';
import { CallMask } from '../../secrets/call-mask.js';
import { maskedFailure } from '../../secrets/mask.js';
import { checkInput } from '../../tools/check-input.js';
import { maskedError } from '../../tools/exceptions.js';
import type { Log } from '../../tools/log.js';
import { runRef } from '../../tools/port.js';
import { createProgress } from '../../trace/progress.js';
import { lackingScopes } from '../callers.js';
import { storeFailure } from '../store-failure.js';
import { failureResult, type ToolResult } from '../wire.js';
import { longResult, partOf, withLink } from './long-results.js';
import { acceptedResult, envelopeResult, movedResult, toolResult } from './results.js';
import { type RunTool, runTools } from './run-tools.js';
import type { OfferedWorkflow, ServedWorkflow } from './served-workflows.js';

export interface WorkflowCallsOptions {
  readonly workflows: ReadonlyMap<string, ServedWorkflow>;
  readonly runs: RunStore;
  readonly schemas: SchemaCompiler;
  /** How long a call waits for its run, in ms. */
  readonly answerMs: number;
  /** The most workflows and the most runs in one answer of `list_workflows`. */
  readonly pageSize: number;
  /** The longest result of an answer, in UTF-16 code units. */
  readonly maxResultChars: number;
  readonly log: Log;
}

/** Calls of the tools of workflows, and of the tools that look after runs. */
export class WorkflowCalls {
  readonly #options: WorkflowCallsOptions;

  constructor(options: WorkflowCallsOptions) {
    this.#options = options;
  }

  /** Calls the tool of a workflow. A failure, a refused input among them, is a result with `isError`. */
  async callWorkflow(
    workflow: OfferedWorkflow,
    args: JsonObject,
    request: IdentifiedRequest,
  ): Promise<ToolResult> {
    const secret = workflow.graph.inputs.filter((input) => input.secret === true).map((input) => input.name);
    const mask = new CallMask();
    mask.giveMembers(args, secret);
    try {
      return await this.#run(workflow, args, { secret, mask }, request);
    } catch (fault) {
      const failure = storeFailure(fault, `'${workflow.tool.name}'`, this.#options.log);
      if (failure === undefined) throw maskedError(fault, mask);
      return failureResult(failure);
    }
  }

  async #run(
    { graph, tool }: OfferedWorkflow,
    args: JsonObject,
    { secret, mask }: { readonly secret: readonly string[]; readonly mask: CallMask },
    request: IdentifiedRequest,
  ): Promise<ToolResult> {
    const { runs, schemas, log, maxResultChars } = this.#options;
    const checked = await checkInput(
      args,
      { tool: tool.name, jsonSchema: tool.inputSchema, secret },
      schemas,
    );
    if (!checked.ok) return failureResult(maskedFailure(checked.failure, mask.searched));
    const input = withDefaults(graph, checked.input as JsonObject);
    const waiter = { ...this.#waiter(graph.name, request), cancels: true };
    const answer = await runs.start({ owner: request.principal, graph, input }, waiter);
    if (!answer.ok) return failureResult(answer.failure);
    const { envelope } = answer;
    const long = longResult(envelope, maxResultChars);
    if (long !== undefined) return withLink(envelopeResult(long.envelope), long);
    const run = runRef(envelope.workflow_id);
    return toolResult(envelope, tool.output, schemas, () =>
      log(
        `run ${run} of workflow \`${graph.name}\`: its result does not fit the output schema of its tool; it was returned in an envelope`,
        { event: 'workflow.result', run, workflow: graph.name },
      ),
    );
  }

  /** As {@link callWorkflow}, for a tool that looks after runs. */
  async callRunTool(name: RunTool, args: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const { inputSchema } = runTools[name];
    const named = withWorkflowId(args);
    if (named === undefined) return refused('workflow_id and run_id name two runs: send one of them');
    const checked = await checkInput(named, { tool: name, jsonSchema: inputSchema }, this.#options.schemas);
    if (!checked.ok) return failureResult(checked.failure);
    try {
      return await this.#callRunTool(name, checked.input as JsonObject, request);
    } catch (fault) {
      const failure = storeFailure(fault, `'${name}'`, this.#options.log);
      if (failure === undefined) throw fault;
      return failureResult(failure);
    }
  }

  async #callRunTool(name: RunTool, input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    switch (name) {
      case 'submit_result':
        return this.#submit(input, request);
      case 'get_workflow_status':
        return this.#status(input, request);
      case 'cancel_workflow':
        return this.#cancel(input, request);
      case 'list_workflows':
        return this.#list(input, request);
      default:
        return name satisfies never;
    }
  }

  async #submit(input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const { runs } = this.#options;
    const { principal } = request;
    const id = textIn(input, 'workflow_id') ?? '';
    const [actionId, result, error] = [
      textIn(input, 'action_id'),
      ownProperty(input, 'result'),
      ownProperty(input, 'error'),
    ];
    const submission: Submission = {
      ...defined({ actionId, result, error }),
    };
    const now = await runs.get(principal, id);
    const waiter = now.ok ? this.#waiter(now.envelope.definition.name, request) : this.#plainWaiter(request);
    const answer = await runs.submit(principal, id, submission, waiter);
    if ('accepted' in answer) return acceptedResult(id, answer.warnings);
    if (!answer.ok) return failureResult(answer.failure);
    const { envelope, warnings } = answer;
    return this.#fitted(envelope, (shown) => movedResult(shown, warnings));
  }

  async #status(input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const { runs, workflows } = this.#options;
    const answer = await runs.get(request.principal, textIn(input, 'workflow_id') ?? '');
    if (!answer.ok) return failureResult(answer.failure);
    const { name, hash } = answer.envelope.definition;
    const changed = workflows.get(name)?.hash !== hash;
    const about = { definition_hash: hash, definition_changed: changed };
    const from = ownProperty(input, 'result_from');
    if (typeof from === 'number') return this.#resultPart(answer.envelope, from, about);
    const isOpen = answer.envelope.status === 'running' || answer.envelope.status === 'waiting';
    const note = changed && isOpen ? [DEFINITION_CHANGED] : [];
    return this.#fitted(answer.envelope, (shown) => withNotes(envelopeResult(shown, [], about), note));
  }

  async #cancel(input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const { runs } = this.#options;
    const reason = textIn(input, 'reason');
    const how = {
      ...(reason === undefined || reason.trim() === '' ? {} : { reason }),
      compensate: ownProperty(input, 'compensate') === true,
    };
    const id = textIn(input, 'workflow_id') ?? '';
    const answer = await runs.cancel(request.principal, id, how, this.#plainWaiter(request));
    if (!answer.ok) return failureResult(answer.failure);
    const { envelope, warnings } = answer;
    return this.#fitted(envelope, (shown) => envelopeResult(shown, warnings));
  }

  /** The result of a tool for a run, with a link in place of a result of the run that is too long. */
  #fitted(envelope: Envelope, resultOf: (envelope: Envelope) => ToolResult): ToolResult {
    const long = longResult(envelope, this.#options.maxResultChars);
    return long === undefined ? resultOf(envelope) : withLink(resultOf(long.envelope), long);
  }

  #resultPart({ result, ...envelope }: Envelope, from: number, about: JsonObject): ToolResult {
    const part = result === undefined ? undefined : partOf(result, from, this.#options.maxResultChars);
    if (part === undefined)
      return refused(
        `\`result_from\` is ${from}, but the run has no result of more than ${from} characters: leave it out to see the state of the run`,
      );
    const { text, next } = part;
    const id = jsonText(envelope.workflow_id);
    const more =
      next === undefined
        ? []
        : [`There is more: get_workflow_status { "workflow_id": ${id}, "result_from": ${next} }.`];
    return {
      ...envelopeResult(envelope, [], { ...about, result_part: { ...part } }),
      content: [text, ...more].map((each) => ({ type: 'text', text: each })),
    };
  }

  async #list(input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const limit = ownProperty(input, 'limit');
    const size = Math.min(this.#options.pageSize, typeof limit === 'number' ? limit : Infinity);
    const all = [...this.#options.workflows.values()].filter(
      ({ graph }) => lackingScopes(graph.scopes, request).length === 0,
    );
    const status = textIn(input, 'status') as RunSummary['status'] | undefined;
    const start = startOf(textIn(input, 'cursor'), status, all.length);
    if (start === undefined || !(await this.#isListed(start.run, request)))
      return refused(
        '`cursor` is not one that list_workflows returned for this `status`, or the run that it refers to was forgotten: call it again without `cursor`',
      );
    // One more tells whether there are more.
    const listedRuns = await this.#options.runs.list(request.principal, {
      ...defined({ before: start.run, status }),
      limit: size + 1,
    });
    const runs = listedRuns.slice(0, size);
    const workflows = all.slice(start.workflow, start.workflow + size).map(({ graph, hash, tool }) => ({
      name: graph.name,
      ...defined({ version: graph.version }),
      description: graph.description,
      hash,
      ...defined({ tool: tool?.name }),
    }));
    // On the first page only.
    const isFirst = textIn(input, 'cursor') === undefined && status === undefined;
    const toAnswer = isFirst ? await this.#options.runs.toAnswer(request.principal) : [];
    const asked = toAnswer.slice(0, this.#options.pageSize);
    const left_out = toAnswer.length - asked.length;
    const listed = start.workflow + workflows.length;
    const hasMore = listed < all.length || runs.length < listedRuns.length;
    const last = runs.at(-1)?.workflow_id ?? start.run;
    const next = hasMore ? { next_cursor: cursorOf(status, listed, last) } : {};
    const lines = [
      ...workflows.map(
        ({ name, description, tool }) =>
          `${name}${tool === undefined ? '' : ` (tool ${tool})`}: ${clip(description)}`,
      ),
      '',
      ...(runs.length === 0 && start.run === undefined ? ['No runs.'] : runs.map(runLine)),
      ...(asked.length === 0 ? [] : ['', 'To answer:', ...asked.map(toAnswerLine)]),
      ...(left_out === 0 ? [] : [`${left_out} more are left out: answer these first.`]),
      ...(next.next_cursor === undefined
        ? []
        : [`There are more: call list_workflows again with "cursor": ${jsonText(next.next_cursor)}.`]),
    ];
    return {
      content: [{ type: 'text', text: lines.join('\n') }],
      structuredContent: {
        workflows,
        runs: runs.map((run) => ({ ...run })) as readonly Json[],
        ...(rolesOf(request.principal).length === 0 || !isFirst
          ? {}
          : { to_answer: asked.map((question) => ({ ...question })) }),
        ...(left_out === 0 ? {} : { to_answer_left_out: left_out }),
        ...next,
      },
    };
  }

  /** Whether a run that a cursor names is one of the caller. */
  async #isListed(run: string | undefined, { principal }: IdentifiedRequest): Promise<boolean> {
    if (run === undefined) return true;
    return this.#options.runs.get(principal, run).then(
      ({ ok }) => ok,
      (fault: unknown) => {
        if (fault instanceof UnreadableRunError) return true;
        throw fault;
      },
    );
  }

  #waiter(workflow: string, request: IdentifiedRequest): Waiter {
    const graph = this.#options.workflows.get(workflow)?.graph;
    if (graph === undefined) return this.#plainWaiter(request);
    const progress = createProgress(graph, request.progress);
    return {
      ...this.#plainWaiter(request),
      observe: (fact, state) => progress.observe(fact, state),
      progress: progress.ofTool,
    };
  }

  #plainWaiter(request: IdentifiedRequest): Waiter {
    return { request, answerMs: this.#options.answerMs };
  }
}

const DEFINITION_CHANGED =
  'The server has another definition of this workflow by now, or none: the run goes on with the one it started with.';

function refused(message: string): ToolResult {
  return failureResult({ code: 'E_INPUT_INVALID', message });
}

function withNotes(result: ToolResult, notes: readonly string[]): ToolResult {
  return {
    ...result,
    content: [...result.content, ...notes.map((text) => ({ type: 'text', text }) as const)],
  };
}

/** A cursor of `list_workflows`: of runs with this status, so many workflows were listed, and the runs up to this one. */
function cursorOf(status: string | undefined, workflows: number, run = ''): string {
  return Buffer.from(`list_workflows ${status ?? 'all'} ${workflows} ${run}`).toString('base64url');
}

/** Where a page of `list_workflows` starts. */
interface PageStart {
  /** So many workflows were listed. */
  readonly workflow: number;
  /** The last run that was listed; missing for none. */
  readonly run?: string;
}

/** Reads a cursor; nothing for one that `list_workflows` did not return. */
function startOf(
  cursor: string | undefined,
  status: string | undefined,
  workflows: number,
): PageStart | undefined {
  if (cursor === undefined) return { workflow: 0 };
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, count, run] = /^list_workflows [a-z]+ (\d{1,9}) (.*)$/s.exec(text) ?? [];
  const workflow = Number(count);
  if (run === undefined || workflow > workflows || cursorOf(status, workflow, run) !== cursor)
    return undefined;
  return run === '' ? { workflow } : { workflow, run };
}

/** With `run_id` under its own name; nothing where two runs are named. */
function withWorkflowId({ run_id, ...args }: JsonObject): JsonObject | undefined {
  if (run_id === undefined) return args;
  if (args.workflow_id !== undefined && args.workflow_id !== run_id) return undefined;
  return { ...args, workflow_id: run_id };
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

function textIn(input: JsonObject, name: string): string | undefined {
  const value = ownProperty(input, name);
  return typeof value === 'string' ? value : undefined;
}

/** The input of a run: the given arguments, and defaults for the rest. */
function withDefaults({ inputs }: Pick<Graph, 'inputs'>, args: JsonObject): JsonObject {
  return Object.fromEntries(
    inputs.flatMap(({ name, default: defaultValue }) => {
      const value = ownProperty(args, name) ?? (Object.hasOwn(args, name) ? null : defaultValue);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
