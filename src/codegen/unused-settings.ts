import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Graph } from '../graph/model.js';
import { nearestName } from '../graph/names.js';
import type { CodegenPlan } from './config.js';

/**
 * Warns of settings that no registry of the project uses: domains without workflows, and hints without tools.
 *
 * @param servers the upstream servers that have a tool in some registry.
 */
export function unusedSettings(
  { domains = [], domainPlaces = [], hints = [] }: Pick<CodegenPlan, 'domains' | 'domainPlaces' | 'hints'>,
  workflows: readonly Pick<Graph, 'domain'>[],
  servers: ReadonlySet<string>,
): Diagnostic[] {
  const known = new Set(workflows.map(({ domain = 'default' }) => domain));
  const unused = hints.filter(({ server }) => !servers.has(server));
  // One warning for each server, at its first hint.
  const first = new Map(unused.toReversed().map((each) => [each.server, each]));
  return [
    ...domains.flatMap(({ name: domain }, index) => {
      if (known.has(domain)) return [];
      return [
        diagnostic('SW4044', domainPlaces[index], { domain, suggestion: nearestName(domain, [...known]) }),
      ];
    }),
    ...[...first.values()].map(({ server, places }) => diagnostic('SW4045', places.tool, { server })),
  ];
}
