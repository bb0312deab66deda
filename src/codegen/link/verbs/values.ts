import { currentSchema } from '../../../formats/json-schema/dialect.js';
import { defined } from '../../../graph/defined.js';
import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { JsonSchema } from '../../../graph/json.js';
import type { FedInput } from '../../../graph/kinds/waits.js';
import { schemaDiagnostics } from '../../schemas/tool-reading.js';
import { isNever, schemaOfValue } from '../../schemas/type-schema.js';
import { printType, withoutUndefined } from '../../syntax.js';
import { type CallSyntax, calleeName, optionOf, verbOf } from '../../verbs.js';
import { lowerExpression } from '../expressions.js';
import {
  boundToNode,
  idPart,
  type NodeCore,
  nodeValue,
  propertyOf,
  type StepNode,
  type StepOutcome,
} from '../nodes.js';
import { readOptionsOf } from '../options.js';
import { readCore } from './calls.js';
import { type Linker, refuse } from './linker.js';
import { answeringOf } from './waiting.js';

/** The verbs that ask for a value of a type, and the modes of their nodes. */
const MODES = { value: 'yield', model: 'model' } as const;

type ValueVerb = keyof typeof MODES;

/** What is asked for, and the schema of the answer. */
interface ValueRead {
  /** The options about who answers. */
  readonly answering: NonNullable<ReturnType<typeof answeringOf>>;
  readonly message: Expr;
  /** Missing where neither the type nor an option says it, which has not been reported. */
  readonly schema?: JsonSchema;
  /** Set where the schema is written out. */
  readonly isWritten?: true;
}

/** `ask.value<T>(message, options)` and `ask.model<T>(message, options)` as steps. */
export function linkValue(linker: Linker, verb: ValueVerb, call: CallSyntax): StepOutcome | undefined {
  const reading = readValue(linker, verb, call, 'arguments');
  if (reading === undefined) return undefined;
  const { message, schema, answering } = reading;
  if (schema === undefined) return refuseType(linker, verb, call);
  const core: NodeCore = { kind: 'ask', mode: MODES[verb], message, expects: schema, ...answering };
  return linker.outcome(core, linker.attempts(), boundToNode(linker.scope.id));
}

/** Reads the arguments of a verb that asks for a value; nothing where one has a fault, which is reported. */
function readValue(
  linker: Pick<Linker, 'scope' | 'values' | 'arguments'>,
  verb: ValueVerb,
  { args: [text, options], callee, type }: CallSyntax,
  from: 'values' | 'arguments',
): ValueRead | undefined {
  const { report } = linker.scope;
  if (text === undefined)
    return refuse(linker, callee.place, 'a question without a text', `write \`ask.${verb}('…')\``);
  const message = lowerExpression(text, linker[from]);
  const reading = readOptionsOf(`ask.${verb}`, options, report);
  const answering = reading && answeringOf(linker, reading);
  if (message === undefined || reading === undefined || answering === undefined) return undefined;
  if (reading.values.schema !== undefined) {
    const schema = currentSchema(reading.values.schema as JsonSchema);
    const faults = schemaDiagnostics(schema, { owner: `the schema of \`ask.${verb}\``, place: callee.place });
    for (const fault of faults) report(fault);
    return faults.length > 0 ? undefined : { message, schema, isWritten: true, answering };
  }
  const { schema } = type === undefined || isNever(type) ? {} : schemaOfValue(withoutUndefined(type));
  return { message, ...defined({ schema }), answering };
}

/** Reports a value that has no type, or one without a JSON form. */
function refuseType(
  { scope }: Pick<Linker, 'scope'>,
  verb: ValueVerb,
  { callee: { place }, type }: CallSyntax,
): undefined {
  const example = `ask.${verb}<{ title: string }>(…)`;
  const [fault] =
    type === undefined || type.kind === 'unknown' || isNever(type) ? [] : schemaOfValue(type).faults;
  const of =
    fault === undefined || type === undefined
      ? 'of an unknown type'
      : `of the type \`${printType(type)}\`, which has no JSON form,`;
  const what = `\`ask.${verb}\` for a value ${of}`;
  const hint = `write its type, \`${example}\`, or its \`schema\` as an option`;
  scope.report(diagnostic('SW2001', place, { what }, { hint }));
  return undefined;
}

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
    const reading = readValue(this.#linker, 'model', call, 'values');
    if (reading === undefined) return undefined;
    const { message, schema, isWritten = false } = reading;
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
