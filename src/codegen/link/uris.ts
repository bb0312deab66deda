import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { DictEntry, Expr } from '../../graph/expression/tree.js';
import type { Place } from '../../graph/place.js';
import { nearestName } from '../../graph/suggest.js';
import { parseUriTemplate } from '../../graph/uri-template.js';
import type { ResourceDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { type CallSyntax, unwrap } from '../verbs.js';
import { describe } from './describe.js';
import type { ExpressionScope } from './scope.js';

type Lower = (syntax: ExpressionSyntax) => Expr | undefined;

/** What `read` and `link` name: a resource, and where it is. */
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
  const known = resource.variables ?? [];
  let isWhole = true;
  for (const { name, place: at } of variables) {
    if (known.includes(name)) continue;
    const suggestion = nearestName(name, known);
    scope.report(diagnostic('SW3008', at, { resource: resource.name, variable: name, suggestion }));
    isWhole = false;
  }
  for (const variable of known) {
    if (variables.some(({ name }) => name === variable)) continue;
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
  readonly place: Place;
  /** Missing where a fault in it was reported. */
  readonly value: Expr | undefined;
}

function readVariables(
  given: ExpressionSyntax | undefined,
  scope: Pick<ExpressionScope, 'report'>,
  lower: Lower,
): readonly Variable[] | undefined {
  const syntax = given && unwrap(given);
  if (syntax === undefined || syntax.kind === 'undefined') return [];
  const refuse = (place: Place, what: string): undefined => {
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
  const parts = template.parts
    .filter((part) => part !== '')
    .map((part): string | Expr => {
      if (typeof part === 'string') return part;
      const value: Expr = values.get(part.name) ?? { kind: 'literal', at };
      const fn = part.reserved ? 'uriReserved' : 'uriComponent';
      return { kind: 'call', at: value.at ?? at, fn, args: [value] };
    });
  return { kind: 'text', at, style: 'js', parts };
}

/** `link(Resource)`: the resource as MCP's `resource_link`, which names it and does not read it. */
export function lowerLink(syntax: CallSyntax, scope: ExpressionScope, lower: Lower): Expr | undefined {
  const addressed = lowerAddress(syntax, 'link', scope, lower);
  if (addressed === undefined) return undefined;
  const at = syntax.place.span;
  const { name, title, description, mimeType } = addressed.resource;
  const texts = Object.entries({ name, title, description, mimeType }).flatMap(([key, value]): DictEntry[] =>
    value === undefined ? [] : [{ key, value: { kind: 'literal', at, value } }],
  );
  return {
    kind: 'dict',
    at,
    entries: [
      { key: 'type', value: { kind: 'literal', at, value: 'resource_link' } },
      { key: 'uri', value: addressed.uri },
      ...texts,
    ],
  };
}
