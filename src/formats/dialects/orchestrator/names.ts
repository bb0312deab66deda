import { nearestName } from '../../../graph/names.js';
import type { LocatedText } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';

/** Names that `$` may precede. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names with a meaning of their own behind `$`. */
export const RESERVED_NAMES: readonly string[] = [
  'params',
  'steps',
  'item',
  'index',
  'error',
  'run',
  'env',
  'user',
  'secrets',
];

/** Checks the name of a node, a parameter, a result or an item. */
export function checkName(reports: Reports, name: LocatedText, kind: string): boolean {
  if (NAME.test(name.value)) return true;
  const suggestion = name.value.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^(?=[0-9])/, '_');
  reports.report('SW5010', name, {
    kind,
    name: name.value,
    rule: 'letters, digits and `_`, and no digit first',
    suggestion: NAME.test(suggestion) && /[^_]/.test(suggestion) ? suggestion : undefined,
  });
  return false;
}

/** Reports a reference in a key that takes a literal name. */
export function checkLiteral(reports: Reports, text: LocatedText, key: string): boolean {
  if (!text.value.startsWith('$')) return true;
  reports.report('SW5015', text, { key, text: text.value });
  return false;
}

/** Reports that a key names no node that it may name. */
export function unknownNode(
  reports: Reports,
  at: LocatedText,
  {
    key,
    node,
    candidates,
  }: { readonly key: string; readonly node: string; readonly candidates: readonly string[] },
  why = 'which is not a node of the same list',
): void {
  const suggestion = nearestName(at.value, candidates);
  reports.report('SW5016', at, { key, node, name: at.value, why, suggestion });
}
