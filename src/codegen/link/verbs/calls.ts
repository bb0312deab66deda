import { defined } from '../../../graph/defined.js';
import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { DictExpr, Expr } from '../../../graph/expression/tree.js';
import type { Compensation } from '../../../graph/kinds/node.js';
import type { WorkflowDeclaration } from '../../declarations.js';
import type { ExpressionSyntax, FunctionSymbol } from '../../syntax.js';
import { type CallSyntax, isChain, stepVerbOf, symbolOf, unwrap } from '../../verbs.js';
import { lowerDict, lowerExpression } from '../expressions.js';
import { lowerAddress } from '../interpolation.js';
import {
  boundTo,
  boundToNode,
  boundToProperty,
  type NodeCore,
  nodeValue,
  type StepOutcome,
} from '../nodes.js';
import { type CallOptionsRead, readCallOptions, readOptionsOf } from '../options.js';
import { readArrow } from '../scope.js';
import type { Linker } from './linker.js';

/** `call(Tool, input, options)`. */
export function linkCall(linker: Linker, call: CallSyntax): StepOutcome | undefined {
  const [handle, , given] = call.args;
  const { scope } = linker;
  const tool = scope.handles.tool(handle, 'call', call.callee.place);
  const options = readCallOptions('call', given, scope.report);
  const transform = options?.transform && unwrap(options.transform);
  const named = transform && symbolOf(transform);
  const isNamed = named?.kind === 'function';
  const id = options?.id ?? (isNamed ? scope.ids.next(`${linker.prefix}.call`) : scope.id);
  const input = inputOf(linker, call);
  if (options === undefined || isGivenTwice(linker, 'call', options)) return undefined;
  const bind = transform === undefined || isNamed ? boundToNode(id) : transformed(linker, transform, id);
  const compensate = options.compensate && linkCompensation(linker, options.compensate, id);
  if (tool === undefined || input === undefined || bind === undefined) return undefined;
  if (options.compensate !== undefined && compensate === undefined) return undefined;
  const core = { kind: 'call', tool: tool.name, input } as const;
  const { executor } = call;
  const more = { ...linker.attempts(options), ...defined({ compensate, executor }) };
  const source = isNamed ? call.place : scope.source;
  const called = linker.outcome(core, { ...more, id, source }, bind);
  if (transform === undefined || !isNamed) return called;
  const computed = linkNamed(linker, named, transform, [nodeValue(id)]);
  const [last] = computed?.nodes.slice(-1) ?? [];
  return computed && last && { nodes: [...called.nodes, last], bind: computed.bind };
}

/** The input of a tool or a workflow; empty if the argument is absent. */
function inputOf(linker: Linker, { args: [, given], place }: CallSyntax): DictExpr | undefined {
  return given === undefined || given.kind === 'undefined'
    ? { kind: 'dict', at: place.span, entries: [] }
    : lowerDict(given, linker.arguments);
}

/** `transform: (out) => …`: the name is bound to the expression over the output. */
function transformed(
  linker: Linker,
  transform: ExpressionSyntax,
  id: string,
): StepOutcome['bind'] | undefined {
  const arrow = readArrow(transform, 'transform', 1, linker.scope.report);
  const body = arrow && linker.inside(arrow, { kind: 'value', expr: nodeValue(id) });
  return body && boundTo(body);
}

/** Reports options that a step's own call and @Step both have. */
export function isGivenTwice(
  { scope: { step, report, id, ownId } }: Linker,
  verb: string,
  { syntax }: CallOptionsRead,
): boolean {
  // Inside a chain the options of @Step are the defaults of its calls.
  const isAlone = !isChain(step.initializer);
  const twice = Object.entries(syntax).filter(
    ([option]) =>
      // What a step waits for is read with its order.
      option !== 'after' &&
      id === ownId &&
      (isAlone || option === 'id') &&
      Object.hasOwn(step.optionSyntax, option),
  );
  for (const [option, { place }] of twice) {
    const other = step.optionSyntax[option]?.place ?? step.place;
    const related = [{ message: 'the other one is here', place: other }];
    const params = { what: `\`${option}\``, first: `\`${verb}\``, second: '@Step' };
    report(diagnostic('SW1020', place, params, { related }));
  }
  return twice.length > 0;
}

/** `compensate: (out) => call(Tool, input)`: how to undo a call, given the tool's output. */
function linkCompensation(linker: Linker, syntax: ExpressionSyntax, id: string): Compensation | undefined {
  const { handles, report } = linker.scope;
  const arrow = readArrow(syntax, 'compensate', 1, report);
  if (arrow === undefined) return undefined;
  const undo = unwrap(arrow.body);
  if (undo.kind !== 'call' || stepVerbOf(undo) !== 'call') {
    report(diagnostic('SW2006', undo.place, {}));
    return undefined;
  }
  const [handle, given, options] = undo.args;
  const tool = handles.tool(handle, 'call', undo.callee.place);
  const locals = linker.withLocals(arrow, { kind: 'value', expr: nodeValue(id) });
  const nothing: DictExpr = { kind: 'dict', at: undo.place.span, entries: [] };
  const input = given === undefined ? nothing : lowerDict(given, { ...linker.values, locals });
  const reading = readCallOptions('call', options, report);
  for (const [option, { place }] of Object.entries(reading?.syntax ?? {})) {
    const params = { decorator: 'call', option, takes: 'a call that is a step', name: 'compensate' };
    report(diagnostic('SW1021', place, params));
  }
  const isPlain = reading !== undefined && Object.keys(reading.syntax).length === 0;
  return tool === undefined || input === undefined || !isPlain ? undefined : { tool: tool.name, input };
}

/** `run(Workflow, args, options)`. */
export function linkRun(linker: Linker, call: CallSyntax): StepOutcome | undefined {
  const [handle, , given] = call.args;
  const { scope } = linker;
  const workflow = scope.handles.workflow(handle, 'run', call.callee.place);
  const options = readCallOptions('run', given, scope.report);
  const input = inputOf(linker, call);
  if (options === undefined || isGivenTwice(linker, 'run', options)) return undefined;
  if (workflow === undefined || input === undefined) return undefined;
  const named = withArgumentNames(linker, call, workflow, input);
  if (named === undefined) return undefined;
  const id = options.id ?? scope.id;
  return linker.outcome(
    { kind: 'workflow', workflow: workflow.name, input: named },
    { ...linker.attempts(options), id },
  );
}

/** The input by the names of arguments: authors write the fields. */
function withArgumentNames(
  { scope: { report } }: Linker,
  { args: [, given], callee }: CallSyntax,
  { name: workflow, args }: WorkflowDeclaration,
  input: DictExpr,
): DictExpr | undefined {
  const [renamed] = args.filter(({ name, argument }) => name !== argument);
  if (renamed === undefined) return input;
  if (!input.entries.every((entry) => 'key' in entry)) {
    const { name: field, argument } = renamed;
    report(diagnostic('SW1051', given?.place ?? callee.place, { workflow, argument, field }));
    return undefined;
  }
  const names = new Map(args.map(({ name, argument }) => [name, argument]));
  const entries = input.entries.map((entry) =>
    'key' in entry && typeof entry.key === 'string'
      ? { ...entry, key: names.get(entry.key) ?? entry.key }
      : entry,
  );
  return { ...input, entries };
}

/** An exported function: the host calls it with the values of its arguments. */
export function linkFunction(
  linker: Linker,
  symbol: FunctionSymbol,
  { args, callee: { place } }: CallSyntax,
): StepOutcome | undefined {
  const reference = linker.scope.functions.refer(symbol, place);
  const values = args.map((arg) => lowerExpression(arg, linker.arguments));
  if (reference === undefined || !values.every((value) => value !== undefined)) return undefined;
  const value: Expr = { kind: 'list', at: place.span, items: values.map((each) => ({ value: each })) };
  return linker.outcome({ kind: 'compute', value, function: reference }, linker.limit());
}

/** A function that is given by its name, and called with these values. */
export function linkNamed(
  linker: Linker,
  symbol: FunctionSymbol,
  { place }: Pick<CallSyntax, 'place'>,
  args: readonly Expr[],
  { id, source } = linker.scope,
): StepOutcome | undefined {
  const reference = linker.scope.functions.refer(symbol, place);
  if (reference === undefined) return undefined;
  const at = place.span;
  const value: Expr = { kind: 'list', at, items: args.map((arg) => ({ value: { ...arg, at } })) };
  const core: NodeCore = { kind: 'compute', value, function: reference };
  return linker.outcome(core, { ...linker.limit(), id, source }, boundToNode(id));
}

/** `read(Resource, variables)`: the value is its text. */
export function linkRead(linker: Linker, call: CallSyntax): StepOutcome | undefined {
  const core = readCore(linker, call);
  if (core === undefined) return undefined;
  const reading = linker.outcome(core, linker.attempts(), boundToProperty(linker.scope.id, 'text'));
  return { ...reading, standIn: standInFor('text') };
}

export function readCore(
  { scope, values }: Pick<Linker, 'scope' | 'values'>,
  call: CallSyntax,
): Extract<NodeCore, { kind: 'resource' }> | undefined {
  const addressed = lowerAddress(call, 'read', scope, (part) => lowerExpression(part, values));
  const options = readOptionsOf('read', call.args[2], scope.report);
  return addressed && options && { kind: 'resource', resource: addressed.resource.name, uri: addressed.uri };
}

/** Makes a node's value of the value of one property. */
export function standInFor(key: string): (value: Expr) => Expr {
  return (value) => ({ kind: 'dict', ...defined({ at: value.at }), entries: [{ key, value }] });
}

/** `set(State, value)`: the value is the one that was written. */
export function linkSet(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [handle, given, settings] = args;
  const state = linker.scope.handles.state(handle, 'set', callee.place);
  const value = linker.argument(given, callee.place);
  const options = readOptionsOf('set', settings, linker.scope.report);
  if (state === undefined || value === undefined || options === undefined) return undefined;
  const field = state.name;
  const core = { kind: 'set', updates: [{ field, value }] } as const;
  const written = linker.outcome(core, {}, boundToProperty(linker.scope.id, field));
  return { ...written, standIn: standInFor(field) };
}
