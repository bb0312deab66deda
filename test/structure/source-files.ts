import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The repository's root, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A file's text, with a path relative to the root. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** One import, re-export or `import()` of a file. */
export interface Import {
  readonly from: string;
  /** The file it leads to, relative to the root, or the name of a package. */
  readonly to: string;
  readonly how: 'value' | 'type' | 'lazy';
}

/** Folders of files whose text is not edited here, or is wrong on purpose. */
const OTHERS = new Set(['node_modules', 'fixtures', 'generated']);

/** All TypeScript and modules of JavaScript of these folders, in the order of their paths, without fixtures and what codegen writes. */
export function sourceFiles(...folders: string[]): SourceText[] {
  return folders
    .flatMap(filesBelow)
    .filter((file) => /\.(?:ts|mts|mjs)$/.test(file))
    .sort()
    .map((file) => ({ file, text: readFileSync(ROOT + file, 'utf8') }));
}

function filesBelow(folder: string): string[] {
  // Links are not followed: a temporary project links to this folder.
  return readdirSync(ROOT + folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isFile()) return [path];
    const isOurs = entry.isDirectory() && !entry.name.startsWith('.') && !OTHERS.has(entry.name);
    return isOurs ? filesBelow(path) : [];
  });
}

/** True for tests and what only tests use: they may import what they need. */
export function isTest(file: string): boolean {
  return /\.(test|test-d|fixture)\.ts$/.test(file);
}

const trees = new WeakMap<SourceText, ts.SourceFile>();

/** The syntax tree, without types. Each source is parsed once. */
export function parse(source: SourceText): ts.SourceFile {
  const tree =
    trees.get(source) ?? ts.createSourceFile(source.file, source.text, ts.ScriptTarget.Latest, true);
  trees.set(source, tree);
  return tree;
}

/** Everything a file imports, by whatever form. */
export function importsOf(source: SourceText): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, how: Import['how']): void => {
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      found.push({ from: source.file, to: resolve(source.file, specifier.text), how });
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, typesOnly(node.importClause) ? 'type' : 'value');
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly ? 'type' : 'value');
    else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      add(node.moduleReference.expression, 'value');
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, 'type');
    else if (ts.isCallExpression(node) && isLoad(node.expression)) add(node.arguments[0], 'lazy');
    ts.forEachChild(node, visit);
  };
  visit(parse(source));
  return found;
}

function typesOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const named = clause.namedBindings;
  if (clause.name !== undefined || named === undefined || !ts.isNamedImports(named)) return false;
  return named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly);
}

function isLoad(callee: ts.Expression): boolean {
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require')
  );
}

function resolve(file: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return posix
    .join(posix.dirname(file), specifier)
    .replace(/\.js$/, '.ts')
    .replace(/\.d\.ts$/, '.d.ts');
}
