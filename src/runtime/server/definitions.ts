import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Graph } from '../../graph/model.js';
import { toolsIn } from '../../graph/nodes.js';
import type { UntypedFactories } from '../tools/factories.js';
import { type Registry, verifyRegistry } from '../tools/registry.js';
import { createToolset, type Toolset } from '../tools/toolset.js';
import { register } from './catalogue/registration.js';
import { type ServedWorkflow, servedWorkflows } from './composite/served-workflows.js';
import { resolveSettings, type ServerSettings } from './options.js';
import { RegistrationError } from './registrations.js';

/** The workflows that a server of a registry runs, without a server. */
export interface Definitions {
  /** With the functions of built workflows. */
  readonly registry: Registry;
  /** By their names. */
  readonly workflows: ReadonlyMap<string, Pick<ServedWorkflow, 'graph' | 'hash'>>;
  /** @throws FactoriesError as `createServer` does. */
  toolset(): Toolset;
}

/**
 * Reads the definitions of workflows as `createServer` does.
 *
 * @throws StaleRegistryError, RegistrationError as `createServer` does.
 */
export function definitionsOf(registry: Registry, options: ServerSettings & UntypedFactories): Definitions {
  verifyRegistry(registry);
  const settings = resolveSettings(options);
  const schemas = new SchemaCompiler();
  const { workflows: built, functions } = register(registry, settings, schemas);
  const served: Registry = { ...registry, functions };
  const { workflows, problems } = servedWorkflows(served, built, settings.workflowPrefix);
  if (problems.length > 0) throw new RegistrationError(problems);
  return {
    registry: served,
    workflows,
    toolset: () => createToolset<Registry>(served, { ...options, ...settings, schemas }),
  };
}

/** What looks for the tools of a graph that a registry does not have, once for each graph. */
export function missingToolsOf({ tools }: Registry): (graph: Graph) => readonly string[] {
  const missingByGraph = new WeakMap<Graph, readonly string[]>();
  return (graph) => {
    const cached = missingByGraph.get(graph);
    if (cached !== undefined) return cached;
    const missing = [...toolsIn(graph)].filter((tool) => !Object.hasOwn(tools, tool)).sort();
    missingByGraph.set(graph, missing);
    return missing;
  };
}
