import { isDeepStrictEqual } from 'node:util';
import { type CheckEnvironment, environmentOf } from '../../../check/environment.js';
import type { SimplePrompt } from '../../../decorators/prompt.js';
import type { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import type { JsonObject } from '../../../graph/json.js';
import { type Domain, type Graph, mergedDomains } from '../../../graph/model.js';
import { nearestName, withSuggestion } from '../../../graph/names.js';
import { nodesOf } from '../../../graph/nodes.js';
import { clip } from '../../../graph/printable-text.js';
import { HINTS_META } from '../../../infer/tool.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import { lackingScopes, scopeFailure } from '../../runs/run/owner.js';
import type { RunStore } from '../../runs/run-store.js';
import { thrownText } from '../../tools/exceptions.js';
import { clientToolNames, type Registry } from '../../tools/registry.js';
import { type RunTool, runTools } from '../composite/run-tools.js';
import {
  type Registered,
  type ServedMemo,
  type ServedWorkflow,
  servedWorkflows,
} from '../composite/served-workflows.js';
import { WorkflowTools } from '../composite/workflow-tools.js';
import type { ResolvedSettings } from '../options.js';
import {
  type BuiltWorkflow,
  RegistrationError,
  registrationFaults,
  TaskStoreError,
} from '../registrations.js';
import type { ScopedCaller, ServerChange } from '../stepwright-server.js';
import { faultCodes, ProtocolFault, type ToolListing } from '../wire.js';
import {
  type Listings,
  listedTexts,
  listingsOf,
  type ServedPrompt,
  servedPrompts,
  shownTool,
  withoutOutputSchema,
  withUses,
} from './listings.js';
import { PLAN_TOOL, VALIDATE_TOOL } from './planning-tools.js';
import { type RegistrationMemo, register } from './registration.js';
import type { UpstreamDrift } from './upstream-drift.js';
import { WorkflowResources } from './workflow-resources.js';

/** What one source of workflows and hints adds to a catalogue: the program, a profile, or the headers of a client. */
export interface Layer {
  readonly workflows: readonly BuiltWorkflow[];
  readonly prompts?: readonly SimplePrompt[];
  /** What it says about domains, beside the layers below. */
  readonly domains?: readonly Domain[];
  /** Hints by tool. They win over those of layers below, a member at a time. */
  readonly hints?: Readonly<Record<string, JsonObject>>;
  /** The tools of the registry that clients get. Default: all that the layers below show. */
  readonly shownTools?: readonly string[];
  /** The workflows of this layer and those below that clients get. An empty list: none at all. Default: all. */
  readonly shownWorkflows?: readonly string[];
}

export interface CatalogueParts {
  /** With the functions of built workflows. */
  readonly registry: Registry;
  readonly settings: ResolvedSettings;
  readonly schemas: SchemaCompiler;
  readonly runs: RunStore;
  /** What the catalogues that follow each other have in common. */
  readonly registrationMemo: RegistrationMemo;
  readonly servedMemo: ServedMemo;
}

/**
 * What clients can list and call. It never changes: a change of its sources makes another one, and requests and runs
 * that began with this one go on with it.
 */
export class Catalogue {
  /** What a client should know about the server as a whole. */
  readonly instructions: string | undefined;
  readonly listings: Listings;
  /** Names of the tools of the registry that clients may call. */
  readonly clientTools: ReadonlySet<string>;
  readonly prompts: ReadonlyMap<string, ServedPrompt>;
  /** Those that are offered, by name. */
  readonly workflows: ReadonlyMap<string, ServedWorkflow>;
  readonly workflowTools: WorkflowTools;
  readonly workflowResources: WorkflowResources;
  /** Whether there is a tool that plans. */
  readonly canPlan: boolean;
  /** What is not wrong, but looks like a mistake; one sentence each. */
  readonly warnings: readonly string[];
  readonly #registry: Registry;
  readonly #describesHints: boolean;
  readonly #tools: () => readonly ToolListing[];
  /** The tools as a caller sees them who lacks no scope. */
  readonly #allTools: () => readonly ToolListing[];
  readonly #hasToolScopes: boolean;
  /** Whether its lists depend on the scopes of their caller. */
  readonly hasScopes: boolean;

  /**
   * @param earlierRunTools tools that look after runs of workflows that the catalogue has no longer.
   * @param registration the workflows of the layers, where they were registered already.
   * @throws RegistrationError when the workflows do not go together, or not with the registry.
   */
  constructor(
    parts: CatalogueParts,
    layers: readonly Layer[],
    earlierRunTools: readonly RunTool[] = [],
    registration?: Registered,
  ) {
    const { settings, schemas, runs } = parts;
    const workflows = layers.flatMap((layer) => layer.workflows);
    const prompts = layers.flatMap((layer) => layer.prompts ?? []);
    const registered =
      registration ?? register(parts.registry, { workflows, prompts }, schemas, parts.registrationMemo);
    this.warnings = registered.warnings;
    const {
      workflowPrefix,
      describe,
      debug,
      log,
      pageSize,
      maxResultChars,
      toolAnswerMs: answerMs,
    } = settings;
    const served = servedWorkflows(parts.registry, registered.workflows, workflowPrefix, parts.servedMemo);
    const problems = [...served.problems, ...(settings.keepsRuns ? [] : tasksWithoutStore(served.workflows))];
    if (problems.length > 0) throw new RegistrationError(problems);
    const isShown = shownWorkflows(layers);
    const registry = shownRegistry(parts.registry, layers, isShown);
    this.#registry = registry;
    this.clientTools = new Set(clientToolNames(registry));
    this.workflows = new Map([...served.workflows].filter(([name]) => isShown(name)));
    const built = registered.workflows.filter(({ graph }) => isShown(graph.name));
    this.canPlan = settings.planTool && !isOff(layers);
    this.workflowTools = new WorkflowTools({
      workflows: this.workflows,
      runs,
      schemas,
      answerMs,
      pageSize,
      maxResultChars,
      describe,
      debug,
      log,
      earlierRunTools: isOff(layers) ? [] : earlierRunTools,
    });
    const offered = servedPrompts(registry, built, prompts);
    this.prompts = new Map(offered.map((prompt) => [prompt.name, prompt]));
    this.listings = listingsOf(registry, offered);
    this.#describesHints = settings.hints;
    const graphs = settings.hints
      ? [...Object.values(registry.workflows), ...built].map(({ graph }) => graph)
      : [];
    const hinted = once(() => withUses(this.listings.tools, graphs));
    this.#tools = once(() => {
      const tools = [
        ...hinted(),
        ...listedTexts(this.workflowTools.listings),
        ...(this.canPlan ? [PLAN_TOOL] : []),
        ...(settings.validateTool ? [VALIDATE_TOOL] : []),
      ];
      return settings.outputSchemas ? tools : tools.map(withoutOutputSchema);
    });
    this.#allTools = once(() => this.#tools().map((tool) => shownTool(tool, () => true, settings.hints)));
    const said = layers.flatMap((layer) => layer.domains ?? []);
    const domains = mergedDomains([...(registry.domains ?? []), ...settings.domains, ...said]);
    this.workflowResources = new WorkflowResources(this.workflows.values(), hinted, { registry, domains });
    this.instructions = this.#instructions(settings, graphs);
    const names = [...this.clientTools, ...this.workflowTools.names];
    this.#hasToolScopes = names.some((name) => (this.#toolScopes(name)?.length ?? 0) > 0);
    this.hasScopes = this.#hasToolScopes || offered.some(({ scopes = [] }) => scopes.length > 0);
  }

  #instructions(
    { hints, instructions: own, workflowPrefix: prefix }: ResolvedSettings,
    graphs: readonly Graph[],
  ): string | undefined {
    if (!hints) return own;
    return instructionsFor({
      own,
      workflowTools: this.workflowTools.listings,
      tools: this.listings.tools,
      hasSequences: graphs.some(callsSeveralTools),
      prefix,
      canPlan: this.canPlan,
    });
  }

  /** The tools as a caller sees them. */
  shownTools(caller: ScopedCaller): readonly ToolListing[] {
    if (!this.#hasToolScopes) return this.#allTools();
    const isShown = (name: string): boolean => this.lackingScopes('tool', name, caller).length === 0;
    return this.#tools()
      .filter(({ name }) => isShown(name))
      .map((tool) => shownTool(tool, isShown, this.#describesHints));
  }

  /** The tools and workflows that files of clients may use. */
  get clientEnvironment(): CheckEnvironment {
    const tools = Object.entries(this.#registry.tools).filter(([name]) => this.clientTools.has(name));
    const graphs = [...this.workflows.values()].flatMap(({ graph, isExposed }) => (isExposed ? [graph] : []));
    return environmentOf({ ...this.#registry, tools: Object.fromEntries(tools) }, graphs);
  }

  lackingScopes(kind: 'tool' | 'prompt', name: string, caller: ScopedCaller): readonly string[] {
    if (kind === 'prompt') return lackingScopes(this.prompts.get(name)?.scopes, caller);
    return lackingScopes(this.#toolScopes(name), caller);
  }

  /** What a client needs to call a tool. */
  #toolScopes(name: string): readonly string[] | undefined {
    const tool = this.clientTools.has(name) ? this.#registry.tools[name] : undefined;
    return tool?.scopes ?? this.workflowTools.scopesOf(name);
  }
}

/** A prompt whose scopes the caller has. */
export function permittedPrompt(
  { prompts }: Catalogue,
  name: string,
  request: IdentifiedRequest,
): ServedPrompt {
  const prompt = prompts.get(name);
  if (prompt === undefined) {
    const near = nearestName(name, prompts.keys());
    throw new ProtocolFault(faultCodes.invalidParams, withSuggestion(`Unknown prompt '${clip(name)}'`, near));
  }
  const missing = lackingScopes(prompt.scopes, request);
  if (missing.length === 0) return prompt;
  const { code, message } = scopeFailure(missing);
  throw new ProtocolFault(faultCodes.refused, message, { code, missing });
}

function tasksWithoutStore(workflows: ReadonlyMap<string, ServedWorkflow>): TaskStoreError[] {
  return [...workflows].flatMap(([name, { graph }]) =>
    graph.task === true ? [new TaskStoreError(name)] : [],
  );
}

/** Whether a layer switches workflows off as a whole. */
export function isOff(layers: readonly Layer[]): boolean {
  return layers.some(({ shownWorkflows: shown }) => shown?.length === 0);
}

/** What says of a workflow whether clients get it. The lists of layers below its own do not concern it. */
function shownWorkflows(layers: readonly Layer[]): (name: string) => boolean {
  if (isOff(layers)) return () => false;
  if (layers.every((layer) => layer.shownWorkflows === undefined)) return () => true;
  const own = new Map(
    layers.flatMap(({ workflows }, index) => workflows.map(({ graph }) => [graph.name, index] as const)),
  );
  return (name) =>
    layers
      .slice(own.get(name) ?? 0)
      .every(({ shownWorkflows: shown }) => shown === undefined || shown.includes(name));
}

/** A registry as the lists of clients have it. */
function shownRegistry(
  registry: Registry,
  layers: readonly Layer[],
  isShown: (workflow: string) => boolean,
): Registry {
  const lists = layers.flatMap(({ shownTools: shown }) => (shown === undefined ? [] : [new Set(shown)]));
  const hints = layers.flatMap((layer) => layer.hints ?? []);
  const tools = Object.entries(registry.tools).map(([name, entry]) => {
    const own = hints.flatMap((each) => (Object.hasOwn(each, name) ? [each[name]] : []));
    const isHidden = !lists.every((list) => list.has(name));
    if (own.length === 0 && !isHidden) return [name, entry] as const;
    const hinted = own.length === 0 ? {} : { hints: Object.assign({}, entry.hints, ...own) };
    return [name, { ...entry, ...hinted, ...(isHidden ? { visibility: 'workflow' as const } : {}) }] as const;
  });
  const workflows = Object.entries(registry.workflows).filter(([, { graph }]) => isShown(graph.name));
  return { ...registry, tools: Object.fromEntries(tools), workflows: Object.fromEntries(workflows) };
}

/** The value of a function that is called at most once. */
function once<T>(make: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => {
    result ??= { value: make() };
    return result.value;
  };
}

interface InstructionParts {
  /** The author's own. */
  readonly own: string | undefined;
  /** The tools of workflows, and those that look after their runs. */
  readonly workflowTools: readonly ToolListing[];
  readonly tools: readonly ToolListing[];
  /** Whether hints follow from the workflows. */
  readonly hasSequences: boolean;
  /** What the names of workflows' tools begin with. */
  readonly prefix: string;
  /** Whether the server has a tool that plans. */
  readonly canPlan: boolean;
}

/** Whether a workflow calls more than one tool. */
function callsSeveralTools(graph: Graph): boolean {
  const tools = nodesOf(graph).flatMap((node) => (node.kind === 'call' ? [node.tool] : []));
  return new Set(tools).size > 1;
}

/**
 * What a client should know: the author's instructions, then what to choose first. The tools of workflows come before
 * sequences of hinted tools, and these before single tools. Nothing is added to a server without workflows and hints.
 * Names of tools are left out, since a caller may lack the scopes to see them.
 */
export function instructionsFor({
  own,
  workflowTools,
  tools,
  hasSequences,
  prefix,
  canPlan,
}: InstructionParts): string | undefined {
  const hasWorkflows = workflowTools.some(({ name }) => !Object.hasOwn(runTools, name));
  const hasHints = hasSequences || tools.some(({ _meta }) => _meta?.[HINTS_META] !== undefined);
  if (!hasWorkflows && !hasHints && !canPlan) return own;
  const choices = [
    ...(hasWorkflows
      ? [
          `A tool that runs a whole workflow${prefix === '' ? '' : `: its name begins with \`${prefix}\``}. Choose it by its description and give the parameters; the order of the steps, retries and undoing are done for you.`,
        ]
      : []),
    ...(hasHints
      ? [
          'Several tools, in the order of their descriptions: call all tools of "Requires" before, and one of "Next" after; tools of "Often after" are a habit, and no condition. Pass on the values that a later tool takes.',
        ]
      : []),
    ...(tools.length > 0 ? ['A single tool.'] : []),
  ];
  const tree = [
    'For each request, take the first of these that fits:',
    ...choices.map((choice, index) => `${index + 1}. ${choice}`),
    ...(canPlan ? ['If you are not sure, `_plan` suggests one of these for a goal.'] : []),
  ].join('\n');
  return own === undefined || own === '' ? tree : `${own}\n\n${tree}`;
}

export interface LiveParts extends CatalogueParts {
  readonly changes: Changes;
  readonly drift: UpstreamDrift | undefined;
  /** Tools that look after open runs of earlier processes. */
  readonly keptRunTools: readonly RunTool[];
}

/** The catalogue of some clients, which is replaced as a whole when its sources change. */
export class LiveCatalogue {
  readonly #parts: LiveParts;
  readonly #parent: LiveCatalogue | undefined;
  #layer: Layer;
  #current: Catalogue;
  /** The catalogue of the parent that it was made for. */
  #madeFor: Catalogue | undefined;

  /**
   * @param parent what it is built on. Default: the program alone.
   * @param registration the workflows of the layer, where they were registered already.
   * @throws RegistrationError
   */
  constructor(parts: LiveParts, layer: Layer, parent?: LiveCatalogue, registration?: Registered) {
    this.#parts = parts;
    this.#parent = parent;
    this.#layer = layer;
    this.#madeFor = parent?.current;
    this.#current = new Catalogue(parts, this.#with(layer), parts.keptRunTools, registration);
  }

  /** What clients get now. */
  get current(): Catalogue {
    this.follow();
    return this.#current;
  }

  /** The lowest first. */
  get layers(): readonly Layer[] {
    return this.#with(this.#layer);
  }

  isBuiltOn(other: object): boolean {
    return this === other || this.#parent?.isBuiltOn(other) === true;
  }

  /**
   * Replaces what it adds to the layers below, and tells the clients which lists have changed.
   *
   * @throws RegistrationError: then everything stays as it is.
   */
  async replace(layer: Layer): Promise<void> {
    const before = this.#current;
    const below = this.#parent?.current;
    const next = new Catalogue(this.#parts, this.#with(layer), this.#kept(before));
    const { drift, changes, settings } = this.#parts;
    await drift?.add(next.workflows.values());
    this.#layer = layer;
    this.#current = next;
    this.#madeFor = below;
    for (const warning of next.warnings.filter((each) => !before.warnings.includes(each)))
      settings.log(warning, { event: 'workflow.warning', level: 'warning' });
    const [old, now] = [listsOf(before), listsOf(next)];
    for (const list of ['tools', 'prompts', 'resources'] as const)
      if (!isDeepStrictEqual(old[list], now[list])) changes.announce({ kind: 'list', list }, this);
  }

  /** A run of a workflow that is gone can still be answered. */
  #kept({ workflowTools }: Catalogue): readonly RunTool[] {
    return [...this.#parts.keptRunTools, ...workflowTools.runTools];
  }

  #with(layer: Layer): readonly Layer[] {
    return [...(this.#parent?.layers ?? []), layer];
  }

  /** Takes a change of the layers below over. One that does not go with its own layer is logged, once. */
  follow(): void {
    const below = this.#parent?.current;
    if (below === this.#madeFor) return;
    this.#madeFor = below;
    try {
      this.#current = new Catalogue(this.#parts, this.layers, this.#kept(this.#current));
    } catch (error) {
      const why = error instanceof RegistrationError ? registrationFaults(error) : thrownText(error);
      this.#parts.settings.log(
        `the workflows of the server have changed and do not go with those of a profile or client, which stay as they are: ${why}`,
        { event: 'specs.refused' },
      );
    }
  }
}

/** The lists of a catalogue, to compare them: what the two have in common is not looked at. */
function listsOf(catalogue: Catalogue) {
  const { listings, workflowResources: own } = catalogue;
  return {
    tools: catalogue.shownTools({ local: true }),
    prompts: listings.prompts,
    resources: [listings.resources, listings.templates, own.listings, own.templates],
  };
}

type Listener = (change: ServerChange) => void;

/** Passes changes on to the clients that they concern. */
export class Changes {
  readonly #listeners = new Map<Listener, (source: object) => boolean>();

  /**
   * @param isConcerned whether a change of this source concerns the listener.
   * @returns what ends it.
   */
  listen(isConcerned: (source: object) => boolean, listener: Listener): () => void {
    // The same function may listen twice.
    const own: Listener = (change) => listener(change);
    this.#listeners.set(own, isConcerned);
    return () => void this.#listeners.delete(own);
  }

  /** @param source what has changed. Default: all clients are concerned. */
  announce(change: ServerChange, source?: object): void {
    for (const [listener, isConcerned] of this.#listeners)
      if (source === undefined || isConcerned(source)) listener(change);
  }
}
