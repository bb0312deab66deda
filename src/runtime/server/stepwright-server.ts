import type { Registry } from '../catalogue/registry.js';
import type { PromptTrace } from '../observers/trace/messages.js';
import type { CompletionRequest } from './completion.js';
import type {
  NameFault,
  PromptInput,
  PromptNameOf,
  ToolInput,
  ToolNameOf,
  ToolOutput,
} from './registry-types.js';
import type { RequestContext } from './request.js';
import type {
  CompletionResult,
  PromptListing,
  PromptResult,
  ResourceContents,
  ResourceListing,
  ResourceTemplateListing,
  ToolListing,
  ToolResult,
} from './wire.js';

/**
 * What a server offers, free of any protocol library: an adapter carries its answers to clients. It holds no state of
 * a client, so that any number of connections may share it.
 *
 * Every method throws {@link ProtocolFault} for a request that names what is not there or is malformed; nothing a
 * tool or workflow does is a protocol fault.
 */
export interface StepwrightServer {
  readonly info: { readonly name: string; readonly version: string };
  /** What a client should know about the server as a whole. */
  readonly instructions?: string;
  /** `cursor` comes from the page before. */
  listTools(cursor?: string): { readonly tools: readonly ToolListing[]; readonly nextCursor?: string };
  /**
   * Calls a tool: one of the registry, that of a workflow, or one that looks after runs. A failure, a refused input among
   * them, is a result with `isError`.
   */
  callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    request: RequestContext,
  ): Promise<ToolResult>;
  listPrompts(cursor?: string): { readonly prompts: readonly PromptListing[]; readonly nextCursor?: string };
  /**
   * Runs a workflow and gives the conversation that shows the run; a failed run is shown as well. Of a prompt in loose
   * mode it gives the messages; one that fails is a fault.
   */
  getPrompt(
    name: string,
    given: Readonly<Record<string, unknown>>,
    request: RequestContext,
  ): Promise<PromptTrace | PromptResult>;
  listResources(cursor?: string): {
    readonly resources: readonly ResourceListing[];
    readonly nextCursor?: string;
  };
  readResource(
    uri: string,
    request: RequestContext,
  ): Promise<{ readonly contents: readonly ResourceContents[] }>;
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
  /** False until {@link drain} is called. */
  readonly isDraining: boolean;
  /**
   * Does the work of one request of a client, unless the server is being drained. Adapters call it around the methods
   * above, so that a drain knows what is under way; `work` gets the request with a signal that the drain aborts, too.
   *
   * @param abort aborts the signal of the request, where the adapter can. Default: `work` gets a signal of its own.
   * @throws {ProtocolFault} -32004 when the server is being drained.
   */
  admit<T>(
    request: RequestContext,
    work: (request: RequestContext) => Promise<T>,
    abort?: (reason: unknown) => void,
  ): Promise<T>;
  /**
   * Ends the service in order, over all connections. Further requests are refused. What is under way may finish within
   * `drainTimeoutMs`; then it is cancelled, and each request is answered with what is left to do. A run that waits for an
   * answer nobody is asked for is not waited for. Resolves when all requests are answered; never rejects. Afterwards
   * connections can be closed. See `drainOnSignals`.
   */
  drain(): Promise<void>;
  /**
   * The process ends at once: cancels every run that is not over, since runs are kept in memory.
   * @param reason why, in one sentence; the runs tell it.
   */
  endRuns(reason: string): void;
}

/** Any text, beside known names that an editor suggests. */
type PlainText = string & {};

/**
 * A server whose `callTool` and `getPrompt` know the names, arguments and results of its registry. A name that is known at
 * run time only, a `string`, may be any; it goes wherever a {@link StepwrightServer} does.
 *
 * @typeParam Names further names: any text where a program registers workflows or prompts beside the registry.
 */
export interface ServerOf<R extends Registry, Names extends string = never>
  extends Omit<StepwrightServer, 'callTool' | 'getPrompt'> {
  /** See {@link StepwrightServer.callTool}. */
  callTool<N extends ToolNameOf<R> | Names | PlainText>(
    name: N & NameFault<N, ToolNameOf<R> | Names>,
    input: ToolInput<R, N>,
    request: RequestContext,
  ): Promise<ToolResult<ToolOutput<R, N>>>;
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
