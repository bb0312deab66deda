import type { Owner } from '../../decorators/context.js';
import type { SimplePrompt } from '../../decorators/prompt.js';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { JsonObject } from '../../graph/json.js';
import { nearestName } from '../../graph/names.js';
import type { Failure } from '../engine/contract.js';
import { CallMask } from '../tools/call-mask.js';
import { thrownFailure } from '../tools/exceptions.js';
import type { UntypedFactories } from '../tools/factories.js';
import { maskedError } from '../tools/mask.js';
import type { PromptRequest } from '../tools/middleware.js';
import type { ToolOutcome } from '../tools/port.js';
import { clientToolNames, type Registry } from '../tools/registry.js';
import { requestContextOf } from '../tools/tool-context.js';
import { createToolset, type Toolset } from '../tools/toolset.js';
import type { PromptTrace } from '../trace/messages.js';
import { resultContents, runOfResult } from './composite/long-results.js';
import { type ServedWorkflow, type ServedWorkflows, servedWorkflows } from './composite/served-workflows.js';
import { WorkflowTools } from './composite/workflow-tools.js';
import { callsSeveralTools, instructionsFor } from './instructions.js';
import { Lifecycle } from './lifecycle.js';
import {
  type Listings,
  listingsOf,
  pageOf,
  type RunnableWorkflow,
  type ServedPrompt,
  servedPrompts,
  shownTool,
  withoutOutputSchema,
  withUses,
} from './listings.js';
import { once } from './once.js';
import {
  type ResolvedSettings,
  resolveSettings,
  type ServerOptions,
  type ServerSettings,
} from './options.js';
import { PLAN_TOOL, planResult } from './plan-tool.js';
import {
  type CompletionRequest,
  completeArgument,
  completeVariable,
  readArguments,
} from './prompt-arguments.js';
import { failureOf, PromptRenderer } from './prompt-renderer.js';
import { type BuiltWorkflow, RegistrationError, register } from './registration.js';
import {
  type Abort,
  faultCodes,
  type IdentifiedRequest,
  limited,
  ProtocolFault,
  type RequestContext,
  RequestGate,
  withRoles,
} from './request.js';
import { unanswerable } from './runs/answerers.js';
import { type Caller, ownerOf, UnidentifiedCallerError } from './runs/run-owner.js';
import type { RunStore } from './runs/run-store.js';
import { RunStoreOnDemand } from './runs/run-store-on-demand.js';
import { lackingScopes, type ScopedCaller, scopeFailure } from './scopes.js';
import { serverTexts } from './server-texts.js';
import type { CompletionSubject, ServerChange, ServerOf, StepwrightServer } from './stepwright-server.js';
import { undeclaredTools } from './undeclared-safety.js';
import { verifyCurrent } from './verify-sources.js';
import {
  type CompletionResult,
  failureResult,
  type PromptResult,
  type ResourceContents,
  successResult,
  type ToolListing,
  type ToolResult,
} from './wire.js';
import { WorkflowResources } from './workflow-resources.js';

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
  if (settings.planTool && PLAN_TOOL.name in registry.tools) throw new RangeError(serverTexts.planTool.taken);
  const schemas = new SchemaCompiler();
  const { workflows, functions, warnings } = register(registry, settings, schemas);
  const served: Registry = { ...registry, functions };
  const toolset = createToolset<Registry>(served, { ...options, ...settings, schemas });
  const runnable = servedWorkflows(served, workflows, settings.workflowPrefix);
  if (runnable.problems.length > 0) throw new RegistrationError(runnable.problems);
  for (const warning of warnings) settings.log(warning, { event: 'workflow.warning', level: 'warning' });
  if (settings.storePath !== undefined) {
    const graphs = [...runnable.workflows.values()].map(({ graph }) => graph);
    const tools = undeclaredTools(served, graphs);
    if (tools.length > 0)
      settings.log(serverTexts.undeclaredSafety(tools), { event: 'store.retry_safety', level: 'warning' });
  }
  return new RegistryServer(served, toolset, settings, workflows, runnable, options, schemas);
}

class RegistryServer implements StepwrightServer {
  readonly info: StepwrightServer['info'];
  declare readonly instructions?: string;
  readonly #listings: Listings;
  /** The tools of the registry with what follows from the workflows. The plans of all workflows are made for it. */
  readonly #hintedTools: () => readonly ToolListing[];
  readonly #tools: () => readonly ToolListing[];
  /** The tools as a caller sees them who lacks no scope. */
  readonly #allTools: () => readonly ToolListing[];
  readonly #hasToolScopes: boolean;
  readonly #clientTools: ReadonlySet<string>;
  readonly #prompts: ReadonlyMap<string, ServedPrompt>;
  readonly #renderer: PromptRenderer;
  readonly #schemas: SchemaCompiler;
  readonly #workflows: ServedWorkflows['workflows'];
  readonly #runs: RunStore;
  readonly #workflowTools: WorkflowTools;
  readonly #workflowResources: WorkflowResources;
  readonly #gate = new RequestGate();
  readonly #lifecycle: Lifecycle;
  #hasAuthentication = false;
  /** Why workflows are unavailable, by their names. */
  #unavailable: ReadonlyMap<string, Failure> = new Map();
  #isCompared = false;
  #runPrompt: Promise<typeof import('./prompt-run.js').runPrompt> | undefined;
  readonly #listeners = new Set<(change: ServerChange) => void>();

  constructor(
    readonly registry: Registry,
    readonly toolset: Toolset,
    readonly settings: ResolvedSettings,
    built: readonly RunnableWorkflow[],
    { workflows }: ServedWorkflows,
    factories: UntypedFactories,
    schemas: SchemaCompiler,
  ) {
    this.#schemas = schemas;
    this.#lifecycle = new Lifecycle(settings.hooks, settings.log);
    this.#clientTools = new Set(clientToolNames(registry));
    this.#workflows = workflows;
    const { toolAnswerMs: answerMs, pageSize, describe, log, journal, storePath } = settings;
    const hasRuns = journal !== undefined || storePath !== undefined;
    this.#runs = new RunStoreOnDemand(() => this.#openRuns(), hasRuns);
    this.#workflowTools = new WorkflowTools({
      workflows,
      runs: this.#runs,
      schemas,
      answerMs,
      pageSize,
      maxResultChars: settings.maxResultChars,
      describe,
      log,
    });
    this.info = settings.info;
    const prompts = servedPrompts(registry, built, settings.prompts);
    this.#prompts = new Map(prompts.map((prompt) => [prompt.name, prompt]));
    this.#renderer = new PromptRenderer(registry, factories, settings);
    this.#listings = listingsOf(registry, prompts);
    const graphs = settings.hints
      ? [...Object.values(registry.workflows), ...built].map(({ graph }) => graph)
      : [];
    this.#hintedTools = once(() => withUses(this.#listings.tools, graphs));
    this.#tools = once(() => {
      const own = settings.planTool ? [PLAN_TOOL] : [];
      const tools = [...this.#hintedTools(), ...this.#workflowTools.listings, ...own];
      return settings.outputSchemas ? tools : tools.map(withoutOutputSchema);
    });
    this.#allTools = once(() => this.#tools().map((tool) => shownTool(tool, () => true, settings.hints)));
    this.#workflowResources = new WorkflowResources(workflows.values(), this.#hintedTools, this);
    const instructions = settings.hints
      ? instructionsFor({
          own: settings.instructions,
          workflowTools: this.#workflowTools.listings,
          tools: this.#listings.tools,
          hasSequences: graphs.some(callsSeveralTools),
          prefix: settings.workflowPrefix,
          canPlan: settings.planTool,
        })
      : settings.instructions;
    if (instructions !== undefined) this.instructions = instructions;
    const names = [...this.#clientTools, ...this.#workflowTools.names];
    this.#hasToolScopes = names.some((name) => (this.#toolScopes(name)?.length ?? 0) > 0);
  }

  async #openRuns(): Promise<RunStore> {
    const { openRunStore } = await import('./runs/open-run-store.js');
    const { toolset, settings } = this;
    return openRunStore(toolset, settings, {
      schemas: this.#schemas,
      refusal: (graph, owner) =>
        unanswerable(graph, owner, {
          localRoles: settings.localRoles,
          hasAuthentication: this.#hasAuthentication,
        }),
    });
  }

  listTools(cursor?: string, caller: ScopedCaller = { local: true }) {
    const { pageSize } = this.settings;
    const { items, ...next } = pageOf('tools', this.#shownTools(caller), cursor, pageSize);
    return { tools: items, ...next };
  }

  /** The tools as a caller sees them. */
  #shownTools(caller: ScopedCaller): readonly ToolListing[] {
    if (!this.#hasToolScopes) return this.#allTools();
    const isShown = (name: string): boolean => this.lackingScopes('tool', name, caller).length === 0;
    return this.#tools()
      .filter(({ name }) => isShown(name))
      .map((tool) => shownTool(tool, isShown, this.settings.hints));
  }

  listPrompts(cursor?: string, caller: ScopedCaller = { local: true }) {
    const prompts = this.#listings.prompts.filter(
      ({ name }) => this.lackingScopes('prompt', name, caller).length === 0,
    );
    const { items, ...next } = pageOf('prompts', prompts, cursor, this.settings.pageSize);
    return { prompts: items, ...next };
  }

  listResources(cursor?: string) {
    const { items, ...next } = pageOf(
      'resources',
      [...this.#listings.resources, ...this.#workflowResources.listings],
      cursor,
      this.settings.pageSize,
    );
    return { resources: items, ...next };
  }

  listResourceTemplates(cursor?: string) {
    const { items, ...next } = pageOf(
      'templates',
      [...this.#listings.templates, ...this.#workflowResources.templates],
      cursor,
      this.settings.pageSize,
    );
    return { resourceTemplates: items, ...next };
  }

  lackingScopes(kind: 'tool' | 'prompt', name: string, caller: ScopedCaller): readonly string[] {
    if (kind === 'prompt') return lackingScopes(this.#prompts.get(name)?.scopes, caller);
    return lackingScopes(this.#toolScopes(name), caller);
  }

  /** What a client needs to call a tool. */
  #toolScopes(name: string): readonly string[] | undefined {
    const tool = this.#clientTools.has(name) ? this.registry.tools[name] : undefined;
    return tool?.scopes ?? this.#workflowTools.scopesOf(name);
  }

  async callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<ToolResult> {
    const request = this.#identified(context);
    const missing = this.lackingScopes('tool', name, request);
    if (missing.length > 0) return failureResult(scopeFailure(missing));
    const drift = this.#unavailable.get(this.#workflowTools.workflowOf(name) ?? '');
    if (drift !== undefined) return failureResult(drift);
    if (this.#workflowTools.has(name)) return this.#workflowTools.call(name, input, request);
    if (this.settings.planTool && name === PLAN_TOOL.name) {
      return planResult(input, this.#shownTools(request), this.#workflows.values());
    }
    if (!this.#clientTools.has(name)) {
      const near = nearestName(name, [...this.#clientTools, ...this.#workflowTools.names]);
      throw new ProtocolFault(faultCodes.invalidParams, serverTexts.unknownTool(name, near));
    }
    const { toolTimeoutMs } = this.settings;
    const given = input as JsonObject;
    const mask = new CallMask();
    const call = await limited(toolTimeoutMs, request.signal, (signal) =>
      this.toolset.callTool(name, given, { ...request, signal, mask }),
    ).catch((fault: unknown) => {
      throw maskedError(fault, mask);
    });
    switch (call.kind) {
      case 'done':
        return call.value.ok
          ? this.#success(name, call.value, mask)
          : failureResult(call.value.failure, call.value.callResult);
      case 'timedOut': {
        const message = serverTexts.toolTimedOut(name, toolTimeoutMs);
        return failureResult({ code: 'E_TIMEOUT', message, outcomeUnknown: true });
      }
      case 'cancelled':
        return failureResult({
          code: 'E_CANCELLED',
          message: serverTexts.toolCancelled(name),
          outcomeUnknown: true,
        });
      default:
        return call satisfies never;
    }
  }

  /** What a tool gave, without secrets. Where it must match an output schema and then does not, it cannot be shown. */
  #success(
    name: string,
    { value, callResult }: Extract<ToolOutcome, { ok: true }>,
    mask: CallMask,
  ): ToolResult {
    if (mask.isEmpty) return successResult(value, callResult);
    const result = successResult(mask.json(value), callResult && mask.callResult(callResult));
    const schema = this.registry.tools[name]?.outputSchema;
    const { structuredContent } = result;
    if (schema === undefined || structuredContent === undefined) return result;
    if (JSON.stringify(structuredContent) === JSON.stringify(callResult?.structuredContent ?? value))
      return result;
    if (this.#schemas.check(schema, structuredContent, 'usable').length === 0) return result;
    return failureResult({ code: 'E_RESULT_SECRET', message: serverTexts.resultSecret(name) });
  }

  async getPrompt(
    name: string,
    given: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<PromptTrace | PromptResult> {
    const request = this.#identified(context);
    const prompt = this.#permittedPrompt(name, request);
    const drift = this.#unavailable.get(name);
    if (drift !== undefined) throw new ProtocolFault(faultCodes.refused, drift.message, { ...drift });
    const read = readArguments(prompt.inputs, given, this.#schemas);
    if (!read.ok) {
      const problems = read.problems.map(({ argument, message }) => ({ argument, message }));
      const message = serverTexts.badArguments(problems.map((problem) => problem.message));
      throw new ProtocolFault(faultCodes.invalidParams, message, { problems });
    }
    const { input } = read;
    const secret = prompt.inputs.filter((argument) => argument.secret === true);
    const mask = new CallMask();
    const names = secret.map((argument) => argument.name);
    for (const values of [given as JsonObject, input]) mask.giveMembers(values, names);
    const shownArguments = mask.input(input, names);
    return this.#admitted({ prompt: name, shownArguments }, request, mask, () =>
      this.#rendered(prompt, { given, input }, request, mask),
    );
  }

  /** Makes a prompt, unless middleware refuses it. */
  async #admitted(
    asked: PromptRequest,
    request: IdentifiedRequest,
    mask: CallMask,
    make: () => Promise<PromptTrace | PromptResult>,
  ): Promise<PromptTrace | PromptResult> {
    const { middleware } = this.toolset;
    if (middleware.isEmpty) return make();
    const limitMs = this.settings.promptTimeoutMs;
    const answer = await limited(limitMs, request.signal, (signal) =>
      middleware.admit(
        `the prompt ${asked.prompt}`,
        (each) => each.onPrompt?.(asked, requestContextOf({ ...request, signal })),
        mask,
      ),
    );
    if (answer.kind !== 'done') {
      const why = answer.kind === 'timedOut' ? serverTexts.noAnswer(limitMs) : serverTexts.requestCancelled();
      throw new ProtocolFault(faultCodes.internal, serverTexts.promptFailed(asked.prompt, why));
    }
    const admission = answer.value;
    if ('failure' in admission) {
      const { code, message } = admission.failure;
      throw new ProtocolFault(faultCodes.refused, serverTexts.promptRefused(asked.prompt, message), { code });
    }
    try {
      const made = await make();
      await admission.end(failureOf(made));
      return made;
    } catch (error) {
      await admission.end(thrownFailure(error, 'E_PROMPT'));
      throw error;
    }
  }

  async #rendered(
    prompt: ServedPrompt,
    { given, input }: { readonly given: Readonly<Record<string, unknown>>; readonly input: JsonObject },
    request: IdentifiedRequest,
    mask: CallMask,
  ): Promise<PromptTrace | PromptResult> {
    const { content } = prompt;
    if (content.kind !== 'workflow') return this.#renderer.get(prompt, content, input, request, mask);
    // An import of a loaded module is not free: under a loader for TypeScript it takes a millisecond.
    this.#runPrompt ??= import('./prompt-run.js').then(({ runPrompt }) => runPrompt);
    const runPrompt = await this.#runPrompt;
    try {
      return await runPrompt({
        workflow: this.#served(content.workflow.graph.name),
        input,
        given: Object.entries(given).filter(
          (argument): argument is [string, string] => typeof argument[1] === 'string',
        ),
        toolset: this.toolset,
        runs: this.#runs,
        schemas: this.#schemas,
        settings: this.settings,
        request,
      });
    } catch (fault) {
      if (!(fault instanceof ProtocolFault)) throw maskedError(fault, mask);
      throw new ProtocolFault(fault.code, mask.text(fault.message), fault.data);
    }
  }

  async readResource(uri: string, context: RequestContext) {
    const request = this.#identified(context);
    const result = await this.#resultAt(uri, request);
    if (result !== undefined) return { contents: [result] };
    const name = this.toolset.resourceAt(uri);
    const missing = lackingScopes(this.#workflowResources.scopesOf(uri), request);
    const described =
      name === undefined && missing.length === 0 ? await this.#workflowResources.read(uri) : undefined;
    if (described !== undefined) return { contents: [described] };
    if (name === undefined) {
      throw new ProtocolFault(faultCodes.resourceNotFound, serverTexts.unknownResource(uri), { uri });
    }
    const { toolTimeoutMs } = this.settings;
    const read = await limited(toolTimeoutMs, request.signal, (signal) =>
      this.toolset.readResource(name, uri, { ...request, signal }),
    );
    if (read.kind === 'done' && read.value.ok) {
      const { value, contents = [value] } = read.value;
      return { contents: contents as readonly (JsonObject & ResourceContents)[] };
    }
    const failure = read.kind === 'done' && !read.value.ok ? read.value.failure : undefined;
    const message = serverTexts.unreadableResource(
      uri,
      failure?.message ?? serverTexts.noAnswer(toolTimeoutMs),
    );
    throw failure?.code === 'E_RESOURCE_URI'
      ? new ProtocolFault(faultCodes.invalidParams, message, { uri, code: failure.code })
      : new ProtocolFault(faultCodes.internal, message, { uri });
  }

  /** The result of a run of the caller. A run of others has no address, as one that does not exist. */
  async #resultAt(uri: string, { principal }: IdentifiedRequest): Promise<ResourceContents | undefined> {
    const run = runOfResult(uri);
    const answer = run === undefined ? undefined : await this.#runs.get(principal, run);
    return answer?.ok === true ? resultContents(answer.envelope) : undefined;
  }

  hasResource(uri: string): boolean {
    return (
      runOfResult(uri) !== undefined ||
      this.toolset.resourceAt(uri) !== undefined ||
      this.#workflowResources.has(uri)
    );
  }

  resourceUpdated(uri: string): void {
    this.#changed({ kind: 'resource', uri });
  }

  listChanged(list: 'tools' | 'prompts' | 'resources'): void {
    this.#changed({ kind: 'list', list });
  }

  onChange(listener: (change: ServerChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #changed(change: ServerChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  async complete(
    of: CompletionSubject,
    asked: CompletionRequest,
    context: RequestContext,
  ): Promise<CompletionResult> {
    const request = this.#identified(context);
    const { toolTimeoutMs } = this.settings;
    if (of.kind === 'prompt')
      return completeArgument(this.#permittedPrompt(of.name, request), asked, request, toolTimeoutMs);
    const template =
      this.toolset.template(of.uriTemplate, request) ?? this.#workflowResources.template(of.uriTemplate);
    if (template === undefined) {
      throw new ProtocolFault(faultCodes.invalidParams, serverTexts.unknownTemplate(of.uriTemplate));
    }
    return completeVariable(template, asked, request, toolTimeoutMs);
  }

  ownerOf(caller: Caller): Owner {
    return ownerOf(caller, this.settings.ownerRule);
  }

  authenticates(): void {
    this.#hasAuthentication = true;
  }

  toolsInCall(): readonly string[] {
    return this.toolset.toolsInCall();
  }

  get isDraining(): boolean {
    return this.#gate.isDraining;
  }

  admit<T>(
    request: RequestContext,
    work: (request: RequestContext) => Promise<T>,
    abort?: Abort,
  ): Promise<T> {
    return this.#gate.admit(request, work, abort);
  }

  async start(): Promise<void> {
    await this.#runs.open?.();
    await this.#lifecycle.start();
    await this.#compareUpstream();
    await this.#runs.resumeAll?.();
  }

  /** Once: servers are listed again when this one starts again. */
  async #compareUpstream(): Promise<void> {
    const { upstream, log } = this.settings;
    if (upstream === undefined || this.#isCompared) return;
    this.#isCompared = true;
    const { findDrift } = await import('./upstream-drift.js');
    const graphs = [...this.#workflows.values()].map(({ graph }) => graph);
    this.#unavailable = await findDrift({ registry: this.registry, graphs, upstream, log });
  }

  async drain(): Promise<void> {
    await this.#gate.drain(this.settings.drainTimeoutMs, this.#runs, this.settings.log);
    await this.stop();
  }

  async stop(): Promise<void> {
    await this.#lifecycle.stop(this.settings.drainTimeoutMs);
    await this.#runs.close?.();
    await this.settings.upstream?.close();
  }

  endRuns(reason: string): void {
    this.#runs.endAll(reason);
  }

  /** A request with its caller. One whose caller cannot be distinguished from others is refused before anything is done. */
  #identified(request: RequestContext): IdentifiedRequest {
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

  #served(name: string): ServedWorkflow {
    const workflow = this.#workflows.get(name);
    if (workflow === undefined) throw new Error(`workflow ${name} is offered and not served`);
    return workflow;
  }

  /** A prompt whose scopes the caller has. */
  #permittedPrompt(name: string, request: IdentifiedRequest): ServedPrompt {
    const prompt = this.#prompt(name);
    const missing = lackingScopes(prompt.scopes, request);
    if (missing.length === 0) return prompt;
    const { code, message } = scopeFailure(missing);
    throw new ProtocolFault(faultCodes.refused, message, { code, missing });
  }

  #prompt(name: string): ServedPrompt {
    const prompt = this.#prompts.get(name);
    if (prompt !== undefined) return prompt;
    throw new ProtocolFault(
      faultCodes.invalidParams,
      serverTexts.unknownPrompt(name, nearestName(name, this.#prompts.keys())),
    );
  }
}
