import type { ToolContext } from '../../decorators/context.js';
import { fingerprint, fromMetadata, readMetadata } from '../../decorators/metadata.js';
import { Tool } from '../../decorators/tool.js';
import { hashGraph } from '../../graph/canonical.js';
import { defined } from '../../graph/defined.js';
import type { JsonObject } from '../../graph/json.js';
import type { Domain, Graph } from '../../graph/model.js';
import { REGISTRY_VERSION, type Registry, registryChecksum, type ToolEntry } from './registry.js';

/** The parts of a registry that no code belongs to. */
interface RegistryData {
  /** Tools of upstream servers. */
  readonly tools: readonly (Omit<ToolEntry, 'class' | 'fingerprint' | 'hints'> & {
    readonly name: string;
    readonly hints?: object;
  })[];
  readonly graphs?: readonly Graph[];
  readonly domains?: readonly Domain[];
}

/** Makes a registry without codegen: each of its tools passes its input to an upstream server. */
export function dataRegistry({ tools, graphs = [], domains = [] }: RegistryData): Registry {
  const tables = {
    tools: Object.fromEntries(
      tools.map(({ name, hints, ...tool }): [string, ToolEntry] => [
        name,
        { ...classOf(name, tool), ...tool, ...defined({ hints: hints as JsonObject | undefined }) },
      ]),
    ),
    resources: {},
    workflows: Object.fromEntries(graphs.map((graph) => [graph.name, { graph, hash: hashGraph(graph) }])),
    domains,
  };
  return { registryVersion: REGISTRY_VERSION, checksum: registryChecksum(tables), ...tables };
}

/** A class like those that `stepwright pull` writes. */
function classOf(
  name: string,
  { description }: Pick<ToolEntry, 'description'>,
): Pick<ToolEntry, 'class' | 'fingerprint'> {
  class PassThrough {
    execute(input: JsonObject, context: ToolContext): Promise<unknown> {
      return context.callUpstream(input);
    }
  }
  Tool({ name, description })(PassThrough);
  const metadata = readMetadata(PassThrough);
  if (metadata === undefined) throw new Error(`the class of ${name} has no metadata`);
  return { class: PassThrough, fingerprint: fingerprint(fromMetadata(metadata)) };
}
