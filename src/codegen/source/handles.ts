import { ts } from 'ts-morph';
import type { HandleSyntax } from '../syntax.js';
import type { HostContext } from './ast.js';
import { readExpression } from './expressions.js';
import { resolveIdentifier, resolveMember } from './symbols.js';

/** The tag and the functions that make messages of a prompt. They accept tool and resource classes. */
const MAKERS: readonly string[] = ['prompt', 'user', 'assistant', 'system'];

/**
 * The classes that a file refers to in prompt texts and messages outside workflow classes, whose steps are read as a
 * whole. A computed class is known only at run time.
 */
export function readNamedHandles(context: HostContext, source: ts.SourceFile): HandleSyntax[] {
  const names = importedNames(source);
  if (names.size === 0) return [];
  const handles: HandleSyntax[] = [];
  const open: ts.Node[] = [source];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (ts.isClassLike(node) && isWorkflow(context, node)) continue;
    const given = givenTo(node);
    const verb = given && names.has(leftmost(given.maker)) ? makerOf(context, given.maker) : undefined;
    for (const value of verb === undefined || given === undefined ? [] : given.values) {
      const handle = readExpression(context, value);
      const isClass =
        (handle.kind === 'identifier' || handle.kind === 'property') && handle.symbol?.kind === 'class';
      if (verb !== undefined && isClass) handles.push({ verb, handle });
    }
    const inner: ts.Node[] = [];
    ts.forEachChild(node, (child) => void inner.push(child));
    open.push(...inner.reverse());
  }
  return handles;
}

/** The local names by which a file may use a maker: imported names, aliases and namespaces. */
function importedNames(source: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of source.statements) {
    const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
    if (bindings === undefined) continue;
    if (ts.isNamespaceImport(bindings)) names.add(bindings.name.text);
    else
      for (const { name, propertyName } of bindings.elements)
        if (MAKERS.includes((propertyName ?? name).text)) names.add(name.text);
  }
  return names;
}

interface Given {
  readonly maker: ts.Expression;
  readonly values: readonly ts.Expression[];
}

/** The maker and the values of a tagged template or a call. */
function givenTo(node: ts.Node): Given | undefined {
  if (ts.isCallExpression(node)) return { maker: node.expression, values: node.arguments.filter(isName) };
  if (!ts.isTaggedTemplateExpression(node) || !ts.isTemplateExpression(node.template)) return undefined;
  const values = node.template.templateSpans.map(({ expression }) => expression).filter(isName);
  return { maker: node.tag, values };
}

function isName(node: ts.Expression): boolean {
  return ts.isIdentifier(node) || ts.isPropertyAccessExpression(node);
}

function leftmost(node: ts.Expression): string {
  if (ts.isPropertyAccessExpression(node)) return leftmost(node.expression);
  return ts.isIdentifier(node) ? node.text : '';
}

/** The maker that a callee or a tag refers to. */
function makerOf(context: HostContext, node: ts.Expression): string | undefined {
  const name = ownName(context, node);
  return name !== undefined && MAKERS.includes(name) ? name : undefined;
}

/** The export of this package that an expression refers to. */
function ownName(context: HostContext, node: ts.Expression): string | undefined {
  const symbol = ts.isIdentifier(node)
    ? resolveIdentifier(context, node)
    : ts.isPropertyAccessExpression(node)
      ? resolveMember(context, node)
      : undefined;
  return symbol?.kind === 'stepwright' ? symbol.name : undefined;
}

function isWorkflow(context: HostContext, node: ts.ClassLikeDeclaration): boolean {
  const decorators = ts.canHaveDecorators(node) ? (ts.getDecorators(node) ?? []) : [];
  return decorators.some(({ expression }) => {
    const callee = ts.isCallExpression(expression) ? expression.expression : expression;
    return ownName(context, callee) === 'Workflow';
  });
}
