import { compareText } from '../graph/names.js';
import { type Edge, ENOUGH, type ValueLink } from './evidence.js';
import type { Choice, ReadHints } from './hints.js';
import { type Arc, ancestorsOf, cyclesIn, descendantsOf, groupBy, topologicalOrder } from './order.js';
import type { ToolDescription } from './tool.js';
import { isUndoing, rankOf } from './words.js';

/** More alternatives than a reader compares. */
const MOST_SEQUENCES = 16;

/**
 * The orders in which tools may be called: one for each tool that nothing follows, with what it needs. Of alternatives a
 * sequence has one; tools that need another one are left out. A tool with a cycle before it has no sequence.
 */
export function sequencesOf(
  tools: readonly ToolDescription[],
  edges: readonly Edge[],
  { choices, edges: hinted }: Pick<ReadHints, 'choices' | 'edges'>,
): string[][] {
  const names = tools.map(({ name }) => name);
  const arcs = edges.filter(({ confidence }) => confidence >= ENOUGH);
  const circular = new Set(cyclesIn(names, arcs).flat());
  const inferred = new KnownOrder(tools, arcs, choices, circular);
  const compare = comparison(tools);
  const hard = hinted.filter(({ evidence }) => evidence.kind === 'requires');
  const aside = asideIn(arcs, inferred.tools);
  const followed = new Set(arcs.filter(({ to }) => !aside.has(to)).map(({ from }) => from));
  const all = names
    .filter((name) => !followed.has(name) && !circular.has(name))
    .flatMap((name) => {
      const needs = inferred.needsOf([name]);
      if ([...needs.keys()].some((each) => circular.has(each))) return [];
      const order = orderOf(needs, inferred, compare);
      const reached = choices.filter(({ after }) => needs.has(after));
      return exclusionsOf(reached, hard)
        .map((excluded) => order.filter(remains(order, edgesWithin(needs, inferred), hard, excluded)))
        .filter((sequence) => sequence.includes(name));
    });
  return distinct(all).filter(({ length }) => length > 1);
}

/** The tools that undo what the tools before them do, and so end no process of theirs. */
function asideIn(arcs: readonly Arc[], tools: ReadonlyMap<string, ToolDescription>): Set<string> {
  const isActing = (name: string): boolean => {
    const tool = tools.get(name);
    return tool !== undefined && (rankOf(tool) ?? 2) >= 2;
  };
  const undoing = new Set([...tools.values()].filter(isUndoing).map(({ name }) => name));
  return new Set(arcs.filter(({ from, to }) => undoing.has(to) && isActing(from)).map(({ to }) => to));
}

/** The tools of a plan in an order that no edge contradicts. */
export function orderOf(needs: Needs, inferred: KnownOrder, compare: Comparison): string[] {
  const names = [...needs.keys()].sort(compare);
  const order = topologicalOrder(names, edgesWithin(needs, inferred), compare) ?? [];
  return withoutDoing(order, inferred.tools);
}

function edgesWithin(needs: Needs, { into }: KnownOrder): Edge[] {
  return [...needs.keys()].flatMap((name) => (into.get(name) ?? []).filter(({ from }) => needs.has(from)));
}

/** An order that undoes something begins after it was done: a plan does not book and cancel. */
function withoutDoing(order: readonly string[], tools: ReadonlyMap<string, ToolDescription>): string[] {
  const inOrder = order.flatMap((name) => tools.get(name) ?? []);
  const undo = inOrder.findIndex(isUndoing);
  const before = inOrder.slice(0, Math.max(0, undo));
  const isActing = before.map((tool) => (rankOf(tool) ?? 2) >= 2);
  return order.slice(isActing.lastIndexOf(true) + 1);
}

function distinct(sequences: readonly (readonly string[])[]): string[][] {
  return [...new Map(sequences.map((sequence) => [JSON.stringify(sequence), [...sequence]])).values()];
}

/** The tools that a sequence leaves out, for each way to choose. */
function exclusionsOf(choices: readonly Choice[], hard: readonly Arc[]): Set<string>[] {
  let all: Set<string>[] = [new Set()];
  for (const { oneOf } of choices) {
    all = all
      .flatMap((excluded) =>
        oneOf
          .filter((chosen) => !excluded.has(chosen))
          .map((chosen) => {
            // The chosen tool may need another one of them.
            const needed = ancestorsOf([chosen], hard);
            return new Set([...excluded, ...oneOf.filter((other) => !needed.has(other))]);
          }),
      )
      .slice(0, MOST_SEQUENCES);
    if (all.length === 0) return [new Set()];
  }
  return all;
}

/** Whether a tool is still possible without the excluded ones: all that it requires are left, and one of the others. */
function remains(
  members: readonly string[],
  arcs: readonly Arc[],
  hard: readonly Arc[],
  excluded: ReadonlySet<string>,
): (name: string) => boolean {
  if (excluded.size === 0) return () => true;
  const gone = new Set(excluded);
  for (let before = -1; before !== gone.size; ) {
    before = gone.size;
    for (const name of members) {
      const isInto = ({ to }: Arc) => to === name;
      const isGone = ({ from }: Arc) => gone.has(from);
      const sources = arcs.filter(isInto);
      const isCutOff = sources.length > 0 && sources.every(isGone);
      if (isCutOff || hard.filter(isInto).some(isGone)) gone.add(name);
    }
  }
  return (name) => !gone.has(name);
}

type Comparison = (a: string, b: string) => number;

/** By the usual place in a process, then by the order of the list. */
export function comparison(tools: readonly ToolDescription[]): Comparison {
  const place = new Map(tools.map((tool, index) => [tool.name, { rank: rankOf(tool) ?? 2, index }]));
  return (a, b) => {
    const first = place.get(a);
    const right = place.get(b);
    if (first === undefined || right === undefined) return compareText(a, b);
    return first.rank - right.rank || first.index - right.index;
  };
}

/** The edges that each of some tools needs, and each of those that they lead to, by tool. */
export type Needs = ReadonlyMap<string, readonly Edge[]>;

/** The inferred order of some tools. */
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
    const open = [...targets];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      const tool = this.tools.get(name);
      if (tool === undefined || needs.has(name)) continue;
      const own = this.#ownNeeds(tool, unusable);
      needs.set(name, own);
      open.push(...own.map(({ from }) => from));
    }
    return needs;
  }

  /** Kept for a tool whose sources are all usable: many targets need the same tools. */
  #ownNeeds(tool: ToolDescription, unusable: ReadonlySet<string>): readonly Edge[] {
    if (this.#circular.has(tool.name)) return [];
    const into = this.into.get(tool.name) ?? [];
    const usable =
      unusable.size === 0 ? into : into.filter((edge) => isRequired(edge) || !unusable.has(edge.from));
    const needs = usable.length === into.length ? this.#needs.get(tool.name) : undefined;
    if (needs !== undefined) return needs;
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
    const isEnough = isDeclared(edge)
      ? [...chosen].some((each) => isDeclared(each) && !isBefore(each))
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
function isDeclared({ evidence }: Edge): boolean {
  return evidence.some(({ kind }) => ['requires', 'next', 'use', 'phrase'].includes(kind));
}

export function linksOf({ evidence }: Edge): ValueLink[] {
  return evidence.flatMap(({ link, confidence }) =>
    link === undefined || confidence < ENOUGH ? [] : [link],
  );
}
