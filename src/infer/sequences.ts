import { compareText } from '../graph/names.js';
import type { Choice, ReadHints } from './hints.js';
import { isUndoing, rankOf } from './lifecycle.js';
import { type Arc, ancestorsOf, componentsIn, cyclesIn, topologicalOrder } from './order.js';
import type { ToolDescription } from './tool.js';

/** More alternatives than a reader compares. */
const MOST_SEQUENCES = 16;

/**
 * The orders in which connected tools may be called. Of alternatives a sequence has one; tools that need another one are
 * left out, and so are tools that undo what others of the sequence do. Connected tools with a cycle have no sequence.
 */
export function sequencesOf(
  tools: readonly ToolDescription[],
  arcs: readonly Arc[],
  { choices, edges }: Pick<ReadHints, 'choices' | 'edges'>,
): string[][] {
  const names = tools.map(({ name }) => name);
  const compare = comparison(tools);
  const circular = new Set(cyclesIn(names, arcs).flat());
  const hard = edges.filter(({ evidence }) => evidence.kind === 'requires');
  const undoing = undoingIn(tools, arcs);
  return componentsIn(names, arcs)
    .filter((members) => members.length > 1 && !members.some((name) => circular.has(name)))
    .flatMap((members) => {
      const own = arcs.filter(({ from }) => members.includes(from));
      const order = topologicalOrder(members, own, compare) ?? [];
      const chosen = choices.filter(({ after }) => members.includes(after));
      const all = exclusionsOf(chosen, own).map((excluded) => {
        const isLeft = remains(members, own, hard, new Set([...excluded, ...undoing]));
        return order.filter(isLeft);
      });
      return distinct(all).filter(({ length }) => length > 1);
    });
}

function distinct(sequences: readonly (readonly string[])[]): string[][] {
  return [...new Map(sequences.map((sequence) => [JSON.stringify(sequence), [...sequence]])).values()];
}

/** The tools that undo, behind tools that act: a plan does not do and undo. */
function undoingIn(tools: readonly ToolDescription[], arcs: readonly Arc[]): string[] {
  const acting = new Set(tools.filter((tool) => (rankOf(tool) ?? 0) >= 2).map(({ name }) => name));
  return tools
    .filter((tool) => isUndoing(tool) && [...ancestorsOf([tool.name], arcs)].some((name) => acting.has(name)))
    .map(({ name }) => name);
}

/** The tools that a sequence leaves out, for each way to choose. */
function exclusionsOf(choices: readonly Choice[], arcs: readonly Arc[]): Set<string>[] {
  let all: Set<string>[] = [new Set()];
  for (const { oneOf } of choices) {
    all = all
      .flatMap((excluded) =>
        oneOf
          .filter((chosen) => !excluded.has(chosen))
          .map((chosen) => {
            // The chosen tool may need another one of them.
            const needed = ancestorsOf([chosen], arcs);
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

/** By the usual place in a process, then by the order of the list. */
function comparison(tools: readonly ToolDescription[]): (a: string, b: string) => number {
  const place = new Map(tools.map((tool, index) => [tool.name, { rank: rankOf(tool) ?? 2, index }]));
  return (a, b) => {
    const left = place.get(a);
    const right = place.get(b);
    if (left === undefined || right === undefined) return compareText(a, b);
    return left.rank - right.rank || left.index - right.index;
  };
}
