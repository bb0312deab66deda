import type { Graph } from '../../../graph/model.js';
import { isPortableName } from '../../../graph/names.js';
import { ToolNameError } from '../registration-problems.js';

/** The names of the tools of workflows, or everything that is wrong with them. */
export interface ToolNames {
  /** By workflow. */
  readonly names: ReadonlyMap<string, string>;
  readonly problems: readonly ToolNameError[];
}

/**
 * Names the tools of workflows: `w_<name>`; all that would have one name, another tool's among them, `w_<domain>_<name>`.
 *
 * @param taken the names of the server's other tools.
 */
export function toolNames(
  workflows: readonly Pick<Graph, 'name' | 'domain'>[],
  taken: ReadonlySet<string>,
): ToolNames {
  const short = count(workflows.map(({ name }) => shortName(name)));
  const named = workflows.map(({ name, domain = 'default' }) => {
    const plain = shortName(name);
    const isAlone = short.get(plain) === 1 && !taken.has(plain);
    return { workflow: name, tool: isAlone ? plain : `w_${domain}_${name}` };
  });
  const all = count(named.map(({ tool }) => tool));
  const problems = named.flatMap(({ workflow, tool }) => {
    if (!isPortableName(tool)) return [new ToolNameError({ workflow, tool, reason: 'unfit' })];
    return all.get(tool) === 1 && !taken.has(tool)
      ? []
      : [new ToolNameError({ workflow, tool, reason: 'taken' })];
  });
  return { names: new Map(named.map(({ workflow, tool }) => [workflow, tool])), problems };
}

function shortName(workflow: string): string {
  return `w_${workflow}`;
}

function count(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
