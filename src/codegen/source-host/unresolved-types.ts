import { ts } from 'ts-morph';
import type { UnresolvedType } from '../syntax.js';
import { type HostContext, placeOf } from './context.js';
import { specifierOf } from './missing-exports.js';
import { childrenOf, eachNode } from './nesting.js';

/** The first name in a written type that leads nowhere; nothing where the type was meant to be `any`. */
export function unresolvedIn(
  context: HostContext,
  written: ts.TypeNode | undefined,
): UnresolvedType | undefined {
  const names: ts.Identifier[] = [];
  if (written !== undefined) {
    eachNode(written, (node) => {
      if (ts.isTypeReferenceNode(node)) names.push(leftmost(node.typeName));
      return childrenOf(node);
    });
  }
  for (const name of names.sort((a, b) => a.pos - b.pos)) {
    const unresolved = describe(context, name);
    if (unresolved !== undefined) return unresolved;
  }
  return undefined;
}

function leftmost(name: ts.EntityName): ts.Identifier {
  return ts.isIdentifier(name) ? name : leftmost(name.left);
}

function describe(context: HostContext, name: ts.Identifier): UnresolvedType | undefined {
  const { checker } = context;
  const symbol = checker.getSymbolAtLocation(name);
  const base = { name: name.text, place: placeOf(context, name) };
  if (symbol?.declarations === undefined) return { ...base, isModuleKnown: false };
  if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return undefined;
  if (checker.getAliasedSymbol(symbol).declarations !== undefined) return undefined;
  const specifier = specifierOf(symbol);
  if (specifier === undefined) return undefined;
  const isModuleKnown = checker.getSymbolAtLocation(specifier) !== undefined;
  return { ...base, specifier: specifier.text, isModuleKnown };
}
