import type { Owner } from '../../decorators/context.js';
import type { SimplePrompt } from '../../decorators/prompt.js';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { JsonObject, JsonSchema } from '../../graph/json.js';
import type { TaskSupport } from '../../graph/model.js';
import { nearestName, withSuggestion } from '../../graph/names.js';
import { clip, oneLine } from '../../graph/printable-text.js';
import type { Failure } from '../engine/contract.js';
import type { IdentifiedRequest, RequestContext } from '../runs/request.js';
import { type Caller, ownerOf, scopeFailure, UnidentifiedCallerError, withRoles } from '../runs/run/owner.js';
import type { RunStore } from '../runs/run-store.js';
import { CallMask } from '../secrets/call-mask.js';
import { maskedError, thrownFailure } from '../tools/exceptions.js';
import type { UntypedFactories } from '../tools/instances.js';
import type { PromptRequest } from '../tools/middleware.js';
import type { ToolOutcome } from '../tools/port.js';
import type { Registry } from '../tools/registry.js';
import { requestContextOf } from '../tools/tool-context.js';
import { createToolset, type Toolset } from '../tools/toolset.js';
import type { PromptTrace } from '../trace/messages.js';
import { readArguments } from './catalogue/arguments.js';
import { cacheHintOf, NOT_KEPT } from './catalogue/cache-hints.js';
import { type Catalogue, type LiveCatalogue, permittedPrompt } from './catalogue/catalogue.js';
import { pageOf, type ServedPrompt } from './catalogue/listings.js';
import { PLAN_TOOL, planResult, VALIDATE_TOOL, validateResult } from './catalogue/planning-tools.js';
import { register } from './catalogue/registration.js';
import { runAt } from './composite/long-results.js';
import { QUESTION_APP, QUESTION_TOOL, showsApps, withQuestionApp } from './composite/run-tools.js';
import {
  type ResolvedSettings,
  resolveSettings,
  type ServerOptions,
  type ServerSettings,
} from './options.js';
import type { QuestionApp } from './question-app.js';
import type { LinkedQuestion } from './question-page.js';
import type { QuestionRounds } from './question-rounds.js';
import type { BuiltWorkflow } from './registrations.js';
import { completeArgument, completeVariable } from './requests/completion.js';
import { type Abort, limited, unfinished } from './requests/limits.js';
import { failureOf } from './requests/prompt-renderer.js';
import { resourceContents } from './requests/resource-contents.js';
import { ServerParts } from './server-parts.js';
import type {
  CompletionRequest,
  CompletionSubject,
  Readiness,
  ScopedCaller,
  ServerChange,
  ServerOf,
  StepwrightServer,
  ViewSelection,
} from './stepwright-server.js';
import type { TaskCalls } from './tasks/task-calls.js';
import { lazyRouter, type TaskRouter } from './tasks/task-router.js';
import type { CallableTool } from './tasks/task-view.js';
import { verifyCurrent } from './verify-sources.js';
import {
  type CacheHint,
  type CacheSubject,
  type CachingCaller,
  type CompletionResult,
  failureResult,
  faultCodes,
  type PromptResult,
  ProtocolFault,
  successResult,
  type ToolResult,
} from './wire.js';

/**
 * Makes a server of a generated registry. Its schemas are compiled on first use: the call of a tool whose schema cannot
 * be used fails with `E_SCHEMA_INVALID`.
 *
 * @throws StaleRegistryError when the registry does not match its classes any more, or, in development, its sources; run
 *   `stepwright codegen`.
 * @throws RegistrationError when a built workflow or a plain prompt does not go with the registry, or the schema of an
 *   argument of a built workflow cannot be used.
 * @throws FactoriesError when a class cannot be instantiated, or a factory is given for nothing.
 * @throws RangeError for a limit among the options that is not a positive whole number, and for another malformed option.
 */
export function createServer<
  R extends Registry,
  const W extends readonly BuiltWorkflow[] = readonly [],
  const P extends readonly SimplePrompt[] = readonly [],
  const X extends string = 'w_',
>(
  registry: R,
  ...[options]: ServerOptions<R, W, P, X>
): ServerOf<R, [W, P] extends [readonly [], readonly []] ? never : string, X>;
export function createServer(
  registry: Registry,
  options: ServerSettings & UntypedFactories = {},
): StepwrightServer {
  verifyCurrent(registry);
  const settings = resolveSettings(options);
  if (settings.planTool && PLAN_TOOL.name in registry.tools)
    throw new RangeError('planTool needs the name `_plan`, which a tool of the registry has');
  if (settings.validateTool && VALIDATE_TOOL.name in registry.tools)
    throw new RangeError('validateTool needs the name `validate_workflow`, which a tool of the registry has');
  if (settings.questionApp && QUESTION_TOOL.name in registry.tools)
    throw new RangeError('questions.app needs the name `answer_question`, which a tool of the registry has');
  const schemas = new SchemaCompiler();
  const registered = register(registry, settings, schemas);
  const served: Registry = { ...registry, functions: registered.functions };
  const toolset = createToolset<Registry>(served, { ...options, ...settings, schemas });
  return new RegistryServer(new ServerParts(served, toolset, settings, options, schemas, registered));
}

/** Loaded with the first prompt that runs a workflow. */
let runPrompt: typeof import('./requests/prompt-run.js').runPrompt | undefined;

class RegistryServer implements StepwrightServer {
  readonly info: StepwrightServer['info'];
  readonly registry: Registry;
  readonly toolset: Toolset;
  readonly settings: ResolvedSettings;
  readonly telemetry: ResolvedSettings['telemetry'];
  readonly questionLinks: StepwrightServer['questionLinks'];
  readonly #parts: ServerParts;
  readonly #catalogues: LiveCatalogue;
  /** Hints of lists for clients and proxies, in each version of the protocol. */
  readonly #caching: Partial<CacheHint>;
  readonly #schemas: SchemaCompiler;
  readonly #runs: RunStore;

  /**
   * @param catalogues what its clients get. Default: what all clients get.
   * @param isOwn whether its lists are those of one client alone.
   */
  constructor(parts: ServerParts, catalogues: LiveCatalogue = parts.base, isOwn = false) {
    this.#parts = parts;
    this.#catalogues = catalogues;
    this.#caching = isOwn ? NOT_KEPT : {};
    this.registry = parts.registry;
    this.toolset = parts.toolset;
    this.settings = parts.settings;
    this.info = parts.settings.info;
    this.telemetry = parts.settings.telemetry;
    this.questionLinks = parts.links;
    this.#schemas = parts.schemas;
    this.#runs = parts.runs;
  }

  get #catalogue(): Catalogue {
    return this.#catalogues.current;
  }

  get instructions(): string | undefined {
    return this.#catalogue.instructions;
  }

  async view(selection: ViewSelection): Promise<StepwrightServer> {
    const specs = await this.#parts.specs();
    const { profile: _, ...brought } = selection;
    const isOwn = Object.values(brought).some((value) => value !== undefined);
    return new RegistryServer(this.#parts, await specs.select(selection), isOwn);
  }

  listTools(cursor?: string, caller: ScopedCaller & Pick<RequestContext, 'peer'> = { local: true }) {
    const { pageSize, questionApp } = this.settings;
    const { workflows, workflowTools } = this.#catalogue;
    const all = this.#catalogue.shownTools(caller);
    const mayAsk = (tool: string): boolean =>
      tool === 'start_workflow' || workflows.get(workflowTools.workflowOf(tool) ?? '')?.asks === true;
    const tools = questionApp && showsApps(caller.peer) ? withQuestionApp(all, mayAsk) : all;
    const { items, ...next } = pageOf('tools', tools, cursor, pageSize);
    return { tools: items, ...next, ...this.#caching };
  }

  listPrompts(cursor?: string, caller: ScopedCaller = { local: true }) {
    const { listings } = this.#catalogue;
    const prompts = listings.prompts.filter(
      ({ name }) => this.lackingScopes('prompt', name, caller).length === 0,
    );
    const { items, ...next } = pageOf('prompts', prompts, cursor, this.settings.pageSize);
    return { prompts: items, ...next, ...this.#caching };
  }

  listResources(cursor?: string) {
    const { listings, workflowResources } = this.#catalogue;
    const all = [...listings.resources, ...workflowResources.listings];
    const { items, ...next } = pageOf('resources', all, cursor, this.settings.pageSize);
    return { resources: items, ...next, ...this.#caching };
  }

  listResourceTemplates(cursor?: string) {
    const { listings, workflowResources } = this.#catalogue;
    const all = [...listings.templates, ...workflowResources.templates];
    const { items, ...next } = pageOf('templates', all, cursor, this.settings.pageSize);
    return { resourceTemplates: items, ...next, ...this.#caching };
  }

  cacheHint(subject: CacheSubject, caller: CachingCaller): CacheHint {
    const { registry, settings, toolset } = this;
    const facts = { registry, settings, toolset, catalogue: this.#catalogue };
    return { ...cacheHintOf(subject, facts, caller), ...this.#caching };
  }

  lackingScopes(kind: 'tool' | 'prompt', name: string, caller: ScopedCaller): readonly string[] {
    return this.#catalogue.lackingScopes(kind, name, caller);
  }

  async callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<ToolResult> {
    const request = this.#identified(context);
    const catalogue = this.#catalogue;
    const { workflowTools, clientTools, workflows } = catalogue;
    const refusal = await this.#refusalOf(name, request, catalogue);
    if (refusal !== undefined) return failureResult(refusal);
    if (workflowTools.has(name)) {
      const result = await workflowTools.call(name, input, request);
      return name === 'resume_workflow' ? (await this.#taskCalls()).describe(input, request, result) : result;
    }
    if (this.settings.questionApp && name === QUESTION_TOOL.name)
      return (await this.#questionApp()).answer(input, request);
    if (catalogue.canPlan && name === PLAN_TOOL.name) {
      return planResult(input, catalogue.shownTools(request), workflows.values());
    }
    if (this.settings.validateTool && name === VALIDATE_TOOL.name)
      return validateResult(input, catalogue.clientEnvironment);
    if (!clientTools.has(name)) {
      const near = nearestName(name, [...clientTools, ...workflowTools.names]);
      throw new ProtocolFault(faultCodes.invalidParams, withSuggestion(`Unknown tool '${clip(name)}'`, near));
    }
    const { toolTimeoutMs } = this.settings;
    const args = input as JsonObject;
    const mask = new CallMask();
    const call = await limited(toolTimeoutMs, request.signal, (signal) =>
      this.toolset.callTool(name, args, { ...request, signal, mask }),
    ).catch((fault: unknown) => {
      throw maskedError(fault, mask);
    });
    const result = this.#callResult(name, call, mask);
    if (request.continues === undefined) return result;
    const outcome = call.kind === 'done' && call.value.ok ? { value: mask.json(call.value.value) } : {};
    return (await this.#taskCalls()).record({ tool: name, args, ...outcome }, request, result);
  }

  #callResult(
    name: string,
    call: Awaited<ReturnType<typeof limited<ToolOutcome>>>,
    mask: CallMask,
  ): ToolResult {
    const { toolTimeoutMs } = this.settings;
    switch (call.kind) {
      case 'done':
        return call.value.ok
          ? this.#success(name, call.value, mask)
          : failureResult(call.value.failure, call.value.callResult);
      case 'timedOut': {
        const message = `Tool '${name}' did not answer within ${toolTimeoutMs} ms; whether it took effect is unknown`;
        return failureResult({ code: 'E_TIMEOUT', message, outcomeUnknown: true });
      }
      case 'cancelled': {
        const message = `The call of tool '${name}' was cancelled; whether it took effect is unknown`;
        return failureResult({ code: 'E_CANCELLED', message, outcomeUnknown: true });
      }
      default:
        return call satisfies never;
    }
  }

  /** Why a caller may not call a tool now. */
  async #refusalOf(
    name: string,
    request: IdentifiedRequest,
    catalogue = this.#catalogue,
  ): Promise<Failure | undefined> {
    const missing = catalogue.lackingScopes('tool', name, request);
    if (missing.length > 0) return scopeFailure(missing);
    const { workflowTools, workflows } = catalogue;
    return this.#parts.drift?.refusalOf(workflows.get(workflowTools.workflowOf(name) ?? ''));
  }

  startRun(...[workflow, args, context]: Parameters<StepwrightServer['startRun']>) {
    return this.#catalogue.workflowTools.startRun(workflow, args, this.#identified(context));
  }

  taskSupportOf(tool: string): TaskSupport | undefined {
    const callable = this.#toolOf(tool);
    if (callable !== undefined) return callable.entry.task ?? 'forbidden';
    return this.#catalogue.workflowTools.taskSupportOf(tool);
  }

  inputSchemaOf(tool: string): JsonSchema | undefined {
    return this.#toolOf(tool)?.entry.inputSchema;
  }

  /** A tool of the registry that clients may call. */
  #toolOf(name: string): CallableTool | undefined {
    const entry = this.#catalogue.clientTools.has(name) ? this.registry.tools[name] : undefined;
    return entry && { name, entry, timeoutMs: this.settings.toolTimeoutMs };
  }

  async questions(): Promise<QuestionRounds> {
    const { StoredQuestionRounds } = await import('./question-rounds.js');
    return new StoredQuestionRounds(this.#runParts);
  }

  get tasks(): TaskRouter {
    const { taskRouter } = this.settings;
    const own = lazyRouter(() => this.#ownTasks());
    return taskRouter === undefined ? own : taskRouter(own);
  }

  async #ownTasks(): Promise<TaskRouter> {
    // Loaded on first use: most clients have no tasks.
    const { RunTasks } = await import('./tasks/task-view.js');
    return new RunTasks({
      ...this.#runParts,
      pageSize: this.settings.pageSize,
      toolOf: (name) => this.#toolOf(name),
      refusalOf: (name, request) => this.#refusalOf(name, request),
      calls: await this.#taskCalls(),
    });
  }

  /** Records calls that continue tasks. Loaded with the first one. */
  async #taskCalls(): Promise<TaskCalls> {
    const { TaskCalls } = await import('./tasks/task-calls.js');
    return new TaskCalls({ ...this.#runParts, toolset: this.toolset });
  }

  /** What those need that work with the runs of clients. */
  get #runParts() {
    const { toolAnswerMs: answerMs, questionRounds: maxRounds, log } = this.settings;
    const { workflowTools, workflows } = this.#catalogue;
    return {
      ...{ runs: this.#runs, sealing: this.#parts.sealing, answerMs, maxRounds, log, workflowTools },
      workflowTool: (workflow: string) => workflows.get(workflow)?.tool?.name,
      pageOf: async (question: LinkedQuestion) => this.questionLinks?.urlOf(question),
      identified: (context: RequestContext) => this.#identified(context),
    };
  }

  /** What a tool gave, without secrets. Where it must match an output schema and then does not, it cannot be shown. */
  #success(
    name: string,
    { value, callResult }: Extract<ToolOutcome, { ok: true }>,
    mask: CallMask,
  ): ToolResult {
    if (mask.isEmpty) return successResult(value, callResult);
    const result = successResult(mask.json(value), callResult && mask.contents(callResult));
    const schema = this.registry.tools[name]?.outputSchema;
    const { structuredContent } = result;
    if (schema === undefined || structuredContent === undefined) return result;
    if (JSON.stringify(structuredContent) === JSON.stringify(callResult?.structuredContent ?? value))
      return result;
    if (this.#schemas.check(schema, structuredContent, 'usable').length === 0) return result;
    return failureResult({
      code: 'E_RESULT_SECRET',
      message: `Tool '${name}' succeeded, but its result cannot be shown: it repeats a secret of the input, and does not match the output schema without it. Do not call it again.`,
    });
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<PromptTrace | PromptResult> {
    const request = this.#identified(context);
    const catalogue = this.#catalogue;
    const prompt = permittedPrompt(catalogue, name, request);
    const { drift } = this.#parts;
    const refusal = drift && (await drift.refusalOf(catalogue.workflows.get(name)));
    if (refusal !== undefined) throw new ProtocolFault(faultCodes.refused, refusal.message, { ...refusal });
    const reading = readArguments(prompt.inputs, args, this.#schemas);
    if (!reading.ok) {
      const problems = reading.problems.map(({ argument, message }) => ({ argument, message }));
      const message = problems.map((problem) => oneLine(problem.message)).join('; ');
      throw new ProtocolFault(faultCodes.invalidParams, message, { problems });
    }
    const { input } = reading;
    const secret = prompt.inputs.filter((argument) => argument.secret === true);
    const mask = new CallMask();
    const names = secret.map((argument) => argument.name);
    for (const values of [args as JsonObject, input]) mask.giveMembers(values, names);
    const make = () => this.#rendered(catalogue, prompt, { args, input }, request, mask);
    if (this.toolset.middleware.isEmpty) return await make();
    const shownArguments = mask.input(input, names);
    return this.#admitted({ prompt: name, shownArguments }, request, mask, make);
  }

  /** Makes a prompt, unless middleware refuses it. */
  async #admitted(
    asked: PromptRequest,
    request: IdentifiedRequest,
    mask: CallMask,
    make: () => Promise<PromptTrace | PromptResult>,
  ): Promise<PromptTrace | PromptResult> {
    const { middleware } = this.toolset;
    const limitMs = this.settings.promptTimeoutMs;
    const answer = await limited(limitMs, request.signal, (signal) =>
      middleware.admit(
        `the prompt ${asked.prompt}`,
        (each) => each.onPrompt?.(asked, requestContextOf({ ...request, signal })),
        mask,
      ),
    );
    if (answer.kind !== 'done') {
      const { message } = unfinished(answer.kind, limitMs);
      throw new ProtocolFault(faultCodes.internal, `Prompt '${asked.prompt}' failed: ${message}`);
    }
    const admission = answer.value;
    if ('failure' in admission) {
      const { code, message } = admission.failure;
      throw new ProtocolFault(
        faultCodes.refused,
        `Prompt '${clip(asked.prompt)}' was refused: ${oneLine(message)}`,
        { code },
      );
    }
    try {
      const response = await make();
      await admission.end(failureOf(response));
      return response;
    } catch (error) {
      await admission.end(thrownFailure(error, 'E_PROMPT'));
      throw error;
    }
  }

  async #rendered(
    { workflows }: Catalogue,
    prompt: ServedPrompt,
    { args: given, input }: { readonly args: Readonly<Record<string, unknown>>; readonly input: JsonObject },
    request: IdentifiedRequest,
    mask: CallMask,
  ): Promise<PromptTrace | PromptResult> {
    const { content } = prompt;
    if (content.kind !== 'workflow') return this.#parts.renderer.get(prompt, content, input, request, mask);
    const workflow = workflows.get(prompt.name);
    if (workflow === undefined) throw new Error(`workflow ${prompt.name} is offered and not served`);
    runPrompt ??= (await import('./requests/prompt-run.js')).runPrompt;
    try {
      return await runPrompt({
        workflow,
        input,
        args: Object.entries(given).filter(
          (argument): argument is [string, string] => typeof argument[1] === 'string',
        ),
        toolset: this.toolset,
        runs: this.#runs,
        values: this.#parts.values,
        settings: this.settings,
        request,
      });
    } catch (fault) {
      if (!(fault instanceof ProtocolFault)) throw maskedError(fault, mask);
      throw new ProtocolFault(fault.code, mask.text(fault.message), fault.data);
    }
  }

  async #questionApp(): Promise<QuestionApp> {
    const { QuestionApp } = await import('./question-app.js');
    return new QuestionApp({ ...this.#runParts, schemas: this.#schemas });
  }

  async readResource(uri: string, context: RequestContext) {
    const { settings, toolset } = this;
    if (settings.questionApp && uri === QUESTION_APP)
      return { contents: [(await this.#questionApp()).resource] };
    const { workflowResources } = this.#catalogue;
    const parts = { runs: this.#runs, settings, toolset, workflowResources };
    return { contents: await resourceContents(uri, this.#identified(context), parts) };
  }

  hasResource(uri: string): boolean {
    return (
      runAt(uri) !== undefined ||
      this.toolset.resourceAt(uri) !== undefined ||
      this.#catalogue.workflowResources.has(uri)
    );
  }

  resourceUpdated(uri: string): void {
    this.#parts.changes.announce({ kind: 'resource', uri });
  }

  listChanged(list: 'tools' | 'prompts' | 'resources'): void {
    this.#parts.changes.announce({ kind: 'list', list });
  }

  onChange(listener: (change: ServerChange) => void): () => void {
    const catalogues = this.#catalogues;
    return this.#parts.changes.listen((source) => catalogues.isBuiltOn(source), listener);
  }

  async complete(
    of: CompletionSubject,
    asked: CompletionRequest,
    context: RequestContext,
  ): Promise<CompletionResult> {
    const request = this.#identified(context);
    const { toolTimeoutMs } = this.settings;
    if (of.kind === 'prompt')
      return completeArgument(
        permittedPrompt(this.#catalogue, of.name, request),
        asked,
        request,
        toolTimeoutMs,
      );
    const template =
      this.toolset.template(of.uriTemplate, request) ??
      this.#catalogue.workflowResources.template(of.uriTemplate);
    if (template === undefined) {
      throw new ProtocolFault(
        faultCodes.invalidParams,
        `Unknown resource template '${clip(of.uriTemplate)}'`,
      );
    }
    return completeVariable(template, asked, request, toolTimeoutMs);
  }

  ownerOf(caller: Caller): Owner {
    return ownerOf(caller, this.settings.ownerRule);
  }

  authenticates(): void {
    this.#parts.hasAuthentication = true;
  }

  toolsInCall(): readonly string[] {
    return this.toolset.toolsInCall();
  }

  get isDraining(): boolean {
    return this.#parts.gate.isDraining;
  }

  get readiness(): Readiness {
    if (this.isDraining) return { status: 'draining' };
    if (this.#runs.fault === undefined) return { status: 'ready' };
    const reason =
      'The file of the store, or one beside it, was removed or replaced: no run and no answer is accepted until the server starts again. Its log names the file.';
    return { status: 'store_replaced', reason };
  }

  admit<T>(
    request: RequestContext,
    work: (request: RequestContext) => Promise<T>,
    abort?: Abort,
    isWaiting?: boolean,
  ): Promise<T> {
    return this.#parts.gate.admit(request, work, abort, isWaiting);
  }

  start(): Promise<void> {
    return this.#parts.start();
  }

  async executing(): Promise<void> {
    await this.#runs.executing?.();
  }

  async drain(): Promise<void> {
    await this.#parts.gate.drain(this.settings.drainTimeoutMs, this.#runs, this.settings.log);
    await this.stop();
  }

  stop(): Promise<void> {
    this.#parts.gate.endWaiting();
    return this.#parts.stop();
  }

  endRuns(reason: string): void {
    this.#runs.endAll(reason);
  }

  /** A request with its caller. One whose caller cannot be distinguished from others is refused before anything is done. */
  #identified(request: RequestContext | null | undefined): IdentifiedRequest {
    if (request?.signal === undefined)
      throw new UnidentifiedCallerError(
        'The request has no caller: pass `{ local: true, requestId, signal, progress }` for the user of this process, or `auth` in place of `local`.',
      );
    try {
      const principal = withRoles(this.ownerOf(request), request.auth?.roles, this.settings.localRoles);
      const { auth } = request;
      if (auth === undefined || principal.kind !== 'principal' || principal.subject === undefined)
        return { ...request, principal };
      return { ...request, principal, auth: { ...auth, subject: principal.subject } };
    } catch (error) {
      if (!(error instanceof UnidentifiedCallerError)) throw error;
      throw new ProtocolFault(faultCodes.unidentified, error.message);
    }
  }
}
