import path from 'node:path';
import { textIn } from '../formats/source-record.js';
import { type Diagnostic, diagnostic, diagnosticTable, hasErrors } from '../graph/diagnostics/diagnostic.js';
import { nearestName } from '../graph/names.js';
import type { IgnoreSyntax } from './syntax.js';

/**
 * Leaves out the warnings that comments silence, `// stepwright-ignore SW3010: why`, and adds what is wrong with the
 * comments themselves: one without a code or a reason (SW9012), a code that does not exist (SW9010) or is an error's
 * (SW9011), and one that silences nothing (SW9013). The last is reported only if there are no errors: with errors,
 * some checks did not run.
 */
export function applyIgnores(
  diagnostics: readonly Diagnostic[],
  ignores: readonly IgnoreSyntax[],
): readonly Diagnostic[] {
  const reading = ignores.map(readIgnore);
  const silencing = reading.filter((each): each is Ignore => each.kind === 'ignore');
  const used = new Set<Ignore>();
  const remaining = diagnostics.filter((each) => {
    const ignore = silencing.find((candidate) => covers(candidate, each));
    if (ignore !== undefined) used.add(ignore);
    return ignore === undefined;
  });
  const faults = reading.flatMap((each) => (each.kind === 'fault' ? [each.fault] : []));
  const isSound = !hasErrors([...remaining, ...faults]);
  const needless = silencing
    .filter((each) => isSound && !used.has(each))
    .map(({ code, syntax }) => diagnostic('SW9013', syntax.place, { code }));
  return [...remaining, ...faults, ...needless];
}

interface Ignore {
  readonly kind: 'ignore';
  readonly code: string;
  readonly syntax: IgnoreSyntax;
}

function readIgnore(syntax: IgnoreSyntax): Ignore | { readonly kind: 'fault'; readonly fault: Diagnostic } {
  const { place, text } = syntax;
  const malformed = (problem: string) =>
    ({ kind: 'fault', fault: diagnostic('SW9012', place, { problem }) }) as const;
  const parts = /^([^\s:]+)\s*(?::\s*(.*))?$/s.exec(text);
  const code = parts?.[1];
  if (code === undefined) return malformed(text === '' ? texts.ignoreWithoutCode : texts.ignoreMalformed);
  const entry = Object.entries(diagnosticTable).find(([known]) => known === code)?.[1];
  if (entry === undefined) {
    const suggestion = nearestName(code, Object.keys(diagnosticTable));
    return { kind: 'fault', fault: diagnostic('SW9010', place, { code, suggestion }) };
  }
  if (entry.severity === 'error') {
    return { kind: 'fault', fault: diagnostic('SW9011', place, { code, wanted: 'silent' }) };
  }
  if ((parts?.[2] ?? '') === '') return malformed(texts.ignoreWithoutReason);
  return { kind: 'ignore', code, syntax };
}

function covers({ code, syntax }: Ignore, { code: reported, severity, place }: Diagnostic): boolean {
  if (severity !== 'warning' || reported !== code || place?.file !== syntax.place.file) return false;
  const [line] = place.span;
  return line >= syntax.lines[0] && line <= syntax.lines[1];
}

/** The problems of a comment that silences a diagnostic: the predicate in the message of SW9012. */
const texts = {
  ignoreWithoutCode: 'names no code',
  ignoreWithoutReason: 'gives no reason',
  ignoreMalformed: 'is written as a code, a colon and a reason',
} as const;

/** What codegen works on when it fails. */
export interface CodegenSubject {
  /** Relative to the project root. */
  readonly file: string;
  readonly className?: string;
}

/** A fault of codegen itself, with the source that it fails on. The original error is the `cause`. */
export class InternalError extends Error {
  override readonly name = 'InternalError';
  readonly subject: CodegenSubject;

  constructor(subject: CodegenSubject, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.subject = subject;
  }
}

/**
 * Calls a function that works on one source.
 * @throws InternalError with the innermost subject, where the function throws.
 */
export function workingOn<T>({ file, className }: CodegenSubject, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof InternalError) throw error;
    throw new InternalError(className ? { file, className } : { file }, error);
  }
}

/** Reports a fault of codegen at the start of the file, since its location in the file is unknown. */
export function internalFault({ subject, message }: InternalError): Diagnostic {
  const place = { file: subject.file, span: [1, 1, 1, 1] as const };
  return diagnostic('SW9014', place, { ...subject, reason: message });
}

/**
 * Reads the files of a project that diagnostics name, without a byte order mark; nothing for one that cannot be read.
 *
 * @param overlay - texts that replace files, by path, absolute or relative to the root. Default: none.
 */
export function readSourceIn(
  root: string,
  overlay: ReadonlyMap<string, string> = new Map(),
): (file: string) => string | undefined {
  const texts = new Map([...overlay].map(([file, text]) => [path.resolve(root, file), text]));
  return (file) => {
    const absolute = path.join(root, file);
    return (texts.get(absolute) ?? textIn(absolute))?.replace(/^\uFEFF/, '');
  };
}

/** A class of the project, and what stays as it is when the class is renamed. */
export interface ClassName {
  readonly className: string;
  readonly kind: string;
  /** Relative to the root. */
  readonly file: string;
  /** What clients know it by. */
  readonly name: string;
}

/**
 * Diagnostics in which a class that cannot be found (SW3007) is named as it is called now: the class that clients know by
 * the same name, else the only new one of its kind in its file.
 *
 * @param former - the classes of the last run without errors.
 */
export function withRenames(
  diagnostics: readonly Diagnostic[],
  former: readonly ClassName[],
  classes: readonly ClassName[],
): readonly Diagnostic[] {
  const names = (all: readonly ClassName[]) => new Set(all.map(({ className }) => className));
  const [formerNames, currentNames] = [names(former), names(classes)];
  const added = classes.filter(({ className }) => !formerNames.has(className));
  return diagnostics.map((each) => {
    const className = each.code === 'SW3007' ? each.params?.className : undefined;
    const previous = former.find((each) => each.className === className && !currentNames.has(each.className));
    if (previous === undefined) return each;
    const ofKind = added.filter(({ kind }) => kind === previous.kind);
    const [same, ...others] = ofKind.filter(({ file }) => file === previous.file);
    const now = ofKind.find(({ name }) => name === previous.name) ?? (others.length === 0 ? same : undefined);
    return now === undefined ? each : { ...each, hint: `was it renamed to \`${now.className}\`?` };
  });
}
