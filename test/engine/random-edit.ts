import type { Expr } from '../../src/graph/expression/tree.js';
import type { Json } from '../../src/graph/json.js';
import type { Graph, Node, Scope } from '../../src/graph/model.js';
import { bodiesOf, withBodies } from '../../src/graph/nodes.js';
import { coalesce, dict, lit, ref, step } from '../oracle/build.js';
import { Tape } from '../oracle/tape.js';

/** What an edit may change. Default: everything. */
export interface Bounds {
  /** Whether a node has not started, by id. */
  isFree(id: string): boolean;
  /** Whether a node has not settled. */
  isOpen(id: string): boolean;
}

/** The graph with one to three changes, in any scope of it or of its tasks. */
export function editOf(graph: Graph, numbers: readonly number[], bounds?: Bounds): Graph {
  const tape = new Tape(numbers);
  let edited = graph;
  for (let count = 1 + tape.below(2); count > 0; count -= 1) {
    const editor = new Editor(tape, bounds, count);
    const { tasks = [] } = edited;
    if (tasks.length > 0 && tape.chance(20)) {
      const chosen = tape.below(tasks.length);
      edited = {
        ...edited,
        tasks: tasks.map((task, index) => (index === chosen ? editor.workflow(task) : task)),
      };
    } else edited = editor.workflow(edited);
  }
  return edited;
}

class Editor {
  readonly #tape: Tape;
  readonly #bounds: Bounds | undefined;
  readonly #number: number;

  constructor(tape: Tape, bounds: Bounds | undefined, number: number) {
    this.#tape = tape;
    this.#bounds = bounds;
    this.#number = number;
  }

  workflow(graph: Graph): Graph {
    const { nodes } = this.#scope({ nodes: graph.nodes });
    return { ...graph, nodes };
  }

  #scope(scope: Scope): Scope {
    const tape = this.#tape;
    const inner = scope.nodes.filter((node) => bodiesOf(node).length > 0 && this.#isFree(node.id));
    if (inner.length > 0 && tape.chance(40)) {
      const chosen = tape.of(inner);
      const bodies = bodiesOf(chosen);
      const at = tape.below(bodies.length);
      let index = -1;
      const changed = withBodies(chosen, (body) => {
        index += 1;
        return index === at ? this.#scope(body) : body;
      });
      return { ...scope, nodes: scope.nodes.map((node) => (node === chosen ? changed : node)) };
    }
    return { ...scope, nodes: this.#edited(scope.nodes) };
  }

  #edited(nodes: readonly Node[]): readonly Node[] {
    const tape = this.#tape;
    const kind = tape.weighted({
      change: 5,
      add: 5,
      remove: 2,
      order: 1,
      swap: this.#bounds === undefined ? 1 : 0,
    });
    const some = nodes.filter(({ id }) => this.#isFree(id));
    if (kind === 'add' || some.length === 0) return this.#added(nodes);
    const chosen = tape.of(some);
    const replace = (node: Node): readonly Node[] => nodes.map((each) => (each === chosen ? node : each));
    switch (kind) {
      case 'change':
        return replace(this.#changed(chosen));
      case 'remove':
        return nodes.filter((each) => each !== chosen);
      case 'order':
        return replace({ ...chosen, after: this.#after(nodes.slice(0, nodes.indexOf(chosen))) });
      case 'swap':
        return [...nodes].reverse();
      default:
        return kind satisfies never;
    }
  }

  #isFree(id: string): boolean {
    return this.#bounds?.isFree(id) !== false;
  }

  /** Some earlier nodes, and within bounds one that has not settled, where there is one. */
  #after(before: readonly Node[]): readonly string[] {
    const tape = this.#tape;
    const open = before.filter(({ id }) => this.#bounds?.isOpen(id) === true);
    const some = tape.some(
      before.map(({ id }) => id),
      30,
    );
    return [...new Set([...(open.length === 0 ? [] : [tape.of(open).id]), ...some])];
  }

  #added(nodes: readonly Node[]): readonly Node[] {
    const tape = this.#tape;
    const open = nodes.findIndex(({ id }) => this.#bounds?.isOpen(id) === true);
    const least = this.#bounds === undefined ? 0 : open + 1;
    const at = least + tape.below(nodes.length + 1 - least);
    const id = `new${this.#number}`;
    const before = nodes.slice(0, at);
    const base = {
      id,
      after: this.#after(before),
      join: tape.of(['none_failed', 'all_done'] as const),
      executor: 'server',
    } as const;
    return [...before, this.#node(base, before), ...nodes.slice(at)];
  }

  #node(base: Pick<Node, 'id' | 'after' | 'join' | 'executor'>, before: readonly Node[]): Node {
    const tape = this.#tape;
    const kind = tape.weighted({
      call: 6,
      ask: 3,
      compute: 3,
      set: 2,
      return: 1,
      error: 1,
      back: 1,
      branch: 2,
    });
    const value = this.#value(before);
    switch (kind) {
      case 'call':
        return { ...base, kind, tool: `t_${base.id}`, input: dict({ a: value }) };
      case 'ask':
        return { ...base, kind, mode: 'confirm', message: lit('sure?') };
      case 'compute':
        return { ...base, kind, value };
      case 'set':
        return { ...base, kind, updates: [{ field: 'count', value: lit(tape.below(9)) }] };
      case 'return':
        return { ...base, kind, value };
      case 'error':
        return { ...base, kind, message: lit('no') };
      case 'back': {
        const target = before.length === 0 ? base.id : tape.of(before).id;
        return { ...base, kind: 'goto', target, max: 1, onLimit: 'continue' };
      }
      case 'branch': {
        const free = before.filter((node) => this.#isFree(node.id));
        const goto = free.length === 0 ? undefined : tape.of(free).id;
        const inner = {
          ...base,
          id: `${base.id}x`,
          after: [],
          kind: 'call',
          tool: 't_x',
          input: dict({}),
        } as const;
        return {
          ...base,
          kind,
          cases: [{ id: 'one', when: lit(true), body: { nodes: [inner] } }],
          ...(goto === undefined || tape.chance(70) ? {} : { else: { id: 'two', goto } }),
        };
      }
      default:
        return kind satisfies never;
    }
  }

  #value(before: readonly Node[]): Expr {
    const tape = this.#tape;
    const steps = before.map(({ id }) => id);
    if (steps.length > 0 && tape.chance(40)) return coalesce(step(tape.of(steps)), lit('none'));
    return tape.chance(40) ? ref('state', 'count') : lit(tape.of<Json>([1, 'x', true]));
  }

  #changed(node: Node): Node {
    const tape = this.#tape;
    const own = tape.chance(60);
    if (own && node.kind === 'call')
      return { ...node, input: dict({ a: lit(tape.below(9)), z: lit('changed') }) };
    if (own && node.kind === 'ask') return { ...node, message: lit('changed?') };
    if (own && node.kind === 'compute' && node.function === undefined)
      return { ...node, value: lit('changed') };
    if (own && node.kind === 'return') return { ...node, value: lit('changed') };
    if (tape.chance(50)) return { ...node, when: tape.of([lit(true), lit(false), ref('state', 'count')]) };
    return { ...node, join: node.join === 'all_done' ? 'none_failed' : 'all_done' };
  }
}
