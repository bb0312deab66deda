import { realpathSync } from 'node:fs';
import { defined } from '../graph/defined.js';
import { hasErrors } from '../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../graph/diagnostics/format.js';
import type { Registry } from '../runtime/tools/registry.js';

/**
 * The registry of a project without TypeScript: the tools of its recorded servers, and the workflows of its spec files.
 *
 * @param options.root the folder of the project. Default: the working directory.
 * @param options.configFile relative to the root. Default: `stepwright.config.json`, or `package.json`.
 * @throws TypeError for a project with TypeScript: its tests import the registry that codegen writes.
 * @throws Error for faults of the configuration, the snapshots or the spec files.
 * @example
 * ```ts
 * const run = await testWorkflow(await projectRegistry(), 'add-note', {
 *   args: { line: 'Buy bread' },
 *   server: { upstream: upstreamCassette('notes.cassette.json') },
 * });
 * ```
 */
export async function projectRegistry(
  options: { readonly root?: string; readonly configFile?: string } = {},
): Promise<Registry> {
  const root = realpathSync(options.root ?? '.');
  // One after the other, as jest needs it.
  const { readDataProject } = await import('../codegen/data-project.js');
  const { readSourceIn } = await import('../codegen/diagnostics.js');
  const { dataRegistry } = await import('../runtime/tools/data-registry.js');
  const read = await readDataProject({ root, ...defined({ configFile: options.configFile }) });
  if (read === undefined)
    throw new TypeError(
      `The project in '${root}' has TypeScript: import \`registry\` from the module that codegen writes`,
    );
  const { value: project } = read;
  const all = [...read.diagnostics, ...(project?.faults ?? []), ...(project?.diagnostics ?? [])];
  if (project === undefined || hasErrors(all)) throw new Error(formatDiagnostics(all, readSourceIn(root)));
  const { tools, graphs, plan } = project;
  return dataRegistry({ tools, graphs, ...defined({ domains: plan.domains }) });
}
