import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { defined } from '../../../graph/defined.js';
import { type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { clip, jsonText, oneLine } from '../../../graph/printable-text.js';
import type { RunWarning } from '../../../graph/run-time-codes.js';
import type { Failure, RunState } from '../../engine/contract.js';
import { stoppedSteps } from '../../engine/read.js';
import { howToAnswer, type Submission } from '../../runs/actions/action.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import type { Envelope, RunAnswer } from '../../runs/run/envelope.js';
import { childIn } from '../../runs/run/owner.js';
import type { RunStore, Waiter } from '../../runs/run-store.js';
import type { TaskOrigin } from '../../runs/store/host-rows.js';
import { CallMask } from '../../secrets/call-mask.js';
import { maskedFailure } from '../../secrets/mask.js';
import { checkInput, type InputRules } from '../../tools/check-input.js';
import type { Log } from '../../tools/log.js';
import { runRef } from '../../tools/port.js';
import { createProgress } from '../../trace/progress.js';
import { orRefusal } from '../store-failure.js';
import { failureResult, faultCodes, ProtocolFault, type ToolResult } from '../wire.js';
import { longResult, partOf, withLink } from './long-results.js';
import { acceptedResult, envelopeResult, movedResult, requestText, toolResult } from './results.js';
import { listPage } from './run-lists.js';
import { type RunTool, runTools } from './run-tools.js';
import {
  chooseWorkflow,
  inputSchemaOf,
  type OfferedWorkflow,
  type ServedWorkflow,
  taskSupportOf,
  unknownName,
  versionsOf,
} from './served-workflows.js';

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
    return this.#hiding(workflow.graph, args, `'${workflow.tool.name}'`, (secrets) =>
      this.#run(workflow, args, secrets, request),
    );
  }

  /** Does work that must not reveal the secret arguments of a call, in a fault either. */
  async #hiding(
    graph: Graph,
    args: JsonObject,
    what: string,
    work: (secrets: Secrets) => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const secrets = secretsIn(graph, args);
    const { log } = this.#options;
    return orRefusal(() => work(secrets), what, { log, mask: secrets.mask }, failureResult);
  }

  async #run(
    workflow: OfferedWorkflow,
    args: JsonObject,
    secrets: Secrets,
    request: IdentifiedRequest,
  ): Promise<ToolResult> {
    const how = { ...secrets, as: workflow.tool.name, cancels: true };
    const answer = await this.#begin(workflow, args, how, request);
    return answer.ok ? this.#resultOf(workflow, answer.envelope) : failureResult(answer.failure);
  }

  #resultOf({ graph, tool }: OfferedWorkflow, envelope: Envelope): ToolResult {
    const { schemas, log, maxResultChars } = this.#options;
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

  /** Starts a run, and waits for it, or until it is stored as a task. */
  async #begin(
    { graph, tool }: Pick<ServedWorkflow, 'graph' | 'tool'>,
    args: JsonObject,
    { as, secret, mask, cancels, task, waits = true }: Secrets & Beginning,
    request: IdentifiedRequest,
  ): Promise<RunAnswer> {
    const { runs, schemas } = this.#options;
    const jsonSchema = tool?.inputSchema ?? inputSchemaOf(graph);
    const checked = await inputOf(graph, args, schemas, { tool: as, jsonSchema, secret });
    if (!checked.ok) return { ok: false, failure: maskedFailure(checked.failure, mask.searched) };
    const { input } = checked;
    const waiter = this.#waiter(graph.name, request);
    return runs.start(
      { owner: request.principal, graph, input, ...defined({ task }) },
      waits ? { ...waiter, cancels } : { ...waiter, request: withoutUser(request), answerMs: 0 },
    );
  }

  /**
   * Starts the run of a call that is made as a task, and does not wait for it: the answer comes when it is stored.
   *
   * @param workflow that of the tool; `undefined` for `start_workflow`: its input names one.
   */
  async startTask(
    workflow: OfferedWorkflow | undefined,
    args: JsonObject,
    task: TaskOrigin,
    request: IdentifiedRequest,
  ): Promise<RunAnswer> {
    const chosen = workflow === undefined ? await this.#chosen(args, request) : { workflow, args };
    if ('failure' in chosen) return { ok: false, failure: chosen.failure };
    return this.#stored(chosen.workflow, chosen.args, { as: task.tool, task }, request);
  }

  /** Starts a run of a workflow, offered or not. Resolves when it is stored. */
  async startRun(workflow: string, args: JsonObject, request: IdentifiedRequest): Promise<RunAnswer> {
    const served = this.#options.workflows.get(workflow);
    if (served === undefined) return { ok: false, ...unknownName(workflow, this.#options.workflows) };
    return this.#stored(served, args, { as: workflow }, request);
  }

  /** Starts a run that continues without its request. */
  async #stored(
    workflow: ServedWorkflow,
    args: JsonObject,
    how: Pick<Beginning, 'as' | 'task'>,
    request: IdentifiedRequest,
  ): Promise<RunAnswer> {
    const { mask, secret } = secretsIn(workflow.graph, args);
    const { log } = this.#options;
    const whole = { ...how, mask, secret, cancels: false, waits: false };
    const begin = () => this.#begin(workflow, args, whole, request);
    return orRefusal(begin, `'${how.as}'`, { log, mask }, (failure) => ({ ok: false, failure }));
  }

  /** What a call of `start_workflow` starts as a task. */
  async #chosen(args: JsonObject, request: IdentifiedRequest): Promise<ReturnType<typeof chooseWorkflow>> {
    const jsonSchema = runTools.start_workflow.inputSchema;
    const checked = await checkInput(args, { tool: 'start_workflow', jsonSchema }, this.#options.schemas);
    if (!checked.ok) return { failure: checked.failure };
    const chosen = chooseWorkflow(this.#options.workflows, checked.input as JsonObject, request);
    if ('failure' in chosen || taskSupportOf(chosen.workflow.graph) !== 'forbidden') return chosen;
    throw new ProtocolFault(
      faultCodes.methodNotFound,
      `Workflow '${chosen.workflow.graph.name}' cannot be started as a task: call start_workflow without \`task\``,
    );
  }

  /** What the call of a tool returns that a run is for. @param workflow that of the tool. */
  taskResult(workflow: OfferedWorkflow | undefined, envelope: Envelope): ToolResult {
    return workflow === undefined
      ? this.#fitted(envelope, (shown) => movedResult(shown))
      : this.#resultOf(workflow, envelope);
  }

  /** Starts a workflow by its name. The answer is the envelope in any case. */
  async #start(input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const chosen = chooseWorkflow(this.#options.workflows, input, request);
    if ('failure' in chosen) return failureResult(chosen.failure);
    const { workflow, args, warnings } = chosen;
    return this.#hiding(workflow.graph, args, "'start_workflow'", async (secrets) => {
      const how = { ...secrets, as: 'start_workflow', cancels: false };
      const answer = await this.#begin(workflow, args, how, request);
      if (!answer.ok) return failureResult(answer.failure);
      return this.#fitted(answer.envelope, (shown) => movedResult(shown, warnings));
    });
  }

  /** As {@link callWorkflow}, for a tool that looks after runs. */
  async callRunTool(name: RunTool, args: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const { inputSchema } = runTools[name];
    const named = withWorkflowId(args);
    if (named === undefined) return refused('workflow_id and run_id name two runs: send one of them');
    const checked = await checkInput(named, { tool: name, jsonSchema: inputSchema }, this.#options.schemas);
    if (!checked.ok) return failureResult(checked.failure);
    const call = () => this.#callRunTool(name, checked.input as JsonObject, request);
    return orRefusal(call, `'${name}'`, this.#options, failureResult);
  }

  async #callRunTool(name: RunTool, input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    switch (name) {
      case 'start_workflow':
        return this.#start(input, request);
      case 'submit_result':
        return this.#submit(input, request);
      case 'get_workflow_status':
        return this.#status(input, request);
      case 'cancel_workflow':
        return this.#cancel(input, request);
      case 'resume_workflow':
        return this.#resume(input, request);
      case 'get_next_step':
        return this.#step(input, request);
      case 'submit_step_result':
        return this.#step(input, request, submissionIn(input));
      case 'get_workflow_state':
        return this.#state(input, request);
      case 'list_workflows':
      case 'list_runs':
        return listPage(name, this.#options, input, request);
      default:
        return name satisfies never;
    }
  }

  async #submit(input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const { runs } = this.#options;
    const { principal } = request;
    const id = textIn(input, 'workflow_id') ?? '';
    const submission = submissionIn(input);
    if (childIn(id) !== undefined) return this.#step(input, request, submission);
    const now = await runs.get(principal, id);
    const waiter = now.ok ? this.#waiter(now.envelope.definition.name, request) : this.#plainWaiter(request);
    const answer = await runs.submit(principal, id, submission, waiter);
    if ('accepted' in answer) return acceptedResult(id, answer.warnings);
    if (!answer.ok) return failureResult(answer.failure);
    const { envelope, warnings } = answer;
    return this.#fitted(envelope, (shown) => movedResult(shown, warnings));
  }

  /** Has the server try the failed steps of a paused run again. */
  async #resume(input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const { runs } = this.#options;
    const { principal } = request;
    const id = textIn(input, 'workflow_id') ?? '';
    const named = ownProperty(input, 'steps');
    const steps = Array.isArray(named) ? named.map(String) : undefined;
    const stepIds = await runs.inspect(principal, id, ({ state }) => stepsToTry(state, steps));
    if (stepIds === undefined || stepIds.length === 0) {
      const answer = await runs.get(principal, id);
      return answer.ok
        ? this.#fitted(answer.envelope, (shown) => withNotes(movedResult(shown), [NO_STEP_TO_TRY]))
        : failureResult(answer.failure);
    }
    const waiter = this.#plainWaiter(request);
    const tried = stepIds.map((stepId) => runs.submit(principal, id, { stepId, retry: true }, waiter));
    const answers = await Promise.all(tried);
    const refusal = answers.find((answer) => !answer.ok);
    if (refusal?.ok === false) return failureResult(refusal.failure);
    const now = await runs.get(principal, id);
    return now.ok ? this.#fitted(now.envelope, (shown) => movedResult(shown)) : failureResult(now.failure);
  }

  /** What the agent of a child does next. @param submission the result of its last step. */
  async #step(input: JsonObject, request: IdentifiedRequest, submission?: Submission): Promise<ToolResult> {
    const { runs } = this.#options;
    const id = textIn(input, 'workflow_id') ?? '';
    const answer = await runs.nextStep(request.principal, id, this.#plainWaiter(request), submission);
    if (!answer.ok) return failureResult(answer.failure);
    return stepResult(id, answer.next, answer.warnings);
  }

  async #status(input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const { runs, workflows } = this.#options;
    const answer = await runs.get(request.principal, textIn(input, 'workflow_id') ?? '');
    if (!answer.ok) return failureResult(answer.failure);
    const { name, hash } = answer.envelope.definition;
    const changed = versionsOf(workflows.get(name)).every((version) => version.hash !== hash);
    const about = { definition_hash: hash, definition_changed: changed };
    const from = ownProperty(input, 'result_from');
    if (typeof from === 'number') return this.#resultPart(answer.envelope, from, about);
    const isOpen = answer.envelope.status === 'running' || answer.envelope.status === 'waiting';
    const note = changed && isOpen ? [DEFINITION_CHANGED] : [];
    return this.#fitted(answer.envelope, (shown) => withNotes(envelopeResult(shown, [], about), note));
  }

  async #state(input: JsonObject, request: IdentifiedRequest): Promise<ToolResult> {
    const id = textIn(input, 'workflow_id') ?? '';
    const answer = await this.#options.runs.get(request.principal, id, { state: true });
    if (!answer.ok) return failureResult(answer.failure);
    const { workflow_id, status, state = {} } = answer.envelope;
    return {
      content: [{ type: 'text', text: jsonText(state) }],
      structuredContent: { workflow_id, status, state },
    };
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

interface Beginning {
  /** The tool that starts it. */
  readonly as: string;
  /** Whether the run ends with the request. */
  readonly cancels: boolean;
  readonly task?: TaskOrigin;
  /** Whether the request waits for the run. Default: true. */
  readonly waits?: boolean;
}

/** A request that ends before its run: its user cannot be asked by it. */
export function withoutUser({ peer, ...request }: IdentifiedRequest): IdentifiedRequest {
  const { elicit: _, elicitUrl: __, sample: ___, roots: ____, closeStream: _____, ...rest } = peer ?? {};
  return { ...request, peer: rest };
}

/** The secret inputs of a call. */
interface Secrets {
  readonly secret: readonly string[];
  readonly mask: CallMask;
}

function secretsIn({ inputs }: Graph, args: JsonObject): Secrets {
  const secret = inputs.filter((input) => input.secret === true).map((input) => input.name);
  const mask = new CallMask();
  mask.giveMembers(args, secret);
  return { secret, mask };
}

/** The steps of a paused run that are tried again: those that are named, else all that may be repeated. */
function stepsToTry(state: RunState | undefined, named: readonly string[] | undefined): readonly string[] {
  if (state === undefined) return [];
  if (named !== undefined) return named;
  return stoppedSteps(state).flatMap(({ node, action: { failure, tool } }) => {
    const mayRepeat =
      failure.outcomeUnknown !== true || tool === undefined || state.safetyOf(tool) !== 'none';
    return mayRepeat ? [node] : [];
  });
}

const NO_STEP_TO_TRY =
  'No step was tried again: name a step that waits in `steps` if its call may have taken effect and is to be repeated.';

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

/** With `run_id` under its own name; nothing where two runs are named. */
function withWorkflowId({ run_id, ...args }: JsonObject): JsonObject | undefined {
  if (run_id === undefined) return args;
  if (args.workflow_id !== undefined && args.workflow_id !== run_id) return undefined;
  return { ...args, workflow_id: run_id };
}

function submissionIn(input: JsonObject): Submission {
  const [actionId, stepId] = ['action_id', 'step_id'].map((name) => textIn(input, name));
  const [result, error] = [ownProperty(input, 'result'), ownProperty(input, 'error')];
  return { ...defined({ actionId, stepId, result, error }) };
}

function textIn(input: JsonObject, name: string): string | undefined {
  const value = ownProperty(input, name);
  return typeof value === 'string' ? value : undefined;
}

/** Checks the arguments of a run, and fills defaults in. */
export async function inputOf(
  graph: Pick<Graph, 'name' | 'inputs'>,
  args: JsonObject,
  schemas: SchemaCompiler,
  rules: InputRules = { tool: graph.name, jsonSchema: inputSchemaOf(graph) },
): Promise<
  { readonly ok: true; readonly input: JsonObject } | { readonly ok: false; readonly failure: Failure }
> {
  const checked = await checkInput(args, rules, schemas);
  return checked.ok ? { ok: true, input: withDefaults(graph, checked.input as JsonObject) } : checked;
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

/** What an agent does next. */
type NextStep = Extract<Awaited<ReturnType<RunStore['nextStep']>>, { readonly ok: true }>['next'];

/** What the agent of a child does next, as the result of a tool. @param id of the child, as the agent sent it. */
function stepResult(id: string, next: NextStep, warnings: readonly RunWarning[] = []): ToolResult {
  const text = [textOf(id, next), ...warnings.map(({ code, message }) => `${code}: ${message}`)];
  const more = warnings.length === 0 ? {} : { warnings: warnings.map((warning) => ({ ...warning })) };
  return {
    content: [{ type: 'text', text: text.join('\n') }],
    structuredContent: { workflow_id: id, ...(next as unknown as JsonObject), ...more },
  };
}

function textOf(id: string, next: NextStep): string {
  switch (next.status) {
    case 'pending_step':
      return stepText(id, next.step);
    case 'waiting':
      return `No step of this task is ready. Call get_next_step { "workflow_id": ${jsonText(id)} } again after ${next.retry_after_ms} ms.`;
    case 'complete':
      return `The task is complete. Its result: ${jsonText(next.final_result)}`;
    case 'error':
      return `The task has ended without a result: ${oneLine(next.error.message)} (${clip(next.error.code)})`;
    default:
      return next satisfies never;
  }
}

function stepText(id: string, step: Extract<NextStep, { status: 'pending_step' }>['step']): string {
  if (step.type === 'wait' || 'children' in step.parameters) return requestText(step);
  const [run, key] = [jsonText(id), jsonText(step.step_id)];
  const { schema, expires_at, refused_values = [] } = step;
  return [
    `Step ${key} ${requestText(step)}`,
    ...(schema === undefined ? [] : [`The schema of the result: ${jsonText(schema as Json)}`]),
    ...refused_values.map(
      ({ problems }, index) => `Try ${index + 1} did not fit: ${problems.map(oneLine).join('; ')}`,
    ),
    `Then call submit_step_result { "workflow_id": ${run}, "step_id": ${key}, "result": … }. ${howToAnswer(step, schema)}`,
    'If it cannot be done, send "error": { "message": … } in place of the result.',
    ...(expires_at === undefined ? [] : [`The step expires at ${expires_at}.`]),
  ].join('\n');
}
