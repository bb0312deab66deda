import { posix } from 'node:path';
import type { ClassHandle } from '../declarations.js';
import { printString } from './literal.js';
import { compareText } from './order.js';

/** An export of a source file: a class, or a function, whose name then stands for the class's. */
export type ExportHandle = Pick<ClassHandle, 'file' | 'className' | 'exportName'>;

/** The import statements of a registry, and the name each export goes by in it. */
export interface RegistryImports {
  readonly statements: readonly string[];
  /** @throws Error for an export that was not among the imported ones. */
  nameOf(handle: ExportHandle): string;
}

/**
 * Names and imports the exports: sorted, one statement per file, with an alias where two share a name.
 *
 * @param out - the registry's path relative to the project's root; specifiers are relative to its folder.
 * @param taken - names the registry uses itself.
 */
export function importExports(
  handles: readonly ExportHandle[],
  out: string,
  taken: readonly string[],
): RegistryImports {
  const names = new Map<string, string>();
  const used = new Set(taken);
  const members = new Map<string, string[]>();
  const sorted = [...handles].sort((a, b) => compareText(identityOf(a), identityOf(b)));
  for (const handle of sorted) {
    if (names.has(identityOf(handle))) continue;
    const name = freeName(handle.className, used);
    used.add(name);
    names.set(identityOf(handle), name);
    const specifier = moduleSpecifier(handle.file, out);
    const list = members.get(specifier) ?? [];
    list.push(importMember(exportNameOf(handle), name));
    members.set(specifier, list);
  }
  const statements = [...members]
    .sort(([a], [b]) => compareText(a, b))
    .map(([specifier, list]) => `import { ${list.join(', ')} } from ${printString(specifier)};`);
  return {
    statements,
    nameOf(handle) {
      const name = names.get(identityOf(handle));
      if (name === undefined) throw new Error(`${handle.className} of ${handle.file} was not imported`);
      return name;
    },
  };
}

const identityOf = (handle: ExportHandle): string => `${handle.file}#${exportNameOf(handle)}`;

function exportNameOf({ exportName, className, file }: ExportHandle): string {
  if (exportName === undefined) throw new Error(`${className} of ${file} is not exported`);
  return exportName;
}

function freeName(className: string, used: ReadonlySet<string>): string {
  const base = className === '' ? 'Anonymous' : className;
  let name = base;
  for (let i = 2; used.has(name); i += 1) name = `${base}${i}`;
  return name;
}

function importMember(exportName: string, name: string): string {
  if (exportName === name) return name;
  const isIdentifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(exportName);
  return `${isIdentifier ? exportName : printString(exportName)} as ${name}`;
}

/** The name a source file is imported by once it is JavaScript: `.mts` becomes `.mjs`. */
function moduleSpecifier(file: string, out: string): string {
  const path = posix.relative(posix.dirname(out), file).replace(/\.([cm]?)tsx?$/, '.$1js');
  return path.startsWith('../') ? path : `./${path}`;
}
