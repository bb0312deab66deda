import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { isPortableName, isValidName, NAME_RULES } from '../../graph/names.js';
import type { Place } from '../../graph/place.js';

type Report = (diagnostic: Diagnostic) => void;

/** Whether a class, or an argument for its callers, may have this name; reports it if not, or if some hosts refuse it. */
export function checkName(
  kind: 'tool' | 'resource' | 'workflow' | 'prompt' | 'state' | 'argument',
  name: string,
  place: Place,
  report: Report,
): boolean {
  if (!isValidName(kind, name)) {
    report(diagnostic('SW1002', place, { kind, name, rule: `\`${NAME_RULES[kind].source}\`` }));
    return false;
  }
  const isCalled = kind === 'tool' || kind === 'prompt';
  if (isCalled && !isPortableName(name)) report(diagnostic('SW1050', place, { kind, name }));
  return true;
}

/** Whether a field may be an argument or a step, which are reached as `this.name`; reports it if not. */
export function checkField(kind: 'argument' | 'step', name: string, place: Place, report: Report): boolean {
  if (isValidName('binding', name)) return true;
  const isComputed = /^[[#'"]/.test(name);
  const rule = isComputed ? 'an identifier that is written out' : 'an identifier other than `__proto__`';
  const also = kind === 'argument' ? ', and say the name for callers as the option `name` of @Arg' : '';
  report(diagnostic('SW1002', place, { kind, name, rule: `${rule}${also}` }));
  return false;
}

/** Whether a node may have this id; reports it if not. */
export function checkId(id: string, place: Place, report: Report): boolean {
  if (isValidName('step', id)) return true;
  report(
    diagnostic('SW1002', place, { kind: 'step', name: id, rule: 'an identifier, with `.` and `-` inside' }),
  );
  return false;
}
