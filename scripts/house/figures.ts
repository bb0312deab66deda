import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';
import {
  type Import,
  importsOf,
  isTest,
  parse,
  ROOT,
  type SourceText,
  sourceFiles,
} from '../../test/structure/source-files.js';
import { duplicates } from './duplicates.js';
import { importsUp, longestChain } from './imports.js';
import { declaredNames } from './names.js';

/** A measure of the product's source. */
export interface Figure {
  readonly id: string;
  readonly title: string;
  readonly value: number;
  /** What it should be at the most. */
  readonly target?: number;
  /** What is behind the value, a row each. */
  readonly rows: readonly string[];
}

const SMALL = 40;
const LONGEST_DUPLICATE = 12;

/** Folders that hold runs: before and after they are one room. */
const RUNS = ['src/runtime/runs', 'src/runtime/server/runs', 'src/runtime/host'];

/** All figures that the source alone shows. Production code: no tests, no fixtures. */
export function measure(): Figure[] {
  const sources = sourceFiles('src').filter(({ file }) => !isTest(file));
  const imports = sources.flatMap(importsOf).filter(({ to, how }) => to.startsWith('src/') && how !== 'lazy');
  return [
    ...sizes(sources),
    ...chains(imports),
    upward(sources, imports),
    participles(sources),
    duplicated(sources),
    exportedTypes(sources),
  ];
}

function sizes(sources: readonly SourceText[]): Figure[] {
  const files = sources
    .map(({ file, text }) => ({ file, lines: linesIn(text) }))
    .sort((a, b) => b.lines - a.lines);
  const rooms = new Map<string, number>();
  for (const { file, lines } of files) rooms.set(roomOf(file), (rooms.get(roomOf(file)) ?? 0) + lines);
  const total = files.reduce((sum, { lines }) => sum + lines, 0);
  const shares = [...rooms]
    .map(([room, lines]) => ({ room, lines, share: (100 * lines) / total }))
    .sort((a, b) => b.lines - a.lines);
  const small = files.filter(({ lines }) => lines < SMALL);
  const row = ({ file, lines }: { file: string; lines: number }): string => `${lines} ${file}`;
  return [
    { id: 'lines', title: 'production lines', value: total, target: 92_000, rows: files.map(row) },
    { id: 'files', title: 'production files', value: files.length, target: 460, rows: filesByRoom(files) },
    {
      id: 'room',
      title: 'largest room, % of the lines',
      value: rounded(shares[0]?.share ?? 0),
      target: 22,
      rows: shares.map(({ room, lines, share }) => `${rounded(share)} % ${lines} ${room}`),
    },
    {
      id: 'small',
      title: `files under ${SMALL} lines`,
      value: small.length,
      target: 40,
      rows: small.map(row),
    },
  ];
}

function filesByRoom(files: readonly { readonly file: string }[]): string[] {
  const counts = new Map<string, number>();
  for (const { file } of files) counts.set(roomOf(file), (counts.get(roomOf(file)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([room, count]) => `${count} ${room}`);
}

/** The folder below `src`, or below `src/runtime`. */
function roomOf(file: string): string {
  const [src, room, inner, ...below] = file.split('/');
  if (inner === undefined) return 'entry points';
  if (room !== 'runtime') return `${src}/${room}`;
  return below.length === 0 ? 'entry points' : `${src}/${room}/${inner}`;
}

function chains(imports: readonly Import[]): Figure[] {
  const runs = RUNS.find((folder) => existsSync(ROOT + folder)) ?? '';
  const values = longestChain(imports.filter(({ how }) => how === 'value'));
  const withTypes = longestChain(imports);
  const floors = longestChain(
    imports.filter(({ from, to }) => from.startsWith(`${runs}/`) && to.startsWith(`${runs}/`)),
  );
  return [
    {
      id: 'chain',
      title: 'longest chain of imports, values',
      value: values.length,
      target: 18,
      rows: values,
    },
    {
      id: 'chain-types',
      title: 'longest chain of imports, types too',
      value: withTypes.length,
      rows: withTypes,
    },
    { id: 'floors', title: `floors of ${runs}, types too`, value: floors.length, target: 9, rows: floors },
  ];
}

function upward(sources: readonly SourceText[], imports: readonly Import[]): Figure {
  const folders = new Set(sources.flatMap(({ file }) => foldersInRoom(file)));
  const rows = [...folders].sort().flatMap((folder) => importsUp(folder, imports));
  return { id: 'up', title: 'imports that run up inside a room', value: rows.length, target: 0, rows };
}

/** The room of a file and the folders inside it that lead to the file. */
function foldersInRoom(file: string): string[] {
  const folders: string[] = [];
  for (
    let folder = posix.dirname(file);
    folder.length >= roomOf(file).length;
    folder = posix.dirname(folder)
  ) {
    folders.push(folder);
  }
  return folders;
}

function participles(sources: readonly SourceText[]): Figure {
  const names = sources.flatMap(declaredNames);
  const matches = names.filter(({ isParticiple }) => isParticiple);
  return {
    id: 'names',
    title: 'participle names per 1,000',
    value: rounded((1000 * matches.length) / names.length),
    target: 5,
    rows: matches.map(({ file, line, name }) => `${file}:${line} ${name}`),
  };
}

function duplicated(sources: readonly SourceText[]): Figure {
  const rows = duplicates(sources, LONGEST_DUPLICATE);
  return {
    id: 'duplicates',
    title: `duplicate pairs over ${LONGEST_DUPLICATE} lines`,
    value: rows.length,
    target: 0,
    rows,
  };
}

function exportedTypes(sources: readonly SourceText[]): Figure {
  const rows = sources
    .filter(({ file }) => RUNS.some((folder) => file.startsWith(`${folder}/`)))
    .flatMap((source) =>
      parse(source).statements.flatMap((statement) =>
        isExportedType(statement) ? [`${source.file} ${statement.name.text}`] : [],
      ),
    );
  return { id: 'types', title: 'exported types of runs', value: rows.length, target: 85, rows };
}

function isExportedType(
  statement: ts.Statement,
): statement is ts.InterfaceDeclaration | ts.TypeAliasDeclaration {
  return (
    (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) &&
    statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  );
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

function rounded(value: number): number {
  return Math.round(10 * value) / 10;
}
