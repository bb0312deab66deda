import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { DictExpr } from '../../../graph/expression/tree.js';
import type { Compensation } from '../../../graph/model.js';
import { isChain } from '../../outcomes.js';
import type { ExpressionSyntax } from '../../syntax.js';
import { type CallSyntax, stepVerbOf, symbolOf, unwrap } from '../../verbs.js';
import { readArrow } from '../arrows.js';
import { lowerDict } from '../expressions.js';
import { type CallOptionsRead, readCallOptions } from '../options.js';
import { boundTo, boundToNode, nodeValue, type StepOutcome } from '../outcome.js';
import { linkNamed } from './function.js';
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
  const more = { ...linker.attempts(options), ...(compensate === undefined ? {} : { compensate }) };
  const source = isNamed ? call.place : scope.source;
  const called = linker.outcome(core, { ...more, id, source }, bind);
  if (transform === undefined || !isNamed) return called;
  const computed = linkNamed(linker, named, transform, [nodeValue(id)]);
  const [last] = computed?.nodes.slice(-1) ?? [];
  return computed && last && { nodes: [...called.nodes, last], bind: computed.bind };
}

/** The input of a tool or a workflow; nothing that is given counts as an empty one. */
export function inputOf(linker: Linker, { args: [, given], place }: CallSyntax): DictExpr | undefined {
  return given === undefined || given.kind === 'undefined'
    ? { kind: 'dict', at: place.span, entries: [] }
    : lowerDict(given, linker.arguments);
}

/** `transform: (out) => …`: the name stands for the expression over the output. */
function transformed(
  linker: Linker,
  transform: ExpressionSyntax,
  id: string,
): StepOutcome['bind'] | undefined {
  const arrow = readArrow(transform, 'transform', 1, linker.scope.report);
  const body = arrow && linker.inside(arrow, { kind: 'value', expr: nodeValue(id) });
  return body && boundTo(body);
}

/** An option of a step's own call may stand beside the call or in @Step, once. */
export function isGivenTwice(
  { scope: { step, report, id, ownId } }: Linker,
  verb: string,
  { syntax }: CallOptionsRead,
): boolean {
  // Inside a chain the step's own options are what its calls fall back on.
  const isAlone = !isChain(step.initializer);
  const twice = Object.entries(syntax).filter(
    ([option]) => id === ownId && (isAlone || option === 'id') && Object.hasOwn(step.optionSyntax, option),
  );
  for (const [option, { place }] of twice) {
    const other = step.optionSyntax[option]?.place ?? step.place;
    const related = [{ message: 'the other one is here', place: other }];
    const params = { what: `\`${option}\``, first: `\`${verb}\``, second: '@Step' };
    report(diagnostic('SW1020', place, params, { related }));
  }
  return twice.length > 0;
}

/** `compensate: (out) => call(Tool, input)`: how a call is undone, of what the tool gave. */
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
  const read = readCallOptions('call', options, report);
  for (const [option, { place }] of Object.entries(read?.syntax ?? {})) {
    const params = { decorator: 'call', option, takes: 'a call that is a step', name: 'compensate' };
    report(diagnostic('SW1021', place, params));
  }
  const isPlain = read !== undefined && Object.keys(read.syntax).length === 0;
  return tool === undefined || input === undefined || !isPlain ? undefined : { tool: tool.name, input };
}
