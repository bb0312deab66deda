import { type Edge, ENOUGH, type ValueLink } from './evidence.js';
import type { Choice } from './hints.js';
import { isUndoing, rankOf } from './lifecycle.js';
import { descendantsOf } from './order.js';
import type { ToolDescription } from './tool.js';

/** The edges that each of some tools needs, and each of those that they lead to, by tool. */
export type Needs = ReadonlyMap<string, readonly Edge[]>;

/** What is known of the order of some tools. */
export interface KnownOrder {
  readonly tools: ReadonlyMap<string, ToolDescription>;
  readonly edges: readonly Edge[];
  readonly choices: readonly Choice[];
  /** The tools of cycles, which have no order. */
  readonly circular: ReadonlySet<string>;
}

/**
 * What has to be called before the targets. No value comes from an alternative to one of them, or from what only follows
 * that.
 */
export function needsOf(targets: readonly string[], known: KnownOrder): Needs {
  const { tools, edges, choices, circular } = known;
  const sure = edges.filter(({ confidence }) => confidence >= ENOUGH);
  const rivals = choices.flatMap(({ oneOf }) =>
    oneOf.some((tool) => targets.includes(tool)) ? oneOf.filter((tool) => !targets.includes(tool)) : [],
  );
  const unusable = descendantsOf(rivals, sure);
  const into = new Map<string, Edge[]>();
  for (const edge of sure) {
    if (!isRequired(edge) && unusable.has(edge.from)) continue;
    const found = into.get(edge.to);
    if (found === undefined) into.set(edge.to, [edge]);
    else found.push(edge);
  }
  const needs = new Map<string, readonly Edge[]>();
  const left = [...targets];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    const tool = tools.get(name);
    if (tool === undefined || needs.has(name)) continue;
    const own = circular.has(name) ? [] : ownNeeds(tool, into.get(name) ?? [], tools);
    needs.set(name, own);
    left.push(...own.map(({ from }) => from));
  }
  return needs;
}

/**
 * The edges that a tool needs: what it requires, and for each required parameter the best source. A tool that undoes
 * something needs what was done before the plan, and not that the plan does it.
 *
 * @param into the edges that lead to it.
 */
function ownNeeds(
  tool: ToolDescription,
  into: readonly Edge[],
  tools: ReadonlyMap<string, ToolDescription>,
): Edge[] {
  const rank = ({ from }: Edge): number => {
    const source = tools.get(from);
    return (source && rankOf(source)) ?? 2;
  };
  const required = into.filter(isRequired);
  const chosen = new Set(required);
  const fed = new Set(required.flatMap((edge) => linksOf(edge).map(({ parameter }) => parameter)));
  const others = into
    .filter((edge) => !chosen.has(edge) && !(isUndoing(tool) && rank(edge) >= 2))
    .sort((a, b) => b.confidence - a.confidence || rank(a) - rank(b));
  for (const edge of others) {
    const links = linksOf(edge);
    const isNew = links.some(({ parameter }) => !fed.has(parameter));
    // An edge without a value is a hint or a phrase: one of them is enough.
    if (links.length === 0 ? chosen.size > 0 : !isNew) continue;
    chosen.add(edge);
    for (const { parameter } of links) fed.add(parameter);
  }
  return [...chosen];
}

function isRequired({ evidence }: Edge): boolean {
  return evidence.some(({ kind }) => kind === 'requires');
}

/** The values that an edge is sure of. */
export function linksOf({ evidence }: Edge): ValueLink[] {
  return evidence.flatMap(({ link, confidence }) =>
    link === undefined || confidence < ENOUGH ? [] : [link],
  );
}
