import { lowerTemplate, type TemplatePosition } from '../../formats/jinja/lower.js';
import { TemplateFault } from '../../formats/jinja/tokens.js';
import { defined } from '../../graph/defined.js';
import { diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { guidanceText } from '../../graph/guidance.js';
import { nearestName } from '../../graph/names.js';
import type { SourceLocation, Span } from '../../graph/source-location.js';
import { addressExpr, linkExpr, parseUriTemplate } from '../../graph/uri.js';
import type { ResourceDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { type CallSyntax, symbolOf, unwrap } from '../verbs.js';
import { describe, print } from './describe.js';
import type { Bindings, ExpressionScope } from './scope.js';

/** The text of `prompt`: a tool or a workflow is printed as its name, a resource as its address. */
export function lowerPromptText(
  { parts, place }: Extract<ExpressionSyntax, { kind: 'tagged' }>,
  scope: ExpressionScope,
  lower: (part: ExpressionSyntax) => Expr | undefined,
): Expr | undefined {
  const lowered = parts.map((part) => (typeof part === 'string' ? part : lowerPart(part, scope, lower)));
  if (!lowered.every((part) => part !== undefined)) return undefined;
  return { kind: 'text', at: place.span, style: 'display', parts: joined(lowered) };
}

function lowerPart(
  part: ExpressionSyntax,
  { handles }: ExpressionScope,
  lower: (part: ExpressionSyntax) => Expr | undefined,
): string | Expr | undefined {
  const symbol = symbolOf(unwrap(part));
  return symbol?.kind === 'class' || symbol?.kind === 'unresolved' ? handles.text(part) : lower(part);
}

/** Texts side by side as one. */
function joined(parts: readonly (string | Expr)[]): readonly (string | Expr)[] {
  const whole: (string | Expr)[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (typeof part === 'string' && typeof last === 'string') whole[whole.length - 1] = last + part;
    else whole.push(part);
  }
  return whole;
}

/**
 * Turns guidance into text with values in it. `{name}` and `{name.field}` refer to an argument or an earlier step,
 * doubled braces are braces. Faulty references are reported and left out.
 */
export function lowerGuidance(
  syntax: ExpressionSyntax,
  bindings: Bindings,
  report: Report,
): Expr | undefined {
  const literal = unwrap(syntax);
  // The option's rule admits text only.
  if (literal.kind !== 'literal' || typeof literal.value !== 'string') return undefined;
  const text = literal.value;
  const { file, span } = literal.place;
  return guidanceText(
    text,
    span,
    ({ text: name, root, at }) => {
      const binding = root === undefined ? undefined : bindings.find(root);
      if (binding?.kind === 'value') return binding.expr;
      if (binding?.kind === 'faulty') return undefined;
      const { hint, ...names } = root === undefined || binding !== undefined ? {} : bindings.hintFor(root);
      report(diagnostic('SW3006', { file, span: at }, { name, ...names }, { hint }));
      return undefined;
    },
    (start, end) => (literal.verbatim ? spanOf(text, start, end, span) : span),
  );
}

/** The span of a part of a literal whose text is verbatim in the source. */
function spanOf(text: string, start: number, end: number, literal: Span): Span {
  return [...positionOf(text, start, literal), ...positionOf(text, end, literal)];
}

function positionOf(
  text: string,
  offset: number,
  [line, column]: Span,
): readonly [line: number, column: number] {
  const before = text.slice(0, offset).split('\n');
  const last = before.at(-1) ?? '';
  // The first line starts after the quote.
  return [line + before.length - 1, before.length === 1 ? column + 1 + last.length : last.length + 1];
}

type Lower = (syntax: ExpressionSyntax) => Expr | undefined;

/** What `read` and `link` name: a resource and its address. */
export interface Addressed {
  readonly resource: ResourceDeclaration;
  readonly uri: Expr;
}

/** The resource of `verb(Resource, variables)` and its address; nothing where a part of it was reported. */
export function lowerAddress(
  { args, callee, place }: CallSyntax,
  verb: 'read' | 'link',
  scope: Pick<ExpressionScope, 'handles' | 'report'>,
  lower: Lower,
): Addressed | undefined {
  const [handle, given] = args;
  const resource = scope.handles.resource(handle, verb, callee.place);
  const variables = readVariables(given, scope, lower);
  if (resource === undefined || variables === undefined) return undefined;
  const cached = resource.variables ?? [];
  let isWhole = true;
  const missing = cached.filter((variable) => variables.every(({ name }) => name !== variable));
  const unknown = variables.filter(({ name }) => !cached.includes(name));
  const suggested = new Set<string | undefined>();
  for (const { name, place: at } of unknown) {
    const suggestion = nearestName(name, cached) ?? (unknown.length === 1 ? missing[0] : undefined);
    suggested.add(suggestion);
    const hint =
      verb === 'read' && name === 'after'
        ? 'options follow the variables: `read(Guide, {}, { after: … })`'
        : undefined;
    scope.report(diagnostic('SW3008', at, { resource: resource.name, variable: name, suggestion }, { hint }));
    isWhole = false;
  }
  for (const variable of missing) {
    if (suggested.has(variable)) continue;
    const at = given?.place ?? place;
    scope.report(diagnostic('SW3009', at, { resource: resource.name, verb, variable }));
    isWhole = false;
  }
  if (!isWhole || variables.some(({ value }) => value === undefined)) return undefined;
  const span = (handle ?? callee).place.span;
  const values = new Map(variables.map(({ name, value }) => [name, value]));
  return { resource, uri: addressOf(resource, values, span) };
}

interface Variable {
  readonly name: string;
  readonly place: SourceLocation;
  /** Missing where a fault in it was reported. */
  readonly value: Expr | undefined;
}

function readVariables(
  argument: ExpressionSyntax | undefined,
  scope: Pick<ExpressionScope, 'report'>,
  lower: Lower,
): readonly Variable[] | undefined {
  const syntax = argument && unwrap(argument);
  if (syntax === undefined || syntax.kind === 'undefined') return [];
  const refuse = (place: SourceLocation, what: string): undefined => {
    const hint = 'write the variables one by one: `{ name: this.name }`';
    scope.report(diagnostic('SW2001', place, { what }, { hint }));
    return undefined;
  };
  if (syntax.kind !== 'object') return refuse(syntax.place, describe(syntax));
  const variables: Variable[] = [];
  let isWhole = true;
  for (const entry of syntax.entries) {
    if ('value' in entry) {
      variables.push({ name: entry.key, place: entry.keyPlace, value: lower(entry.value) });
      continue;
    }
    if ('spread' in entry) refuse(entry.spread.place, 'a spread in the variables of an address');
    else refuse(entry.place, entry.unsupported);
    isWhole = false;
  }
  return isWhole ? variables : undefined;
}

/** The address as text, in which the values are percent-encoded. */
function addressOf(
  { uri, variables }: ResourceDeclaration,
  values: ReadonlyMap<string, Expr | undefined>,
  at: Expr['at'] & {},
): Expr {
  const template = variables === undefined ? undefined : parseUriTemplate(uri);
  if (template === undefined || 'why' in template) return { kind: 'literal', at, value: uri };
  return addressExpr(template.parts, (name) => values.get(name) ?? { kind: 'literal', at }, at);
}

/** `link(Resource)`: the resource as MCP's `resource_link`, which names it and does not read it. */
export function lowerLink(syntax: CallSyntax, scope: ExpressionScope, lower: Lower): Expr | undefined {
  const addressed = lowerAddress(syntax, 'link', scope, lower);
  if (addressed === undefined) return undefined;
  const { name, title, description, mimeType } = addressed.resource;
  return linkExpr(addressed.uri, { name, title, description, mimeType }, syntax.place.span);
}

/** `statusOf(this.step)` and `errorOf(this.step)`: how an earlier step settled. */
export function lowerSettled(
  verb: 'statusOf' | 'errorOf',
  { args: [step], callee, place }: CallSyntax,
  { bindings, report }: ExpressionScope,
): Expr | undefined {
  const refuse = (value: string, hint?: string): undefined => {
    const params = { taker: `\`${verb}\``, takes: 'an earlier step, such as `this.step`', actual: value };
    report(diagnostic('SW2008', step?.place ?? callee.place, params, { hint }));
    return undefined;
  };
  const inner = step && unwrap(step);
  if (inner === undefined) return refuse('nothing');
  if (inner.kind !== 'property' || unwrap(inner.object).kind !== 'this') return refuse(`\`${print(inner)}\``);
  const binding = bindings.resolve(inner.name, inner.namePlace);
  if (binding === undefined) return undefined;
  const settling = bindings.settlingOf(inner.name);
  // What is faulty has been reported.
  if (settling === undefined) return binding.kind === 'faulty' ? undefined : refuse('an argument');
  if (settling.kind === 'none') return refuse(settling.why, settling.hint);
  const field = verb === 'statusOf' ? 'status' : 'error';
  return { kind: 'ref', at: place.span, root: 'nodes', path: [settling.id, field] };
}

/** `` jinja`…` ``: the value of a template, in which each `${value}` is a name. */
export function lowerJinja(
  { args: [template], callee, place }: CallSyntax,
  { report }: Pick<ExpressionScope, 'report'>,
  position: TemplatePosition,
  lower: (part: ExpressionSyntax) => Expr | undefined,
): Expr | undefined {
  const refuse = (what: string, hint?: string): undefined => {
    report(diagnostic('SW2001', place, { what }, { hint }));
    return undefined;
  };
  if (template?.kind !== 'template')
    return refuse(
      '`jinja` without a template',
      `write the template behind it: ${callee.kind === 'identifier' ? callee.name : 'jinja'}\`{{ … }}\``,
    );
  const names = new Map<string, Expr>();
  let text = '';
  let isWhole = true;
  for (const part of template.parts) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    const value = lower(part);
    const name = `__value${names.size + 1}__`;
    names.set(name, value === undefined ? { kind: 'literal' } : asVariable(value));
    text += isInBlock(text) ? name : `{{ ${name} }}`;
    isWhole &&= value !== undefined;
  }
  if (!isWhole) return undefined;
  try {
    return lowerTemplate(text, position, { inputs: [], state: [], names, at: () => place.span });
  } catch (fault) {
    if (!(fault instanceof TemplateFault)) throw fault;
    const hint = `insert values of the workflow: \`{{ \${this.name} }}\``;
    for (const each of [fault, ...fault.further])
      refuse(`a template with a fault (${each.message})`, each.hint ?? hint);
    return undefined;
  }
}

/** Whether what follows a text is inside `{{ … }}` or `{% … %}`. */
function isInBlock(text: string): boolean {
  const opening = Math.max(text.lastIndexOf('{{'), text.lastIndexOf('{%'));
  return opening > Math.max(text.lastIndexOf('}}'), text.lastIndexOf('%}'));
}

/** Templates read inputs and state without a fault where a part of them is missing. */
function asVariable(value: Expr): Expr {
  if (value.kind !== 'ref' || (value.root !== 'inputs' && value.root !== 'state')) return value;
  return { ...value, ...defined({ find: value.find ?? ('optional' as const) }) };
}
