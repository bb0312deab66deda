import { type Edge, ENOUGH, type ValueLink } from './evidence.js';
import type { Choice } from './hints.js';
import { isUndoing, rankOf } from './lifecycle.js';
import { descendantsOf, groupBy } from './order.js';
import type { ToolDescription } from './tool.js';

/** The edges that each of some tools needs, and each of those that they lead to, by tool. */
export type Needs = ReadonlyMap<string, readonly Edge[]>;

/** What is known of the order of some tools. */
export class KnownOrder {
  readonly tools: ReadonlyMap<string, ToolDescription>;
  /** The edges that order, by the tool that they lead to. */
  readonly into: ReadonlyMap<string, readonly Edge[]>;
  readonly choices: readonly Choice[];
  readonly #sure: readonly Edge[];
  readonly #circular: ReadonlySet<string>;
  readonly #needs = new Map<string, readonly Edge[]>();

  /** @param circular the tools of cycles, which have no order. */
  constructor(
    tools: readonly ToolDescription[],
    edges: readonly Edge[],
    choices: readonly Choice[],
    circular: ReadonlySet<string>,
  ) {
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#sure = edges.filter(({ confidence }) => confidence >= ENOUGH);
    this.into = groupBy(this.#sure, ({ to }) => to);
    this.choices = choices;
    this.#circular = circular;
  }

  /**
   * What has to be called before the targets. No value comes from an alternative to one of them, or from what only
   * follows that.
   */
  needsOf(targets: readonly string[]): Needs {
    const rivals = this.choices.flatMap(({ oneOf }) =>
      oneOf.some((tool) => targets.includes(tool)) ? oneOf.filter((tool) => !targets.includes(tool)) : [],
    );
    const unusable = rivals.length === 0 ? new Set<string>() : descendantsOf(rivals, this.#sure);
    const needs = new Map<string, readonly Edge[]>();
    const left = [...targets];
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const tool = this.tools.get(name);
      if (tool === undefined || needs.has(name)) continue;
      const own = this.#ownNeeds(tool, unusable);
      needs.set(name, own);
      left.push(...own.map(({ from }) => from));
    }
    return needs;
  }

  /** Kept for a tool whose sources are all usable: many targets need the same tools. */
  #ownNeeds(tool: ToolDescription, unusable: ReadonlySet<string>): readonly Edge[] {
    if (this.#circular.has(tool.name)) return [];
    const into = this.into.get(tool.name) ?? [];
    const usable =
      unusable.size === 0 ? into : into.filter((edge) => isRequired(edge) || !unusable.has(edge.from));
    const known = usable.length === into.length ? this.#needs.get(tool.name) : undefined;
    if (known !== undefined) return known;
    const own = ownNeeds(tool, usable, this);
    if (usable.length === into.length) this.#needs.set(tool.name, own);
    return own;
  }
}

/**
 * The edges that a tool needs: what it requires, and for each required parameter the best source. A tool that undoes
 * something needs what was done before the plan, and not that the plan does it.
 *
 * @param usable the edges that lead to it.
 */
function ownNeeds(
  tool: ToolDescription,
  usable: readonly Edge[],
  { tools, into }: Pick<KnownOrder, 'tools' | 'into'>,
): Edge[] {
  const rank = ({ from }: Edge): number => {
    const source = tools.get(from);
    return (source && rankOf(source)) ?? 2;
  };
  const intoOf = (name: string): readonly Edge[] => into.get(name) ?? [];
  const required = usable.filter(isRequired);
  const chosen = new Set(required);
  const fed = new Set(required.flatMap((edge) => linksOf(edge).map(({ parameter }) => parameter)));
  const undoes = isUndoing(tool);
  const others = usable
    .filter((edge) => !chosen.has(edge) && !(undoes && rank(edge) >= 2))
    .sort((a, b) => b.confidence - a.confidence || rank(a) - rank(b));
  for (const edge of others) {
    const links = linksOf(edge);
    const isNew = links.some(({ parameter }) => !fed.has(parameter));
    // Of tools that a hint or a description puts before this one, and that pass no value on, one is enough. It comes
    // between this one and the tools that have to be called before it.
    const isBefore = ({ from }: Edge) => intoOf(edge.from).some((each) => each.from === from);
    const isEnough = isTold(edge)
      ? [...chosen].some((each) => isTold(each) && !isBefore(each))
      : chosen.size > 0;
    if (links.length === 0 ? isEnough : !isNew) continue;
    chosen.add(edge);
    for (const { parameter } of links) fed.add(parameter);
  }
  return [...chosen];
}

function isRequired({ evidence }: Edge): boolean {
  return evidence.some(({ kind }) => kind === 'requires');
}

/** Whether a hint or a description says so, and not only the values that go from one tool to the other. */
function isTold({ evidence }: Edge): boolean {
  return evidence.some(({ kind }) => kind === 'requires' || kind === 'next' || kind === 'phrase');
}

/** The values that an edge is sure of. */
export function linksOf({ evidence }: Edge): ValueLink[] {
  return evidence.flatMap(({ link, confidence }) =>
    link === undefined || confidence < ENOUGH ? [] : [link],
  );
}
