import { defined } from '../../../graph/defined.js';
import type { Arm, BranchCase } from '../../../graph/kinds/containers.js';
import type { Node } from '../../../graph/kinds/node.js';
import type { BranchNode } from '../../../graph/model.js';
import { lowerCondition } from '../../references/expression.js';
import { entryOf, type Located, type LocatedText } from '../../text/located.js';
import { expectMap, Fields } from '../fields.js';
import { checkLiteral, unknownNode } from './names.js';
import type { NodeContext } from './node-context.js';
import { textIn } from './routes.js';

/** A case, or the default. */
type WrittenArm =
  | { readonly kind: 'case'; readonly arm: BranchCase }
  | { readonly kind: 'default'; readonly arm: Arm; readonly at: Located };

/**
 * Makes a branch of the list `on` and `default`. There are four spellings of a default: `{ default: null, goto: x }`,
 * `{ default: { goto: x } }`, `{ default: x }`, and the key `default` of the node.
 */
export function lowerBranch(
  context: NodeContext,
  base: Omit<BranchNode, 'kind' | 'cases' | 'else'>,
): Node | undefined {
  const { spec, reports } = context;
  const { fields } = spec;
  const list = fields.list('on');
  if (list === undefined) fields.require('on');
  const arms = (list?.items ?? []).flatMap((item, index) => lowerArm(context, item, index) ?? []);
  const last = fields.entry('default');
  if (last !== undefined) {
    const goto = gotoOf(context, targetOf(last.value), last.value);
    if (goto !== undefined) arms.push({ kind: 'default', arm: { id: 'default', goto }, at: last.key });
  }
  const defaults = arms.flatMap((arm) => (arm.kind === 'default' ? [arm] : []));
  const [first, second] = defaults;
  if (second !== undefined)
    reports.report('SW5017', second.at, { node: spec.id, problem: 'has two defaults: remove one of them' });
  else if (first !== undefined && arms.at(-1) !== first)
    reports.report('SW5017', first.at, {
      node: spec.id,
      problem: 'has a case behind its default, which is never taken: write the default last',
    });
  const cases = arms.flatMap((arm) => (arm.kind === 'case' ? [arm.arm] : []));
  if (cases.length === 0) {
    // A case with a fault of its own is one.
    if (list?.items.every((item) => !isCase(item)) === true)
      reports.report('SW5017', spec.at, { node: spec.id, problem: 'has no case: write `when` and `goto`' });
    return undefined;
  }
  return { ...base, kind: 'branch', cases, ...defined({ else: first?.arm }) };
}

function isCase(item: Located): boolean {
  return item.kind !== 'map' || ['when', 'condition'].some((key) => entryOf(item, key) !== undefined);
}

function lowerArm(context: NodeContext, item: Located, index: number): WrittenArm | undefined {
  const { reports, references, spec } = context;
  const where = `case ${index + 1} of branch \`${spec.id}\``;
  const map = expectMap(reports, item, where);
  if (map === undefined) return undefined;
  const fields = new Fields(reports, map, where, ['when', 'condition', 'goto', 'default']);
  const fallback = fields.entry('default');
  const [condition, other] = ['when', 'condition'].flatMap((name) => fields.entry(name) ?? []);
  const extra = other ?? (fallback === undefined ? undefined : condition);
  if (extra !== undefined) {
    const problem =
      other === undefined
        ? 'has a condition beside a default: remove one of them'
        : 'has `when` and `condition` in one case: remove one of them';
    reports.report('SW5017', extra.key, { node: spec.id, problem });
    return undefined;
  }
  if (fallback !== undefined) {
    const goto = gotoOf(context, fields.text('goto') ?? targetOf(fallback.value), map);
    return goto === undefined
      ? undefined
      : { kind: 'default', arm: { id: 'default', goto }, at: fallback.key };
  }
  const text = fields.text('when') ?? fields.text('condition');
  if (text === undefined) fields.require('when');
  const when = text === undefined ? undefined : lowerCondition(text, references, reports);
  const goto = gotoOf(context, fields.text('goto'), map);
  if (when === undefined || goto === undefined) return undefined;
  return { kind: 'case', arm: { id: `case-${index + 1}`, when, goto } };
}

/** The target of `x` and of `{ goto: x }`. */
function targetOf(value: Located): LocatedText | undefined {
  return value.kind === 'text' ? value : textIn(value, 'goto');
}

function gotoOf(
  { spec, reports, siblings }: NodeContext,
  target: LocatedText | undefined,
  at: Located,
): string | undefined {
  if (target === undefined) {
    reports.report('SW5007', at, { what: `a case of branch \`${spec.id}\``, key: 'goto' });
    return undefined;
  }
  if (!checkLiteral(reports, target, 'goto')) return undefined;
  const targets = siblings.filter((id) => id !== spec.id);
  if (targets.includes(target.value)) return target.value;
  unknownNode(reports, target, { key: 'goto', node: spec.id, candidates: targets });
  return undefined;
}
