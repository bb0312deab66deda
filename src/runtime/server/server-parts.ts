import type { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { unanswerable } from '../runs/actions/answerers.js';
import type { RunStore } from '../runs/run-store.js';
import type { UntypedFactories } from '../tools/factories.js';
import type { Registry } from '../tools/registry.js';
import type { Toolset } from '../tools/toolset.js';
import type { Layer } from './catalogue.js';
import { Changes } from './changes.js';
import { type RunTool, runToolsFor } from './composite/run-tools.js';
import { runTraitsOf } from './composite/served-workflows.js';
import { DriftRecord } from './drift-record.js';
import { Lifecycle } from './lifecycle.js';
import { LiveCatalogue } from './live-catalogue.js';
import { openRunStore } from './open-run-store.js';
import type { ResolvedSettings } from './options.js';
import { PromptRenderer } from './prompt-renderer.js';
import type { Registered } from './registration.js';
import { RequestGate } from './request.js';
import { serverTexts } from './server-texts.js';
import type { ServerSpecs } from './specs/server-specs.js';
import { undeclaredTools } from './undeclared-safety.js';

/** What all views of a server share: runs, tools, the process. */
export class ServerParts {
  readonly gate = new RequestGate();
  readonly changes = new Changes();
  readonly drift: DriftRecord;
  readonly lifecycle: Lifecycle;
  readonly renderer: PromptRenderer;
  readonly runs: RunStore;
  /** What all clients get. */
  readonly base: LiveCatalogue;
  /** Tools that look after open runs of earlier processes. */
  keptRunTools: readonly RunTool[] = [];
  /** Whether the adapter authenticates callers. */
  hasAuthentication = false;
  #specs: Promise<ServerSpecs> | undefined;
  #runPrompt: Promise<typeof import('./prompt-run.js').runPrompt> | undefined;

  constructor(
    readonly registry: Registry,
    readonly toolset: Toolset,
    readonly settings: ResolvedSettings,
    factories: UntypedFactories,
    readonly schemas: SchemaCompiler,
    registered: Registered,
  ) {
    const { hooks, log, storePath, upstream } = settings;
    this.lifecycle = new Lifecycle(hooks, log);
    this.renderer = new PromptRenderer(registry, factories, settings);
    this.runs = this.#runStore();
    this.drift = new DriftRecord({ registry, upstream, log });
    this.base = new LiveCatalogue(this, baseLayer(settings), undefined, registered);
    for (const warning of this.base.current.warnings)
      log(warning, { event: 'workflow.warning', level: 'warning' });
    if (storePath !== undefined) this.#warnOfUndeclaredSafety();
  }

  /** Loads what runs workflows in prompts, once: under a loader for TypeScript another import takes a millisecond. */
  readonly loadRunPrompt = (): Promise<typeof import('./prompt-run.js').runPrompt> => {
    this.#runPrompt ??= import('./prompt-run.js').then(({ runPrompt }) => runPrompt);
    return this.#runPrompt;
  };

  /** Its spec files and profiles, loaded on first use: most servers have none. */
  specs(): Promise<ServerSpecs> {
    this.#specs ??= import('./specs/server-specs.js').then(({ ServerSpecs }) => new ServerSpecs(this));
    return this.#specs;
  }

  async start(): Promise<void> {
    await this.runs.open?.();
    await this.lifecycle.start();
    await this.drift.begin(this.base.current.workflows.values());
    await this.#keepRunTools();
    if (this.settings.hasSpecs) await (await this.specs()).start();
    await this.runs.resumeAll?.();
  }

  async stop(): Promise<void> {
    // What keeps them from being read was thrown to those who start the server.
    await this.#specs?.then((specs) => specs.stop()).catch(() => {});
    await this.lifecycle.stop(this.settings.drainTimeoutMs);
    await this.runs.close?.();
    await this.settings.upstream?.close();
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

  #warnOfUndeclaredSafety(): void {
    const graphs = [...this.base.current.workflows.values()].map(({ graph }) => graph);
    const tools = undeclaredTools(this.registry, graphs);
    if (tools.length === 0) return;
    this.settings.log(serverTexts.undeclaredSafety(tools), { event: 'store.retry_safety', level: 'warning' });
  }

  #runStore(): RunStore {
    const { toolset, settings, schemas } = this;
    return openRunStore(toolset, settings, {
      schemas,
      refusal: (graph, owner) =>
        unanswerable(graph, owner, {
          localRoles: settings.localRoles,
          hasAuthentication: this.hasAuthentication,
        }),
    });
  }
}

/** What the program itself gives a server. */
function baseLayer({ workflows, prompts, offerWorkflows }: ResolvedSettings): Layer {
  return { workflows, prompts, ...(offerWorkflows ? {} : { shownWorkflows: [] }) };
}
