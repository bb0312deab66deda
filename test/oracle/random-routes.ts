import type { Node } from '../../src/graph/model.js';
import { call, dict, lit, node, step } from './build.js';
import type { Maker } from './random-graph.js';
import { scopesIn } from './walk.js';

/**
 * Leads branches and fallbacks of a scope to nodes behind them, and gives a `parallel` the node that undoes. Ways that
 * were left open find their target here; where there is none behind, one is added.
 */
export function addRoutes(maker: Maker, nodes: Node[]): void {
  const { tape } = maker;
  for (let index = 0; index < nodes.length; index += 1) {
    const here = nodes[index];
    if (here === undefined) continue;
    const target = (): string => {
      // What may be undone later by what is around it is undone here on the way.
      const calls = nodes.slice(0, index).flatMap((each) => visibleIn(each).filter(isCall));
      if (calls.length > 0 && tape.chance(15)) {
        const undoer = compensator(maker, calls);
        nodes.push(undoer);
        return undoer.id;
      }
      const behind = nodes.slice(index + 1).filter(({ kind }) => kind !== 'compensate' && kind !== 'goto');
      if (behind.length === 0 || tape.chance(25)) {
        const added = tape.chance(20)
          ? node('error', maker.name('e'), { message: lit('sorry'), code: 'SORRY' })
          : call(maker.name('c'));
        nodes.push(added);
        return added.id;
      }
      const found = tape.of(behind);
      if (tape.chance(60)) nodes[nodes.indexOf(found)] = { ...found, after: [] };
      return found.id;
    };
    let changed = here;
    if (changed.kind === 'branch' && changed.cases.some((arm) => 'goto' in arm)) {
      const { else: otherwise } = changed;
      changed = {
        ...changed,
        cases: changed.cases.map((arm) => ({ id: arm.id, when: arm.when, goto: target() })),
      };
      if (otherwise !== undefined) changed = { ...changed, else: { id: otherwise.id, goto: target() } };
    }
    if (changed.onError !== undefined && 'fallbackNode' in changed.onError)
      changed = { ...changed, onError: { fallbackNode: target() } };
    if (changed.kind === 'parallel' && changed.onPartialFailure === 'rollback' && tape.chance(35)) {
      const inside = changed.branches.flatMap(({ body }) => body.nodes.flatMap(visibleIn));
      const undoer = compensator(maker, inside);
      changed = { ...changed, compensateNode: undoer.id };
      nodes[index] = changed;
      nodes.splice(index + 1, 0, undoer);
    }
    nodes[index] = changed;
  }
}

/** Undoes some of the calls inside, in another order than that of completion. */
function compensator({ tape, name }: Maker, inside: readonly Node[]): Node {
  const some = tape.some([...inside].reverse(), 75);
  const undone = some.length > 0 ? some : inside.slice(0, 1);
  const steps = undone.map(({ id, compensate }) => {
    // The same as what the call says, or nearly the same.
    const same = compensate !== undefined && tape.chance(70);
    const { tool, input } = same ? compensate : { tool: `revert_${id}`, input: dict({ of: step(id) }) };
    return { tool, input, ...(tape.chance(40) ? { ignoreError: true } : {}) };
  });
  return node('compensate', name('u'), { steps });
}

/** A node and what is visible of it from outside: nothing inside a loop is. */
function visibleIn(node: Node): Node[] {
  const inner =
    node.kind === 'foreach' ? [] : scopesIn(node).flatMap(({ nodes }) => nodes.flatMap(visibleIn));
  return [node, ...inner];
}

function isCall({ kind }: Node): boolean {
  return kind === 'call';
}
