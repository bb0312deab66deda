import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { FedInput } from '../../../graph/kinds/waits.js';
import { type CallSyntax, calleeName, optionOf, verbOf } from '../../verbs.js';
import { idPart, type NodeCore, nodeValue, propertyOf, type StepNode } from '../nodes.js';
import { readCore } from './calls.js';
import type { Linker } from './linker.js';
import { readValue, refuseType } from './values.js';

type Path = FedInput['path'];

/** A value from a model that is asked for inside the arguments of a verb. */
interface AskedValue {
  readonly node: StepNode;
  readonly call: CallSyntax;
  /** Where the value goes in the arguments. */
  readonly path: Path;
  readonly hasSchema: boolean;
  readonly isWritten: boolean;
}

/** The nodes of reads, and of values from a model, that were written inside the arguments of one verb. */
export class HoistedNodes {
  readonly #linker: Linker;
  readonly #nodes: StepNode[] = [];
  readonly #asked: AskedValue[] = [];

  constructor(linker: Linker) {
    this.#linker = linker;
  }

  /** Gives a part of an argument a node of its own, and says what its value is. */
  add(call: CallSyntax, path: Path): Expr | undefined {
    this.#refuseOrder(call, path);
    return verbOf(call) === 'ask.model' ? this.#ask(call, path) : this.#read(call, path);
  }

  /** The nodes, in the order of writing, for the node that uses their values. */
  before(core?: NodeCore, id = this.#linker.scope.id): readonly StepNode[] {
    const fed = new Map<StepNode, StepNode>();
    for (const { node, call, path, hasSchema, isWritten } of this.#asked.splice(0)) {
      const isFed = core !== undefined && isInput(core, path, node.id);
      if (!isFed && !hasSchema) refuseType(this.#linker, 'model', call);
      if (isFed && isWritten) this.#refuseSchema(call, path);
      if (isFed && node.core.kind === 'ask')
        fed.set(node, { ...node, core: { ...node.core, feeds: { node: id, path } } });
    }
    return this.#nodes.map((node) => fed.get(node) ?? node);
  }

  #read(call: CallSyntax, path: Path): Expr | undefined {
    const core = readCore(this.#linker, call);
    if (core === undefined) return undefined;
    const { id } = this.#node(core, call, path, 'read');
    // It shares the condition of the step it belongs to.
    return { ...propertyOf(id, 'text', false), at: call.place.span };
  }

  #ask(call: CallSyntax, path: Path): Expr | undefined {
    const read = readValue(this.#linker, 'model', call, 'values');
    if (read === undefined) return undefined;
    const { message, schema, isWritten = false } = read;
    const core: NodeCore = { kind: 'ask', mode: 'model', message, expects: schema ?? {} };
    const node = this.#node(core, call, path, 'model');
    this.#asked.push({ node, call, path, hasSchema: schema !== undefined, isWritten });
    return { ...nodeValue(node.id), at: call.place.span };
  }

  #node(core: NodeCore, { place }: CallSyntax, path: Path, name: string): StepNode {
    const { scope, prefix } = this.#linker;
    const keys = path.length === 0 ? [name] : path.map(idPart);
    const id = scope.ids.next([prefix, ...keys].join('.'));
    const limit = core.kind === 'ask' ? this.#linker.limit() : {};
    const node: StepNode = { id, core, ...limit, conditions: [], source: place, hoisted: true };
    this.#nodes.push(node);
    return node;
  }

  /** It waits for what its step waits for. */
  #refuseOrder(call: CallSyntax, path: Path): void {
    const after = optionOf(call, 'after');
    if (after === undefined) return;
    const verb = calleeName(call);
    const params = { decorator: verb, option: 'after', takes: 'a step', name: path.join('.') || verb };
    this.#linker.scope.report(diagnostic('SW1021', after.place, params));
  }

  /** The schema of an input is that of its tool. */
  #refuseSchema({ args: [, options] }: CallSyntax, path: Path): void {
    if (options === undefined) return;
    const params = { decorator: 'ask.model', option: 'schema', takes: 'a step', name: path.join('.') };
    this.#linker.scope.report(diagnostic('SW1021', options.place, params));
  }
}

/** Whether the value of a node is the part of a call's input that a path leads to. */
function isInput(core: NodeCore, path: Path, id: string): boolean {
  if ((core.kind !== 'call' && core.kind !== 'workflow') || path.length === 0) return false;
  let expr: Expr | undefined = core.input;
  for (const key of path) {
    if (expr?.kind === 'list') expr = expr.items[Number(key)]?.value;
    else if (expr?.kind === 'dict')
      expr = expr.entries.flatMap((entry) => ('key' in entry && entry.key === key ? entry.value : []))[0];
    else return false;
  }
  return expr?.kind === 'ref' && expr.root === 'steps' && expr.path.length === 1 && expr.path[0] === id;
}
