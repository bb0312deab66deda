import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ts } from 'ts-morph';
import type { HostContext } from './context.js';
import { specifierOf } from './missing-exports.js';

const PACKAGE = 'stepwright';

export interface AliasEnd {
  readonly symbol: ts.Symbol;
  readonly stepwrightName?: string;
  /** Set where an import or export on the way is one of types. */
  readonly isTypeOnly: boolean;
}

/** Goes from alias to alias until a declaration, until one names this package, or until one leads nowhere. */
export function followAliases(
  context: HostContext,
  start: ts.Symbol,
): AliasEnd | { readonly lost: ts.Symbol } {
  const seen = new Set<ts.Symbol>();
  let symbol = start;
  let isTypeOnly = false;
  while (!seen.has(symbol)) {
    seen.add(symbol);
    if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return { symbol, isTypeOnly };
    isTypeOnly ||= symbol.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration) ?? false;
    const specifier = symbol.declarations?.find(
      (d): d is ts.ImportSpecifier | ts.ExportSpecifier => ts.isImportSpecifier(d) || ts.isExportSpecifier(d),
    );
    // The specifier decides before resolution, so that authors without an installed package still get answers.
    if (specifier !== undefined && importedModule(symbol) === PACKAGE) {
      return { symbol, isTypeOnly, stepwrightName: (specifier.propertyName ?? specifier.name).text };
    }
    const next = context.checker.getImmediateAliasedSymbol(symbol);
    if (next === undefined) return { lost: symbol };
    symbol = next;
  }
  return { lost: symbol };
}

/** Whether a name stands for all that this package exports: `import * as sw from 'stepwright'`. */
export function isPackageNamespace(symbol: ts.Symbol): boolean {
  return (
    importedModule(symbol) === PACKAGE &&
    (symbol.declarations?.some((d) => ts.isNamespaceImport(d) || ts.isNamespaceExport(d)) ?? false)
  );
}

/** The module specifier an alias was imported or re-exported with. */
function importedModule(symbol: ts.Symbol): string | undefined {
  return specifierOf(symbol)?.text;
}

const packageNames = new Map<
  string,
  { readonly root: string; readonly name: string | undefined } | undefined
>();

/** Whether a file belongs to the decorators of this package, wherever it is installed. */
export function isOurs(fileName: string): boolean {
  const found = nearestPackage(path.dirname(fileName));
  if (found?.name !== PACKAGE) return false;
  return path.relative(found.root, fileName).split(path.sep).slice(0, 2).includes('decorators');
}

function nearestPackage(
  folder: string,
): { readonly root: string; readonly name: string | undefined } | undefined {
  if (packageNames.has(folder)) return packageNames.get(folder);
  const name = readPackageName(path.join(folder, 'package.json'));
  const parent = path.dirname(folder);
  const found =
    name !== undefined ? { root: folder, name } : parent === folder ? undefined : nearestPackage(parent);
  packageNames.set(folder, found);
  return found;
}

/** The name in a manifest; nested manifests without one (`{ "type": "module" }`) do not start a package. */
function readPackageName(file: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof manifest !== 'object' || manifest === null || !('name' in manifest)) return undefined;
    return typeof manifest.name === 'string' ? manifest.name : undefined;
  } catch {
    return undefined;
  }
}
