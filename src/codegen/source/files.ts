import { readFileSync } from 'node:fs';
import { type Json, pointerKey } from '../../graph/json.js';
import type { SourceLocation, Span } from '../../graph/source-location.js';
import { ts } from './typescript.mjs';

/** The text of a file, or why it cannot be read. */
export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable' }
  /** `span` marks the first bytes that are not UTF-8. */
  | { readonly kind: 'notUtf8'; readonly span: Span };

/** Reads a file as UTF-8. A byte order mark is left out. */
export function readFileText(file: string): FileText {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return { kind: 'unreadable' };
  }
  const text = decode(bytes);
  return text === undefined
    ? { kind: 'notUtf8', span: spanAfter(longestText(bytes)) }
    : { kind: 'text', text };
}

function decode(bytes: Uint8Array, stream = false): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream });
  } catch {
    return undefined;
  }
}

/** The longest valid prefix, by binary search: every prefix of valid UTF-8 is valid as a stream. */
function longestText(bytes: Uint8Array): string {
  let sound = 0;
  let faulty = bytes.length + 1;
  while (faulty - sound > 1) {
    const middle = Math.floor((sound + faulty) / 2);
    if (decode(bytes.subarray(0, middle), true) === undefined) faulty = middle;
    else sound = middle;
  }
  return decode(bytes.subarray(0, sound), true) ?? '';
}

function spanAfter(text: string): Span {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
  const column = (lines.at(-1)?.length ?? 0) + 1;
  return [lines.length, column, lines.length, column + 1];
}

/** The specifiers of the modules that a text loads: not those of types alone, which are erased. */
export function loadedSpecifiers(text: string): readonly string[] {
  const { statements } = ts.createSourceFile('module.ts', text, ts.ScriptTarget.Latest);
  const isErased = (statement: ts.Statement): boolean =>
    ts.isImportDeclaration(statement)
      ? statement.importClause?.isTypeOnly === true
      : ts.isExportDeclaration(statement) && statement.isTypeOnly;
  const code = statements.filter((each) => !isErased(each)).map((each) => text.slice(each.pos, each.end));
  return ts.preProcessFile(code.join('\n'), true, true).importedFiles.map(({ fileName }) => fileName);
}

/** A JSON document, with the place of everything in it. */
export interface JsonDocument {
  /** Undefined for an empty document. */
  readonly value: Json | undefined;
  readonly faults: readonly { readonly message: string; readonly place: SourceLocation }[];
  /** Whether there is a value at this JSON pointer. */
  has(pointer: string): boolean;
  /** The place of the value at a JSON pointer, or of the nearest value around it. */
  placeOf(pointer: string): SourceLocation;
  /** The place of the key in a JSON pointer's last segment, or else {@link placeOf}. */
  keyPlaceOf(pointer: string): SourceLocation;
}

/**
 * Reads JSON as TypeScript reads its configuration files: comments and trailing commas are no faults.
 *
 * @param file - path for the places, relative to the project's root.
 */
export function parseJsonDocument(file: string, text: string): JsonDocument {
  const source = ts.parseJsonText(file, text) as ts.JsonSourceFile & {
    readonly parseDiagnostics: readonly ts.DiagnosticWithLocation[];
  };
  const values = new Map<string, SourceLocation>();
  const keys = new Map<string, SourceLocation>();
  const faults: { message: string; place: SourceLocation }[] = source.parseDiagnostics.map(
    ({ messageText, start, length }) => ({
      message: ts.flattenDiagnosticMessageText(messageText, ' '),
      place: between(start, start + length),
    }),
  );

  function between(start: number, end: number): SourceLocation {
    const from = source.getLineAndCharacterOfPosition(start);
    const to = source.getLineAndCharacterOfPosition(end);
    return { file, span: [from.line + 1, from.character + 1, to.line + 1, to.character + 1] };
  }
  const placeOfNode = (node: ts.Node): SourceLocation => between(node.getStart(source), node.getEnd());

  function read(node: ts.Expression, pointer: string): Json {
    values.set(pointer, placeOfNode(node));
    if (ts.isStringLiteralLike(node)) return node.text;
    if (ts.isNumericLiteral(node)) return Number(node.text);
    if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
    if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
    if (node.kind === ts.SyntaxKind.NullKeyword) return null;
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) {
      if (ts.isNumericLiteral(node.operand)) return -Number(node.operand.text);
    }
    if (ts.isArrayLiteralExpression(node)) {
      return node.elements.map((element, i) => read(element, `${pointer}/${i}`));
    }
    if (ts.isObjectLiteralExpression(node)) {
      return Object.fromEntries(node.properties.flatMap((property) => readMember(property, pointer)));
    }
    faults.push({ message: 'JSON value expected', place: placeOfNode(node) });
    return null;
  }

  function readMember(property: ts.ObjectLiteralElementLike, pointer: string): [string, Json][] {
    if (ts.isPropertyAssignment(property) && ts.isStringLiteral(property.name)) {
      const key = property.name.text;
      const inner = `${pointer}/${pointerKey(key)}`;
      keys.set(inner, placeOfNode(property.name));
      return [[key, read(property.initializer, inner)]];
    }
    faults.push({ message: 'property name in double quotes expected', place: placeOfNode(property) });
    return [];
  }

  const root = source.statements[0]?.expression;
  const value = root === undefined ? undefined : read(root, '');
  const placeOf = (pointer: string): SourceLocation => {
    for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
      const place = values.get(at);
      if (place !== undefined) return withPointer(place, pointer);
      if (at === '') return withPointer(between(0, 0), pointer);
    }
  };
  return {
    value,
    faults,
    has: (pointer) => values.has(pointer),
    placeOf,
    keyPlaceOf: (pointer) => {
      const place = keys.get(pointer);
      return place === undefined ? placeOf(pointer) : withPointer(place, pointer);
    },
  };
}

function withPointer(place: SourceLocation, pointer: string): SourceLocation {
  return { ...place, pointer };
}
