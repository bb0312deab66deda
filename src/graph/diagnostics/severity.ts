import { nearestName } from '../suggest.js';
import { type Diagnostic, diagnostic, type Severity } from './diagnostic.js';
import { type DiagnosticCode, diagnosticTable } from './table.js';

/** What a diagnostic shall count as; `off` drops it. */
export type SeverityOverride = Severity | 'off';

/**
 * Diagnostics with the severities an author asked for, by code. Warnings may be turned off or made errors; an error
 * stays one, since what comes after it would not be certain. An override that cannot be carried out is a diagnostic of
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
