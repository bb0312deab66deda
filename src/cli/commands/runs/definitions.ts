import type { Graph } from '../../../graph/model.js';
import { type Definitions, definitionsOf, missingToolsOf } from '../../../runtime/server/definitions.js';
import type { Output } from '../../command-line.js';
import { REGISTRY_OPTIONS, type RegistryChoice, withRegistries } from '../../registries.js';
import { STORE_OPTIONS } from './store-command.js';

/** The options of a command on a store that may read registries. */
export const DEFINITION_OPTIONS = { ...STORE_OPTIONS, ...REGISTRY_OPTIONS } as const;

/** Whether the options name a registry, or a project that has some. */
export function namesRegistry({ registry, options, root, config }: RegistryChoice): boolean {
  return [registry, options, root, config].some((given) => given !== undefined);
}

/** Reads the definitions of the registries that the options name. */
export function withDefinitions(
  command: string,
  choice: RegistryChoice,
  output: Output,
  work: (definitions: readonly Definitions[]) => Promise<number>,
): Promise<number> {
  return withRegistries(command, choice, output, ({ registries, options }) =>
    work(registries.map(({ registry }) => definitionsOf(registry, options))),
  );
}

/** How the definition of a run differs from those of today. */
export function changeSince(
  definitions: readonly Definitions[],
  graph: Graph,
  hash: string,
): { readonly definition_changed: boolean; readonly missing_tools?: readonly string[] } {
  const named = definitions.filter(({ workflows }) => workflows.has(graph.name));
  const isCurrent = named.some(({ workflows }) => workflows.get(graph.name)?.hash === hash);
  const [missing = []] = (named.length === 0 ? definitions : named)
    .map(({ registry }) => missingToolsOf(registry)(graph))
    .sort((one, other) => one.length - other.length);
  return { definition_changed: !isCurrent, ...(missing.length === 0 ? {} : { missing_tools: missing }) };
}
