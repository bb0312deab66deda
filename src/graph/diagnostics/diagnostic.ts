import { defined } from '../defined.js';
import { compareText, nearestName } from '../names.js';
import type { SourceLocation, Span } from '../source-location.js';
import { moduleFaults, outputFaults } from './table/build.js';
import { expressionFaults, referenceFaults } from './table/expressions.js';
import { graphFaults } from './table/graph.js';
import { specFileFaults } from './table/spec-files.js';
import { structureFaults } from './table/structure.js';

/**
 * Every fault the product reports to an author, in one place. A code is never reused.
 * SW1xxx structure, SW2xxx expressions, SW3xxx references and order, SW4xxx graph, SW5xxx spec files,
 * SW6xxx schemas and modules, SW9xxx output and configuration. Each has a page in docs/diagnostics.
 */
export const diagnosticTable = {
  ...structureFaults,
  ...expressionFaults,
  ...referenceFaults,
  ...graphFaults,
  ...specFileFaults,
  ...moduleFaults,
  ...outputFaults,
} as const;

/** Codes that were reported once. None of them is given to another fault. */
export const RETIRED_CODES = ['SW1026'] as const;

export type DiagnosticCode = keyof typeof diagnosticTable;
export type DiagnosticParams<C extends DiagnosticCode> = Parameters<
  (typeof diagnosticTable)[C]['message']
>[0];

export type Severity = 'error' | 'warning';

/** A fault in what an author wrote: what, where, why, and what to write instead. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** One sentence. */
  readonly message: string;
  /** Missing only for faults of a whole run, such as an unreadable configuration. */
  readonly place?: SourceLocation;
  readonly related: readonly { readonly message: string; readonly place: SourceLocation }[];
  readonly hint?: string;
  /** The repair, in the file of `place`, if there is only one that makes sense. */
  readonly edit?: Edit;
  /** What the message was made from; see `diagnosticTable`. For programs, which do not read sentences. */
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Takes a fault that a phase finds. */
export type Report = (fault: Diagnostic) => void;

/** A replacement of a part of a file. */
export interface Edit {
  readonly span: Span;
  readonly text: string;
}

export interface DiagnosticDetails {
  readonly related?: readonly { readonly message: string; readonly place: SourceLocation }[];
  /** Replaces the table's own hint. */
  readonly hint?: string | undefined;
  readonly edit?: Edit | undefined;
}

/** Builds a diagnostic from the table; a missing or misspelt parameter is a type error. */
export function diagnostic<C extends DiagnosticCode>(
  code: C,
  place: SourceLocation | undefined,
  params: DiagnosticParams<C>,
  details: DiagnosticDetails = {},
): Diagnostic {
  const entry = diagnosticTable[code] as {
    readonly severity: Severity;
    readonly message: (params: DiagnosticParams<C>) => string;
    readonly hint?: (params: DiagnosticParams<C>) => string | undefined;
  };
  const hint = details.hint ?? entry.hint?.(params);
  return {
    code,
    severity: entry.severity,
    message: entry.message(params),
    ...defined({ place }),
    related: details.related ?? [],
    ...defined({ hint, edit: details.edit }),
    params,
  };
}

/** True when any of them stops a build. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((d) => d.severity === 'error');
}

/** Sorted by file, line, column and code; what has no place comes first. The input stays as it is. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...diagnostics].sort(compareDiagnostics);
}

function compareDiagnostics(one: Diagnostic, right: Diagnostic): number {
  return (
    compareText(one.place?.file ?? '', right.place?.file ?? '') ||
    (one.place?.span[0] ?? 0) - (right.place?.span[0] ?? 0) ||
    (one.place?.span[1] ?? 0) - (right.place?.span[1] ?? 0) ||
    compareText(one.code, right.code)
  );
}

/** What a diagnostic shall count as; `off` drops it. */
export type SeverityOverride = Severity | 'off';

/**
 * Diagnostics with the severities an author asked for, by code. Warnings may be turned off or made errors; an error
 * stays one, since what comes after it would not be certain. An override that cannot be applied is a diagnostic of
 * its own, without a place, before the others: `SW9010` for a code that does not exist, `SW9011` for an error.
 */
export function applySeverity(
  diagnostics: readonly Diagnostic[],
  overrides: Readonly<Record<string, SeverityOverride>>,
): Diagnostic[] {
  const wanted = new Map(Object.entries(overrides));
  const refused = [...wanted].flatMap(([code, severity]) => faultOf(code, severity) ?? []);
  const applied = diagnostics.flatMap((each) => {
    const severity = each.severity === 'error' ? each.severity : (wanted.get(each.code) ?? each.severity);
    return severity === 'off' ? [] : [{ ...each, severity }];
  });
  return [...refused, ...applied];
}

function faultOf(code: string, wanted: SeverityOverride): Diagnostic | undefined {
  if (!isCode(code)) {
    return diagnostic('SW9010', undefined, {
      code,
      suggestion: nearestName(code, Object.keys(diagnosticTable)),
    });
  }
  if (diagnosticTable[code].severity === 'warning' || wanted === 'error') return undefined;
  return diagnostic('SW9011', undefined, { code, wanted: wanted === 'off' ? 'silent' : 'a warning' });
}

function isCode(code: string): code is DiagnosticCode {
  return Object.hasOwn(diagnosticTable, code);
}
