import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { isValidBinding, isValidName, NAME_RULE } from '../../graph/names.js';
import type { Place } from '../../graph/place.js';

type Report = (diagnostic: Diagnostic) => void;

/** Whether a tool, resource or workflow may have this name; reports it if not. */
export function checkName(kind: string, name: string, place: Place, report: Report): boolean {
  if (isValidName(name)) return true;
  report(diagnostic('SW1002', place, { kind, name, rule: `\`${NAME_RULE.source}\`` }));
  return false;
}

/** Whether a field may be an argument or a step; reports it if not. */
export function checkField(kind: string, name: string, place: Place, report: Report): boolean {
  // Dots and dashes are for ids that are derived: a field is reached as `this.name`.
  if (isValidBinding(name) && !/[.-]/.test(name)) return true;
  const rule = /^[[#'"]/.test(name)
    ? 'an identifier that is written out'
    : 'an identifier other than `__proto__`';
  report(diagnostic('SW1002', place, { kind, name, rule }));
  return false;
}

/** Whether a node may have this id; reports it if not. */
export function checkId(id: string, place: Place, report: Report): boolean {
  if (isValidBinding(id)) return true;
  report(
    diagnostic('SW1002', place, { kind: 'step', name: id, rule: 'an identifier, with `.` and `-` inside' }),
  );
  return false;
}
