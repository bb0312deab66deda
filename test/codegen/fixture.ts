import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Diagnostic } from '../../src/graph/diagnostics/diagnostic.js';
import { formatLocation, type SourceLocation, type Span } from '../../src/graph/source-location.js';

/** The folder of the fixtures: one folder per case, with `input/` and the expected output. */
export const FIXTURES = path.join(path.dirname(fileURLToPath(import.meta.url)), 'fixtures');

/** A source file of a case, and the spans that were marked with `⟦…⟧` in it. */
export interface FixtureFile {
  /** Relative to the fixtures, with `/`. */
  readonly file: string;
  readonly text: string;
  /** Read by codegen; files named `*.unread.ts` are only imported. */
  readonly isRead: boolean;
  readonly marks: readonly SourceLocation[];
}

export interface Fixture {
  readonly name: string;
  /** Whether its graphs are checked as well; the faults found are then expected too. */
  readonly isChecked: boolean;
  readonly files: readonly FixtureFile[];
}

/** A case's `case.json`: how its texts differ from what is committed, which is plain and has line feeds. */
interface Settings {
  readonly newline?: 'crlf';
  readonly bom?: boolean;
  readonly check?: boolean;
}

/** Every case, by name. */
export function loadFixtures(): readonly Fixture[] {
  const names = readdirSync(FIXTURES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => loadFixture(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function loadFixture(name: string): Fixture {
  const input = path.join(FIXTURES, name, 'input');
  const settings = readSettings(name);
  const files = readdirSync(input)
    .sort()
    .map((entry) => {
      const file = `${name}/input/${entry}`;
      const { text, marks } = readMarks(file, readFileSync(path.join(input, entry), 'utf8'));
      return { file, text: encode(text, settings), isRead: !entry.endsWith('.unread.ts'), marks };
    });
  return { name, files, isChecked: settings.check === true };
}

function readSettings(name: string): Settings {
  const file = path.join(FIXTURES, name, 'case.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

function encode(text: string, { newline, bom }: Settings): string {
  return `${bom ? '\uFEFF' : ''}${newline === 'crlf' ? text.replaceAll('\n', '\r\n') : text}`;
}

/** Takes the marks out of a text. Marks may be nested, and span lines. */
export function readMarks(
  file: string,
  marked: string,
): { readonly text: string; readonly marks: readonly SourceLocation[] } {
  const marks: SourceLocation[] = [];
  const open: (readonly [line: number, column: number])[] = [];
  let text = '';
  let line = 1;
  let column = 1;
  for (const unit of marked.split('')) {
    if (unit === '⟦') open.push([line, column]);
    else if (unit === '⟧') {
      const start = open.pop();
      if (start === undefined) throw new Error(`${file}:${line}: ⟧ without ⟦`);
      marks.push({ file, span: [...start, line, column] });
    } else {
      text += unit;
      column = unit === '\n' ? 1 : column + 1;
      if (unit === '\n') line++;
    }
  }
  if (open.length > 0) throw new Error(`${file}: ⟦ without ⟧`);
  return { text, marks };
}

/** Diagnostics as text, one block each, in the order of their locations. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[]): string {
  return [...diagnostics].sort(byPlace).map(formatDiagnostic).join('\n');
}

function formatDiagnostic({ code, severity, message, place, related, hint }: Diagnostic): string {
  const lines = [
    `${place === undefined ? '' : `${formatLocation(place)} - `}${severity} ${code}: ${message}`,
  ];
  for (const other of related) lines.push(`  = ${other.message}: ${formatLocation(other.place)}`);
  if (hint !== undefined) lines.push(`  = hint: ${hint}`);
  return `${lines.join('\n')}\n`;
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  return comparePlaces(a.place, b.place) || (a.code < b.code ? -1 : 1);
}

function comparePlaces(a: SourceLocation | undefined, b: SourceLocation | undefined): number {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined);
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (
    a.span.map((value, index) => value - (b.span[index] ?? 0)).find((difference) => difference !== 0) ?? 0
  );
}

/** The distinct locations as text, in order: the form in which marks and diagnostics are compared. */
export function formatSpans(places: readonly SourceLocation[]): readonly string[] {
  const distinct = new Map(places.map((place) => [formatSpan(place.file, place.span), place]));
  return [...distinct].sort(([, a], [, b]) => comparePlaces(a, b)).map(([text]) => text);
}

function formatSpan(file: string, [line, column, endLine, endColumn]: Span): string {
  return `${file}:${line}:${column}-${endLine}:${endColumn}`;
}

/** True when the expected files are to be written instead of compared. Never in CI. */
export function isUpdating(): boolean {
  if (process.env.UPDATE_FIXTURES !== '1') return false;
  if (process.env.CI) throw new Error('fixtures are not updated in CI');
  return true;
}

/** An expected file of a case; nothing if it does not exist. */
export function readExpected(name: string, file: string): string | undefined {
  const location = path.join(FIXTURES, name, file);
  return existsSync(location) ? readFileSync(location, 'utf8') : undefined;
}

/** Writes an expected file of a case, or removes it. */
export function writeExpected(name: string, file: string, text: string | undefined): void {
  const location = path.join(FIXTURES, name, file);
  if (text === undefined) {
    rmSync(location, { force: true });
    return;
  }
  mkdirSync(path.dirname(location), { recursive: true });
  writeFileSync(location, text);
}
