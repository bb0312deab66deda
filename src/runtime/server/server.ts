import { type JsonObject, ownProperty } from '../../graph/json.js';
import { nearestName } from '../../graph/suggest.js';
import { type Catalogue, createCatalogue } from '../catalogue/catalogue.js';
import { SchemaCompiler } from '../catalogue/json-schema.js';
import type { Registry } from '../catalogue/registry.js';
import { verifyRegistry } from '../catalogue/verify-registry.js';
import type { PromptTrace } from '../observers/trace/messages.js';
import { faultCodes, ProtocolFault } from './fault.js';
import { limited } from './limit.js';
import { isPrompt, type Listings, listingsOf } from './listings.js';
import { type ResolvedSettings, resolveSettings, type ServerOptions } from './options.js';
import { pageOf } from './page.js';
import { readArguments } from './prompt-arguments.js';
import { runPrompt } from './prompt-run.js';
import type { RequestContext } from './request.js';
import { texts } from './texts.js';
import { failureResult, successResult } from './tool-result.js';
import type { PromptListing, ResourceContents, ResourceListing, ToolListing, ToolResult } from './wire.js';

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
  /** Calls a tool. A failure, a refused input among them, is a result with `isError`. */
  callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    request: RequestContext,
  ): Promise<ToolResult>;
  listPrompts(cursor?: string): { readonly prompts: readonly PromptListing[]; readonly nextCursor?: string };
  /** Runs a workflow and gives the conversation that shows the run; a failed run is shown as well. */
  getPrompt(
    name: string,
    given: Readonly<Record<string, unknown>>,
    request: RequestContext,
  ): Promise<PromptTrace>;
  listResources(cursor?: string): {
    readonly resources: readonly ResourceListing[];
    readonly nextCursor?: string;
  };
  readResource(
    uri: string,
    request: RequestContext,
  ): Promise<{ readonly contents: readonly ResourceContents[] }>;
  /** Always empty: every resource has one address. */
  listResourceTemplates(cursor?: string): { readonly resourceTemplates: readonly never[] };
}

/**
 * Makes a server of a generated registry.
 *
 * @throws StaleRegistryError when the registry does not match its classes any more; run `stepwright codegen`.
 * @throws FactoriesError when a class cannot be instantiated, or a factory is given for nothing.
 * @throws RangeError for a limit among the options that is no positive whole number.
 */
export function createServer<R extends Registry>(
  registry: R,
  ...[options]: ServerOptions<R>
): StepwrightServer {
  verifyRegistry(registry);
  // `createCatalogue` asks for the same factories; the conditional type of its rest parameter hides that from tsc.
  const catalogue = createCatalogue<Registry>(registry, options);
  return new RegistryServer(registry, catalogue, resolveSettings(options ?? {}));
}

class RegistryServer implements StepwrightServer {
  readonly info: StepwrightServer['info'];
  declare readonly instructions?: string;
  readonly #listings: Listings;
  readonly #schemas = new SchemaCompiler();
  readonly #resourceByUri: ReadonlyMap<string, string>;

  constructor(
    readonly registry: Registry,
    readonly catalogue: Catalogue,
    readonly settings: ResolvedSettings,
  ) {
    this.info = { name: settings.name, version: settings.version };
    if (settings.instructions !== undefined) this.instructions = settings.instructions;
    this.#listings = listingsOf(registry);
    this.#resourceByUri = new Map(this.#listings.resources.map(({ uri, name }) => [uri, name]));
  }

  listTools(cursor?: string) {
    const { items, ...next } = pageOf('tools', this.#listings.tools, cursor, this.settings.pageSize);
    return { tools: items, ...next };
  }

  listPrompts(cursor?: string) {
    const { items, ...next } = pageOf('prompts', this.#listings.prompts, cursor, this.settings.pageSize);
    return { prompts: items, ...next };
  }

  listResources(cursor?: string) {
    const { items, ...next } = pageOf('resources', this.#listings.resources, cursor, this.settings.pageSize);
    return { resources: items, ...next };
  }

  listResourceTemplates(cursor?: string) {
    const { items } = pageOf<never>('templates', [], cursor, this.settings.pageSize);
    return { resourceTemplates: items };
  }

  async callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    request: RequestContext,
  ): Promise<ToolResult> {
    if (!Object.hasOwn(this.registry.tools, name)) {
      const near = nearestName(name, Object.keys(this.registry.tools));
      throw new ProtocolFault(faultCodes.invalidParams, texts.unknownTool(name, near));
    }
    const { toolTimeoutMs } = this.settings;
    const call = await limited(toolTimeoutMs, request.signal, (signal) =>
      this.catalogue.callTool(name, input as JsonObject, { ...request, signal }),
    );
    switch (call.kind) {
      case 'done':
        return call.value.ok
          ? successResult(call.value.value, call.value.callResult)
          : failureResult(call.value.failure, call.value.callResult);
      case 'timedOut': {
        const message = texts.toolTimedOut(name, toolTimeoutMs);
        return failureResult({ code: 'E_TIMEOUT', message, outcomeUnknown: true });
      }
      case 'cancelled':
        return failureResult({
          code: 'E_CANCELLED',
          message: texts.toolCancelled(name),
          outcomeUnknown: true,
        });
      default:
        return call satisfies never;
    }
  }

  async getPrompt(
    name: string,
    given: Readonly<Record<string, unknown>>,
    request: RequestContext,
  ): Promise<PromptTrace> {
    const entry = ownProperty(this.registry.workflows, name);
    if (entry === undefined || !isPrompt(entry.graph)) {
      const near = nearestName(
        name,
        this.#listings.prompts.map((prompt) => prompt.name),
      );
      throw new ProtocolFault(faultCodes.invalidParams, texts.unknownPrompt(name, near));
    }
    const read = readArguments(entry.graph.inputs, given, this.#schemas);
    if (!read.ok) {
      const problems = read.problems.map(({ argument, message }) => ({ argument, message }));
      const message = texts.badArguments(problems.map((problem) => problem.message));
      throw new ProtocolFault(faultCodes.invalidParams, message, { problems });
    }
    return runPrompt({
      workflow: entry,
      input: read.input,
      given: Object.entries(given).filter(
        (argument): argument is [string, string] => typeof argument[1] === 'string',
      ),
      catalogue: this.catalogue,
      settings: this.settings,
      request,
    });
  }

  async readResource(uri: string, request: RequestContext) {
    const name = this.#resourceByUri.get(uri);
    if (name === undefined) {
      throw new ProtocolFault(faultCodes.resourceNotFound, texts.unknownResource(uri), { uri });
    }
    const { toolTimeoutMs } = this.settings;
    const read = await limited(toolTimeoutMs, request.signal, (signal) =>
      this.catalogue.readResource(name, uri, { ...request, signal }),
    );
    if (read.kind === 'done' && read.value.ok) {
      return { contents: [read.value.value as JsonObject & ResourceContents] };
    }
    const why =
      read.kind === 'done' && !read.value.ok ? read.value.failure.message : texts.noAnswer(toolTimeoutMs);
    throw new ProtocolFault(faultCodes.internal, texts.unreadableResource(uri, why), { uri });
  }
}
