import type { Place } from '../place.js';
import { type DiagnosticCode, type DiagnosticParams, diagnosticTable } from './table.js';

export type Severity = 'error' | 'warning';

/** A fault in what an author wrote: what, where, why, and what to write instead. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** One sentence. */
  readonly message: string;
  /** Missing only for faults of a whole run, such as an unreadable configuration. */
  readonly place?: Place;
  readonly related: readonly { readonly message: string; readonly place: Place }[];
  readonly hint?: string;
  /** What the message was made from; see `diagnosticTable`. For programs, which do not read sentences. */
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface DiagnosticDetails {
  readonly related?: readonly { readonly message: string; readonly place: Place }[];
  /** Replaces the table's own hint. */
  readonly hint?: string | undefined;
}

/** Builds a diagnostic from the table; a missing or misspelt parameter is a type error. */
export function diagnostic<C extends DiagnosticCode>(
  code: C,
  place: Place | undefined,
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
    ...(place === undefined ? {} : { place }),
    related: details.related ?? [],
    ...(hint === undefined ? {} : { hint }),
    params,
  };
}

/** True when any of them stops a build. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((d) => d.severity === 'error');
}
