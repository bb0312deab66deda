import { type Answerer, isListOfAnswerers, isRole } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { NodeBase } from '../../../graph/kinds/node.js';
import type { AskNode, WaitNode } from '../../../graph/kinds/waits.js';
import { parseReferences } from '../../references/parse-references.js';
import type { Located } from '../../text/located.js';
import { durationOf, textsOf, UNITS } from '../fields.js';
import { checkLiteral } from './names.js';
import type { NodeContext } from './node-context.js';
import { lowerExpected } from './parameters.js';

/** Makes a question of `yield` or `message` with the answer of `expects`. */
export function lowerYield(context: NodeContext, base: NodeBase): AskNode | undefined {
  const { spec, reports, references } = context;
  const { fields } = spec;
  if (fields.has('message') && fields.has('yield')) {
    const problem = 'has `message` and `yield`, which are one thing: remove one of them';
    reports.report('SW5011', spec.at, { node: spec.id, problem });
  }
  const message = fields.text('message') ?? fields.text('yield');
  if (message === undefined) fields.require('message');
  const expects = fields.object('expects');
  const approves = fields.text('approves');
  if (expects === undefined && approves === undefined) fields.require('expects');
  const answering = answeringOf(context);
  if (approves !== undefined) {
    const problem = 'has `approves` and `expects`: the answer to an approval is yes or no, remove `expects`';
    if (expects !== undefined) reports.report('SW5011', spec.at, { node: spec.id, problem });
    if (message === undefined || !checkLiteral(reports, approves, 'approves')) return undefined;
    const question = {
      mode: 'confirm',
      message: references.text(message),
      approves: approves.value,
    } as const;
    return { ...base, kind: 'ask', ...question, ...answering };
  }
  if (message === undefined || expects === undefined) return undefined;
  return {
    ...base,
    kind: 'ask',
    mode: 'yield',
    message: references.text(message),
    expects: lowerExpected(reports, expects),
    ...answering,
  };
}

/**
 * `answer_by` names roles, `owner` for the owner of the run, or `human` for a person on the page of the question, and `escalate_to` those who may answer after `remind_after`;
 * `except: owner` leaves the owner out who has a role.
 */
function answeringOf(context: NodeContext): Pick<AskNode, 'answerBy' | 'remindAfterMs' | 'escalateTo'> {
  const { spec, reports } = context;
  const { fields } = spec;
  const except = fields.oneOf('except', ['owner']);
  const answerBy = answerersOf(context, 'answer_by', except);
  const escalateTo = answerersOf(context, 'escalate_to', except);
  const excepting =
    except && !fields.has('answer_by') && !fields.has('escalate_to') && fields.entry('except');
  if (excepting)
    reports.report('SW5007', excepting.key, { what: `\`except\` of ${fields.where}`, key: 'answer_by' });
  const after = fields.value('remind_after');
  const remindAfterMs = after && durationOf(reports, after, `\`remind_after\` of ${fields.where}`);
  return defined({ answerBy, remindAfterMs, escalateTo });
}

function answerersOf(
  { spec, reports }: NodeContext,
  key: 'answer_by' | 'escalate_to',
  except: 'owner' | undefined,
): readonly Answerer[] | undefined {
  const { fields } = spec;
  const value = fields.value(key);
  if (value === undefined) return undefined;
  const names = textsOf(reports, value, `\`${key}\` of ${fields.where}`);
  const answerers = names.flatMap((name): Answerer[] => {
    if (!checkLiteral(reports, name, key)) return [];
    if (name.value === 'human') return [{ kind: 'human' }];
    if (name.value !== 'owner') {
      if (isRole(name.value)) return [{ kind: 'role', role: name.value, ...(except && { except }) }];
      fields.mismatch(key, name, 'a role: 1 to 128 printable characters without quotes');
      return [];
    }
    if (except === undefined) return [{ kind: 'owner' }];
    const problem = `has \`owner\` in \`${key}\` and in \`except\`: remove one of them`;
    reports.report('SW5011', name, { node: spec.id, problem });
    return [];
  });
  if (names.length === 0 && value.kind === 'list') fields.mismatch(key, value, 'a role, or a list of roles');
  return isListOfAnswerers(answerers) ? answerers : undefined;
}

/** Makes a wait: for a time, or until a moment. */
export function lowerWait(context: NodeContext, base: NodeBase): WaitNode | undefined {
  const { spec, reports, references } = context;
  const { fields } = spec;
  const [span, until] = [fields.value('wait'), fields.value('wait_until')];
  if (span !== undefined && until !== undefined) {
    const problem = 'has `wait` and `wait_until`: write for how long it waits, or until when';
    reports.report('SW5011', spec.at, { node: spec.id, problem });
  }
  if (span !== undefined) {
    const durationMs = timeOf(context, span);
    return durationMs && { ...base, kind: 'wait', durationMs };
  }
  if (until === undefined) {
    fields.require('wait');
    return undefined;
  }
  if (until.kind === 'text' || until.kind === 'number')
    return { ...base, kind: 'wait', until: references.value(until) };
  fields.mismatch('wait_until', until, 'a time such as `2026-12-24T18:00:00Z`, or a reference to one');
  return undefined;
}

/** A time in milliseconds: `30s`, or a reference with a unit, `${hours}h`. A reference alone is in milliseconds. */
function timeOf({ spec, reports, references }: NodeContext, span: Located): Expr | undefined {
  const parts = span.kind === 'text' ? parseReferences(span.value) : [];
  const [value, unit, ...more] = parts;
  const at = reports.source.span(span.start, span.end);
  const factor = typeof unit === 'string' ? UNITS[unit.trim()] : 1;
  if (span.kind === 'text' && value !== undefined && typeof value !== 'string' && more.length === 0) {
    const left = references.partOf(span, value);
    if (unit === undefined) return left;
    if (factor !== undefined)
      return { kind: 'arithmetic', op: 'mul', left, right: { kind: 'literal', value: factor, at }, at };
  }
  const duration = durationOf(reports, span, `\`wait\` of ${spec.fields.where}`);
  return duration === undefined ? undefined : { kind: 'literal', value: duration, at };
}
