import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import { ownProperty } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { isServerCall, nodesWithTasks } from '../../graph/nodes.js';
import { clip } from '../../graph/printable-text.js';
import { valuePort } from '../runs/actions/model-values.js';
import type { RunStoreOptions } from '../runs/journal-run-store.js';
import { journalStore, memoryStore } from '../runs/operate/run-stores.js';
import type { ValuePort } from '../runs/run/calls-in-flight.js';
import { unanswerable } from '../runs/run/owner.js';
import type { RunStore } from '../runs/run-store.js';
import { missingIn } from '../tools/capabilities.js';
import { thrownText } from '../tools/exceptions.js';
import type { UntypedFactories } from '../tools/instances.js';
import type { Registry } from '../tools/registry.js';
import type { Toolset } from '../tools/toolset.js';
import { checkCache } from './catalogue/cache-hints.js';
import { Changes, type Layer, LiveCatalogue } from './catalogue/catalogue.js';
import { RegistrationMemo } from './catalogue/registration.js';
import type { UpstreamDrift } from './catalogue/upstream-drift.js';
import { type RunTool, runToolsFor } from './composite/run-tools.js';
import { type Registered, runTraitsOf, ServedMemo } from './composite/served-workflows.js';
import { Lifecycle } from './lifecycle.js';
import type { ResolvedSettings } from './options.js';
import { linkedRuns, QuestionLinks } from './question-links.js';
import { startedOnce } from './repeated-starts.js';
import { RequestGate } from './requests/limits.js';
import { PromptRenderer } from './requests/prompt-renderer.js';
import type { ServerSpecs } from './specs/server-specs.js';

/** What all views of a server share: runs, tools, the process. */
export class ServerParts {
  readonly gate = new RequestGate();
  readonly changes = new Changes();
  /** Missing until the server starts, and without upstream servers. */
  drift: UpstreamDrift | undefined;
  readonly lifecycle: Lifecycle;
  readonly renderer: PromptRenderer;
  readonly runs: RunStore;
  /** Has the key of what questions are sealed with. */
  readonly sealing: Pick<RunStore, 'key'>;
  /** Missing where questions have no pages. */
  readonly links: QuestionLinks | undefined;
  /** Supplies values of a model to runs. */
  readonly values: ValuePort;
  /** What all clients get. */
  readonly base: LiveCatalogue;
  /** Tools that look after open runs of earlier processes. */
  keptRunTools: readonly RunTool[] = [];
  /** Whether the adapter authenticates callers. */
  hasAuthentication = false;
  #started: Promise<void> | undefined;
  #specs: Promise<ServerSpecs> | undefined;

  readonly registrationMemo: RegistrationMemo;
  readonly servedMemo: ServedMemo;

  constructor(
    readonly registry: Registry,
    readonly toolset: Toolset,
    readonly settings: ResolvedSettings,
    factories: UntypedFactories,
    readonly schemas: SchemaCompiler,
    registered: Registered,
  ) {
    const { hooks, log, storeSource } = settings;
    checkCache(settings, registry);
    this.registrationMemo = new RegistrationMemo(schemas);
    this.servedMemo = new ServedMemo(registry);
    this.lifecycle = new Lifecycle(hooks, log);
    this.renderer = new PromptRenderer(registry, factories, settings);
    this.values = valuePort({ ...settings, schemas });
    const runs = this.#runStore();
    const { page, publicUrl, key } = settings.questions ?? {};
    this.sealing = key === undefined ? runs : { key: async () => Buffer.from(key) };
    const { sealing } = this;
    this.links =
      page === true
        ? new QuestionLinks({ runs, sealing, schemas, info: settings.info, ...defined({ publicUrl }) })
        : undefined;
    this.runs = startedOnce(this.links === undefined ? runs : linkedRuns(runs, this.links), sealing);
    this.base = new LiveCatalogue(this, baseLayer(settings), undefined, registered);
    for (const warning of this.base.current.warnings)
      log(warning, { event: 'workflow.warning', level: 'warning' });
    if (storeSource !== undefined) this.#warnOfUndeclaredSafety();
  }

  /** Its spec files and profiles, loaded on first use: most servers have none. */
  specs(): Promise<ServerSpecs> {
    this.#specs ??= import('./specs/server-specs.js').then(({ ServerSpecs }) => new ServerSpecs(this));
    return this.#specs;
  }

  /** Starts, once: each connection waits for it. A start that failed is tried again by the next call. */
  start(): Promise<void> {
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #start(): Promise<void> {
    await this.runs.open?.();
    this.#warnWithoutKey();
    await this.lifecycle.start();
    await this.#compareUpstream();
    await this.#keepRunTools();
    if (this.settings.hasSpecs) await (await this.specs()).start();
    await this.runs.resumeAll?.();
  }

  async stop(): Promise<void> {
    // What keeps them from being read was thrown to those who start the server.
    await this.#specs?.then((specs) => specs.stop()).catch(() => {});
    // The store may wait for calls of its runs, which use what is released after it.
    await this.runs
      .close?.()
      .catch((error: unknown) =>
        this.settings.log(`the store did not close: ${thrownText(error)}`, { event: 'server.stop' }),
      );
    await this.lifecycle.stop(this.settings.drainTimeoutMs);
    await this.settings.upstream?.close();
  }

  /** A server that starts again does not compare the first workflows again. */
  async #compareUpstream(): Promise<void> {
    const { registry, settings } = this;
    const { upstream, log } = settings;
    if (upstream === undefined || this.drift !== undefined) return;
    const { UpstreamDrift } = await import('./catalogue/upstream-drift.js');
    const drift = new UpstreamDrift({ registry, upstream, log });
    this.drift = drift;
    upstream.onToolsChanged?.((server) => drift.compare([server]));
    await drift.add(this.base.current.workflows.values());
  }

  /** Open runs of earlier processes can be answered, also where their workflows are gone. */
  async #keepRunTools(): Promise<void> {
    const open = (await this.runs.openGraphs?.()) ?? [];
    const needed = runToolsFor(open.map((graph) => ({ ...runTraitsOf(graph, this.registry), tool: graph })));
    const listed = this.base.current.workflowTools.runTools;
    this.keptRunTools = needed.filter((name) => !Object.hasOwn(this.registry.tools, name));
    if (this.keptRunTools.every((name) => listed.includes(name))) return;
    for (const layer of this.base.layers) await this.base.replace(layer);
  }

  #warnWithoutKey(): void {
    const { storeSource, journal, questions, log } = this.settings;
    const keeper = (journal ?? (storeSource && this.sealing)) as Pick<RunStore, 'key'> | undefined;
    if (keeper === undefined || questions?.key !== undefined || keeper.key !== undefined) return;
    log(
      'other servers, and this one after a restart, cannot read links to pages of questions and states of requests with questions, since the store has no key: give all servers the same `questions.key`',
      { event: 'store.without_key', level: 'warning' },
    );
  }

  #warnOfUndeclaredSafety(): void {
    const graphs = [...this.base.current.workflows.values()].map(({ graph }) => graph);
    const tools = undeclaredTools(this.registry, graphs);
    if (tools.length === 0) return;
    this.settings.log(
      `a run in the store pauses when the server is stopped in a call of ${tools.map((tool) => `\`${clip(tool)}\``).join(', ')}: say what another call does, \`retrySafety: 'idempotent'\`, \`'key'\` or \`'none'\` of @Tool`,
      { event: 'store.retry_safety', level: 'warning' },
    );
  }

  /** The run store that the settings name. */
  #runStore(): RunStore {
    const { toolset, settings, schemas } = this;
    const missing = missingIn(toolset.registry);
    const { newRunId, runs: limits, log, journal, storeSource, telemetry, localRoles } = settings;
    const { secretInputs, toolSafety, isPrivate, resultFailure } = toolset;
    const options: RunStoreOptions = {
      calls: toolset,
      schemas,
      secretInputs,
      toolSafety,
      isPrivate,
      missing: (graph) => [...missing(graph), ...(this.drift?.missingFor(graph) ?? [])],
      resultFailure,
      values: this.values,
      refusal: (graph, owner) =>
        unanswerable(graph, owner, {
          localRoles,
          hasAuthentication: this.hasAuthentication,
          hasPages: this.links?.base !== undefined,
        }),
      log,
      newRunId,
      limits,
      ...defined({ telemetry }),
    };
    if (storeSource !== undefined) return storeSource.open(options);
    return journal === undefined ? memoryStore(options) : journalStore(journal, options);
  }
}

/** What the program itself gives a server. */
function baseLayer({ workflows, prompts, offerWorkflows }: ResolvedSettings): Layer {
  return { workflows, prompts, ...(offerWorkflows ? {} : { shownWorkflows: [] }) };
}

/**
 * The tools that steps call and whose declarations do not say what another call does, by their names. A run in a file that
 * was interrupted in a call of one pauses.
 */
function undeclaredTools({ tools }: Registry, graphs: Iterable<Graph>): readonly string[] {
  const called = new Set<string>();
  for (const node of [...graphs].flatMap(nodesWithTasks)) if (isServerCall(node)) called.add(node.tool);
  return [...called].filter((name) => isUndeclared(tools, name)).sort();
}

function isUndeclared(tools: Registry['tools'], name: string): boolean {
  const entry = ownProperty(tools, name);
  if (entry === undefined || entry.retrySafety !== undefined) return false;
  const { readOnlyHint, idempotentHint } = entry.annotations ?? {};
  return readOnlyHint !== true && idempotentHint === undefined;
}
