import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { Graph } from '../../graph/model.js';
import { type Capability, missingIn } from '../tools/capabilities.js';
import type { UntypedFactories } from '../tools/instances.js';
import type { Registry } from '../tools/registry.js';
import { createToolset, type Toolset } from '../tools/toolset.js';
import { register } from './catalogue/registration.js';
import { type ServedWorkflow, servedWorkflows } from './composite/served-workflows.js';
import { resolveSettings, type ServerSettings } from './options.js';
import { RegistrationError } from './registrations.js';
import { verifyOnce } from './verify-sources.js';

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
  verifyOnce(registry);
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

/** How the definition of a run differs from those of today. */
export function changeSince(
  definitions: readonly Definitions[],
  graph: Graph,
  hash: string,
): { readonly definition_changed: boolean; readonly missing_capabilities?: readonly Capability[] } {
  const named = definitions.filter(({ workflows }) => workflows.has(graph.name));
  const isCurrent = named.some(({ workflows }) => workflows.get(graph.name)?.hash === hash);
  const [missing = []] = (named.length === 0 ? definitions : named)
    .map(({ registry }) => missingIn(registry)(graph))
    .sort((one, other) => one.length - other.length);
  return {
    definition_changed: !isCurrent,
    ...(missing.length === 0 ? {} : { missing_capabilities: missing }),
  };
}
