import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { DictExpr } from '../../../graph/expression/tree.js';
import type { Compensation } from '../../../graph/model.js';
import type { ExpressionSyntax } from '../../syntax.js';
import { stepVerbOf, unwrap } from '../../verbs.js';
import { readArrow } from '../arrows.js';
import { readCallOptions } from '../call-options.js';
import { lowerDict } from '../expressions.js';
import { nodeValue } from '../outcome.js';
import type { Linker } from './linker.js';

/** `compensate: (out) => call(Tool, input)`: how a call is undone, of what the tool gave. */
export function linkCompensation(
  linker: Linker,
  syntax: ExpressionSyntax,
  id: string,
): Compensation | undefined {
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
