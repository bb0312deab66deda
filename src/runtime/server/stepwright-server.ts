import type { ArgsOf } from '../../decorators/arg.js';
import type { Owner } from '../../decorators/context.js';
import type { Icon } from '../../decorators/decorate.js';
import type { ResultOf } from '../../decorators/verbs.js';
import type { JsonObject, JsonSchema } from '../../graph/json.js';
import type { TaskSupport } from '../../graph/model.js';
import type { RequestContext } from '../runs/request.js';
import type { Envelope, RunAnswer } from '../runs/run/envelope.js';
import type { Caller } from '../runs/run/owner.js';
import type { AnyClass, Registry, TypesOfGraph } from '../tools/registry.js';
import type { Telemetry } from '../tools/telemetry.js';
import type { PromptTrace } from '../trace/messages.js';
import type { RUN_TOOLS } from './composite/run-tools.js';
import type { QuestionLinks } from './question-links.js';
import type { QuestionRounds } from './question-rounds.js';
import type { TaskRouter } from './tasks/task-router.js';
import type {
  CacheHint,
  CacheSubject,
  CachingCaller,
  CompletionResult,
  PromptListing,
  PromptResult,
  ResourceContents,
  ResourceListing,
  ResourceTemplateListing,
  ToolListing,
  ToolResult,
} from './wire.js';

/** What a server says about itself when a client connects. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  /** A name for people. */
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}

/**
 * What a server offers, free of any protocol library: an adapter carries its answers to clients. It holds no state of
 * a client, so that any number of connections may share it.
 *
 * Every method throws {@link ProtocolFault} for a request that names what is not there or is malformed; nothing a
 * tool or workflow does is a protocol fault.
 */
export interface StepwrightServer {
  readonly info: ServerInfo;
  /** What a client should know about the server as a whole. */
  readonly instructions?: string | undefined;
  /** Reports requests: adapters do the work of each by it. */
  readonly telemetry?: Telemetry | undefined;
  /**
   * `cursor` comes from the page before.
   * @param caller who asks: tools whose scopes it lacks are left out. Default: the user of this process, who has all.
   */
  listTools(
    cursor?: string,
    caller?: ScopedCaller & Pick<RequestContext, 'peer'>,
  ): { readonly tools: readonly ToolListing[]; readonly nextCursor?: string };
  /**
   * Calls a tool: one of the registry, that of a workflow, or one that looks after runs. A failure, a refused input
   * among them, is a result with `isError`.
   */
  callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    request: RequestContext,
  ): Promise<ToolResult>;
  /** Starts a run of a workflow, also of one that clients are not offered. Resolves when it is stored. @internal */
  startRun(workflow: string, args: JsonObject, request: RequestContext): Promise<RunAnswer>;
  /** How a tool may be called as a task. Undefined for a tool that the server does not have. */
  taskSupportOf(tool: string): TaskSupport | undefined;
  /** The input schema of a tool of the registry, for adapters that check more than the input by it. @internal */
  inputSchemaOf(tool: string): JsonSchema | undefined;
  /** Questions of its runs, for adapters of protocols in which a request does not wait for its user. @internal */
  questions(): Promise<QuestionRounds>;
  /** Its runs as tasks. */
  readonly tasks: TaskRouter;
  /** As {@link listTools}. */
  listPrompts(
    cursor?: string,
    caller?: ScopedCaller,
  ): { readonly prompts: readonly PromptListing[]; readonly nextCursor?: string };
  /**
   * Runs a workflow and gives the conversation that shows the run; a failed run is shown as well. Of a prompt in loose
   * mode it gives the messages; one that fails is a fault.
   */
  getPrompt(
    name: string,
    given: Readonly<Record<string, unknown>>,
    request: RequestContext,
  ): Promise<PromptTrace | PromptResult>;
  /**
   * The scopes that a caller lacks for a tool or a prompt: none where it may call it, or where there is none of this
   * name. Adapters ask before they call, to refuse a request in the way of their protocol.
   */
  lackingScopes(kind: 'tool' | 'prompt', name: string, caller: ScopedCaller): readonly string[];
  /** How long a client may keep lists, or the content of a resource. @internal */
  cacheHint(subject: CacheSubject, caller: CachingCaller): CacheHint;
  listResources(cursor?: string): {
    readonly resources: readonly ResourceListing[];
    readonly nextCursor?: string;
  };
  readResource(
    uri: string,
    request: RequestContext,
  ): Promise<{ readonly contents: readonly ResourceContents[] }>;
  /**
   * This server as clients see it who choose a profile, or bring workflows and hints. It shares runs and tools with this
   * one; `start`, `drain` and `stop` of both are the same. Its lists follow those of this server.
   *
   * @throws SpecError for a profile that is not there, for hints that are malformed, and for addresses that are not allowed,
   *   cannot be read, or have workflows that cannot be used.
   */
  view(selection: ViewSelection): Promise<StepwrightServer>;
  /** Whether a resource, or a template, has this address. */
  hasResource(uri: string): boolean;
  /** Tells the clients that have subscribed to a resource that it has changed. */
  resourceUpdated(uri: string): void;
  /** Tells the clients that a list has changed for them: they ask for it again. */
  listChanged(list: 'tools' | 'prompts' | 'resources'): void;
  /**
   * Receives every change. Adapters pass it on to their clients.
   * @returns what ends that.
   */
  onChange(listener: (change: ServerChange) => void): () => void;
  listResourceTemplates(cursor?: string): {
    readonly resourceTemplates: readonly ResourceTemplateListing[];
    readonly nextCursor?: string;
  };
  /** Suggests values of an argument of a prompt, or of a variable of a resource template. */
  complete(
    of: CompletionSubject,
    asked: CompletionRequest,
    request: RequestContext,
  ): Promise<CompletionResult>;
  /**
   * Says whose a request is, by the rule of this server; see `ownerOf`.
   *
   * @throws UnidentifiedCallerError for a caller that cannot be distinguished from others.
   */
  ownerOf(caller: Caller): Owner;
  /**
   * An adapter that authenticates its callers says so before it takes requests: they may have roles, so that workflows
   * with `answerBy: role(…)` may be started.
   */
  authenticates(): void;
  /** Pages on which people answer questions, for adapters over HTTP. Undefined without the option `questions`. @internal */
  readonly questionLinks?: QuestionLinks | undefined;
  /** The names of the tools that are being called, each once: an adapter names them when one of them harms the process. */
  toolsInCall(): readonly string[];
  /** False until {@link drain} is called. */
  readonly isDraining: boolean;
  /** Whether new clients are served, as of now. */
  readonly readiness: Readiness;
  /**
   * Does the work of one request of a client, unless the server is being drained. Adapters call it around the methods
   * above, so that a drain knows which requests are in flight; `work` gets the request with a signal that the drain
   * aborts, too.
   *
   * @param abort aborts the signal of the request, where the adapter can. Default: `work` gets a signal of its own.
   * @param isWaiting whether the request only waits for a run, as `tasks/result` does: a drain aborts it as soon as no run
   *   continues by itself. Default: false.
   * @throws {ProtocolFault} -32004 when the server is being drained.
   */
  admit<T>(
    request: RequestContext,
    work: (request: RequestContext) => Promise<T>,
    abort?: (reason: unknown) => void,
    isWaiting?: boolean,
  ): Promise<T>;
  /**
   * Calls `onStart` and reads spec files, once, and resolves when that is done. `connect`, `attach` and the functions that serve a registry
   * call it; a program that calls the methods above itself does so first. A start that failed is tried again by the next
   * call.
   *
   * @throws ServerStartError when `onStart` throws; SpecError and RegistrationError when spec files cannot be used; RangeError
   *   when `specs` or `profiles` are malformed.
   */
  start(): Promise<void>;
  /** Resolves when the server executes runs. Rejects with what keeps it from that after its start. @internal */
  executing(): Promise<void>;
  /**
   * Ends the service in order, over all connections. Further requests are refused. Requests and runs in flight may
   * finish within `drainTimeoutMs`; then they are cancelled, and each request is answered with what is left to do. A run
   * that waits for an answer for which no client is asked does not delay it. Then `onStop` is called. Resolves
   * when it has settled, within `drainTimeoutMs`; never rejects. Afterwards connections can be closed. See
   * `drainOnSignals`.
   */
  drain(): Promise<void>;
  /** Calls `onStop`, unless a drain has done so. For a server whose clients have left; never rejects. */
  stop(): Promise<void>;
  /**
   * The process ends at once: cancels every run that is not over, since runs are kept in memory.
   * @param reason why, in one sentence; it is in the error of each run.
   */
  endRuns(reason: string): void;
}

/** Who asks, as far as its scopes are concerned. */
export type ScopedCaller = Pick<RequestContext, 'auth' | 'local'>;

/** What changed while a server runs. */
export type ServerChange =
  | { readonly kind: 'resource'; readonly uri: string }
  | { readonly kind: 'list'; readonly list: 'tools' | 'prompts' | 'resources' };

/** Any text, beside known names that an editor suggests. */
type PlainText = string & {};

/**
 * A server whose `callTool` and `getPrompt` know the names, arguments and results of its registry. A name that is known
 * at run time only, a `string`, may be any; it goes wherever a {@link StepwrightServer} does.
 *
 * @typeParam Names further names: any text where a program registers workflows or prompts beside the registry.
 * @typeParam Prefix what the names of workflows' tools begin with.
 */
export interface ServerOf<R extends Registry, Names extends string = never, Prefix extends string = 'w_'>
  extends Omit<StepwrightServer, 'callTool' | 'getPrompt'> {
  /** See {@link StepwrightServer.callTool}. */
  callTool<N extends ToolNameOf<R, Prefix> | Names | PlainText>(
    name: N & NameFault<N, ToolNameOf<R, Prefix> | Names>,
    input: ToolInput<R, N, Prefix>,
    request: RequestContext,
  ): Promise<ToolResult<ToolOutput<R, N, Prefix>>>;
  /** See {@link StepwrightServer.getPrompt}. */
  getPrompt<N extends PromptNameOf<R> | Names | PlainText>(
    name: N & NameFault<N, PromptNameOf<R> | Names>,
    given: PromptInput<R, N>,
    request: RequestContext,
  ): Promise<PromptTrace | PromptResult>;
}

/** What somebody is filling in. */
export type CompletionSubject =
  | { readonly kind: 'prompt'; readonly name: string }
  | { readonly kind: 'template'; readonly uriTemplate: string };

/** An entry as far as its type says what a caller gives and gets. */
interface Entry {
  readonly class: AnyClass;
}

type InstanceOf<E> = E extends { readonly class: abstract new (...deps: never[]) => infer I } ? I : never;

/** The entries of a registry that may have none of this kind. */
type PromptsOf<R extends Registry> = R extends { readonly prompts: infer P } ? P : Record<never, never>;

/** The name callers know a field by: that of `fields` in its entry, else its own. */
type ArgumentName<Field, Fields> = Field extends Fields[keyof Fields]
  ? { [Name in keyof Fields]: Fields[Name] extends Field ? Name : never }[keyof Fields]
  : Field;

/** The types of a workflow without a class; `never` for one with a class. */
type TypesOf<E> = E extends { readonly class: unknown }
  ? never
  : E extends { readonly graph: infer G }
    ? TypesOfGraph<G>
    : never;

/** The arguments of a workflow or a prompt, by the names that callers know. */
type ArgumentsOf<E> = [TypesOf<E>] extends [never]
  ? E extends { readonly fields: infer Fields }
    ? { [Field in keyof ArgsOf<InstanceOf<E>> as ArgumentName<Field, Fields>]: ArgsOf<InstanceOf<E>>[Field] }
    : ArgsOf<InstanceOf<E>>
  : TypesOf<E>['args'];

type ResultOfEntry<E> = [TypesOf<E>] extends [never] ? ResultOf<InstanceOf<E>> : TypesOf<E>['result'];

/** What a caller of a workflow of this registry supplies, by the names that callers know. */
export type WorkflowArguments<R extends Registry, N extends keyof R['workflows']> = ArgumentsOf<
  R['workflows'][N]
>;

/** What a workflow of this registry hands back. */
export type WorkflowResultOf<R extends Registry, N extends keyof R['workflows']> = ResultOfEntry<
  R['workflows'][N]
>;

/** What is sent for arguments of a prompt: the protocol knows text alone. */
type AsText<Args> = { readonly [Name in keyof Args]: string };

/** The names of the workflows that are offered this way; what says nothing is both. */
type Exposed<Workflows, As extends 'prompt' | 'tool'> = {
  [N in keyof Workflows]: Workflows[N] extends {
    readonly graph: { readonly expose: readonly (infer Way)[] };
  }
    ? As extends Way
      ? N
      : never
    : N;
}[keyof Workflows] &
  string;

/** What `prompts/get` knows: workflows, and prompts in loose mode. Any text, where the registry's type names none. */
type PromptNameOf<R extends Registry> = string extends keyof R['workflows']
  ? string
  : Exposed<R['workflows'], 'prompt'> | (keyof PromptsOf<R> & string);

/** The tools that clients may call. */
type ClientTools<Tools> = {
  [N in keyof Tools]: Tools[N] extends { readonly visibility: 'workflow' } ? never : N;
}[keyof Tools] &
  string;

/** What `tools/call` knows: tools, the tools of workflows, those that look after runs, and the one that plans. */
type ToolNameOf<R extends Registry, Prefix extends string> = string extends keyof R['tools']
  ? string
  :
      | ClientTools<R['tools']>
      | `${Prefix}${Exposed<R['workflows'], 'tool'>}`
      | (typeof RUN_TOOLS)[number]
      | '_plan'
      | 'validate_workflow';

/** Arguments that nothing is known of. */
type AnyInput = Readonly<Record<string, unknown>>;

/** Names that are known at run time only. */
type Untyped<R extends Registry, N> = string extends keyof R['tools']
  ? true
  : string extends N
    ? true
    : false;

/** The arguments of the prompt of this name. */
type PromptInput<R extends Registry, N extends string> =
  Untyped<R, N> extends true
    ? AnyInput
    : N extends keyof R['workflows']
      ? AsText<ArgumentsOf<R['workflows'][N]>>
      : N extends keyof PromptsOf<R>
        ? AsText<ArgumentsOf<PromptsOf<R>[N]>>
        : AnyInput;

/** For each entry by itself: the inputs of a union of tools are a union, not what all of them accept. */
type Executed<E> = E extends unknown
  ? InstanceOf<E> extends { execute: (...args: infer Args) => infer Output }
    ? {
        readonly input: Args extends readonly [infer Input, ...unknown[]] ? Input : AnyInput;
        readonly output: Awaited<Output>;
      }
    : { readonly input: AnyInput; readonly output: unknown }
  : never;

/** The input of the tool of this name. */
type ToolInput<R extends Registry, N extends string, Prefix extends string> =
  Untyped<R, N> extends true
    ? AnyInput
    : N extends keyof R['tools']
      ? Executed<R['tools'][N] & Entry>['input']
      : N extends `${Prefix}${infer W extends keyof R['workflows'] & string}`
        ? WorkflowArguments<R, W>
        : AnyInput;

/** An object as it is; anything else under `result`. */
type Wrapped<Result> = [Result] extends [readonly unknown[]]
  ? { readonly result: Result }
  : [Result] extends [object]
    ? Result
    : { readonly result: Result };

/**
 * The structured content of the tool of this name where its call succeeds; a run that is not over gives an envelope.
 */
type ToolOutput<R extends Registry, N extends string, Prefix extends string> =
  Untyped<R, N> extends true
    ? JsonObject
    : N extends keyof R['tools']
      ? Extract<Executed<R['tools'][N] & Entry>['output'], object>
      : N extends `${Prefix}${infer W extends keyof R['workflows'] & string}`
        ? Wrapped<ResultOfEntry<R['workflows'][W]>> | Envelope
        : JsonObject;

/** Why a name cannot be asked for, or `unknown`. Text that is known at run time only may be any name. */
type NameFault<N extends string, Known extends string> = string extends N
  ? unknown
  : [N] extends [Known]
    ? unknown
    : ['the registry has none of this name, but', Known];

/** Whether a server serves new clients, and why not. `store_replaced`: it accepts no run and no answer until it starts again. */
export interface Readiness {
  readonly status: 'ready' | 'draining' | 'store_replaced';
  readonly reason?: string;
}

/** What clients of a view get beside the lists of the server. */
export interface ViewSelection {
  /** The name of a profile. Default: what all clients get. */
  readonly profile?: string;
  /** Hints by tool, not checked yet. */
  readonly hints?: unknown;
  /** The address of a file whose workflows are offered. */
  readonly workflowUrl?: string;
  /** The address of a file whose workflows are described as resources. */
  readonly resourcesUrl?: string;
  /** Equal for requests of one caller: addresses are read two at a time for each. Default: all are of one caller. */
  readonly caller?: string;
}

/** An argument that a user of a client is filling in. */
export interface CompletionRequest {
  readonly argument: string;
  /** What has been typed so far. */
  readonly value: string;
  /** What is filled in already, by argument. */
  readonly given: Readonly<Record<string, string>>;
}
