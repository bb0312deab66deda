import type { Edit } from '../../../graph/diagnostics/diagnostic.js';
import { nearestName } from '../../../graph/names.js';
import { hasTemplate } from '../../jinja/tokens.js';
import { entryOf, type Located, type LocatedList, type LocatedText } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import { expectMap, Fields, renameTo } from '../fields.js';
import { type Key, keysOf, STEP_TYPES, STEPS, type StepType } from './keys.js';

export interface StepSpec {
  readonly id: string;
  readonly type: StepType;
  readonly fields: Fields;
  /** Its id in the text. */
  readonly at: Located;
  readonly list: StepList;
  readonly index: number;
  /** The lists of a condition. */
  readonly arms: readonly StepList[];
}

export interface StepList {
  readonly steps: readonly StepSpec[];
  /** The condition that the list is in. */
  readonly container?: StepSpec;
  readonly arm?: 'then' | 'else';
}

/** The steps of a list, and those in them, in the order of writing. */
export function allSteps({ steps }: StepList): StepSpec[] {
  return steps.flatMap((step) => [step, ...step.arms.flatMap(allSteps)]);
}

/** Reads a list of steps. Steps without a type are reported, and left out. */
export function readSteps(
  reports: Reports,
  items: LocatedList,
  place: Pick<StepList, 'container' | 'arm'> = {},
): StepList {
  const steps: StepSpec[] = [];
  const list: StepList = { steps, ...place };
  for (const item of items.items) {
    const step = readStep(reports, item, list, steps.length);
    if (step !== undefined) steps.push(step);
  }
  return list;
}

function readStep(reports: Reports, item: Located, list: StepList, index: number): StepSpec | undefined {
  const map = expectMap(reports, item, 'a step');
  if (map === undefined) return undefined;
  const name = entryOf(map, 'id')?.value;
  const own = new Fields(reports, map, name?.kind === 'text' ? `step \`${name.value}\`` : 'a step');
  const id = idOf(reports, own);
  const type = typeOf(reports, own);
  if (type === undefined || id === undefined) return undefined;
  const fields = new Fields(reports, map, `step \`${id.value}\``, keysOf(type));
  for (const [key, { isRequired }] of Object.entries<Key>(STEPS[type]))
    if (isRequired === true) fields.require(key);
  const arms: StepList[] = [];
  const spec: StepSpec = { id: id.value, type, fields, at: id, list, index, arms };
  if (type !== 'condition') return spec;
  for (const arm of ['then', 'else'] as const) {
    const items = fields.list(arm);
    if (items === undefined) continue;
    if (arm === 'then' && items.items.length === 0)
      fields.mismatch(arm, items, 'a list of one or more steps');
    arms.push(readSteps(reports, items, { container: spec, arm }));
  }
  return spec;
}

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/;

function idOf(reports: Reports, fields: Fields): LocatedText | undefined {
  if (!fields.require('id')) return undefined;
  const id = fields.text('id');
  if (id === undefined || !checkLiteral(reports, id, 'id')) return undefined;
  if (ID.test(id.value)) return id;
  const rule = 'letters, digits, `_` and `-`, a letter first';
  const name = id.value
    .trim()
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z]+/, '');
  const suggestion = ID.test(name) ? name : undefined;
  reports.report('SW5010', id, { kind: 'a step', name: id.value, rule, suggestion });
  return { ...id, value: suggestion ?? 'step' };
}

function typeOf(reports: Reports, fields: Fields): StepType | undefined {
  if (fields.has('type')) return fields.oneOf('type', STEP_TYPES);
  const [type, ...others] = STEP_TYPES.filter((each) => couldBe(each, fields));
  const edit =
    type === undefined || others.length > 0 ? undefined : keyBehind(reports, fields, 'id', `type: ${type}`);
  const at = fields.map.entries[0]?.key ?? fields.map;
  reports.report('SW5007', at, { what: fields.where, key: 'type' }, { edit });
  return undefined;
}

/** Whether a step without a type has what the steps of a type need, and no other key. */
function couldBe(type: StepType, { map }: Fields): boolean {
  const keys = map.entries.map(({ key }) => key.value);
  const own = Object.entries<Key>(STEPS[type]);
  return (
    own.every(([key, { isRequired }]) => isRequired !== true || keys.includes(key)) &&
    keys.every((key) => keysOf(type).includes(key))
  );
}

/** The edit that writes a key with its value behind another key of an object. */
export function keyBehind(reports: Reports, { map }: Fields, before: string, line: string): Edit | undefined {
  const entry = map.entries.find(({ key }) => key.value === before);
  if (entry === undefined) return undefined;
  const { key, value } = entry;
  const { text } = reports.source;
  const at = { start: value.end, end: value.end };
  if (text[map.start] === '{') {
    const isQuoted = text[key.start] === '"';
    return reports.edit(at, `, ${isQuoted ? line.replace(/^\w+/, '"$&"') : line}`);
  }
  const indent = /[^\n]*$/.exec(text.slice(0, key.start))?.[0] ?? '';
  return /^[ -]*$/.test(indent) ? reports.edit(at, `\n${indent.replaceAll('-', ' ')}${line}`) : undefined;
}

/** Reports a template where only a literal text makes sense. */
function checkLiteral(reports: Reports, text: LocatedText, key: string): boolean {
  if (!hasTemplate(text.value)) return true;
  reports.report('SW5015', text, { key, text: text.value });
  return false;
}

/** The text of a key that takes no template. */
export function literalOf(reports: Reports, fields: Fields, key: string): LocatedText | undefined {
  const text = fields.text(key);
  return text !== undefined && checkLiteral(reports, text, key) ? text : undefined;
}

/** The name of an agent; undefined without one, and for `null`. */
export function agentOf(reports: Reports, { fields }: StepSpec): string | undefined {
  const value = fields.value('agent');
  if (value === undefined || value.kind === 'null') return undefined;
  const agent = literalOf(reports, fields, 'agent');
  if (agent === undefined || AGENT.test(agent.value)) return agent?.value;
  const name = `@${agent.value
    .toLowerCase()
    .replace(/^@/, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')}`;
  const suggestion = AGENT.test(name) ? name : undefined;
  const rule = '`@`, then lower-case letters, digits and `-`';
  const edit = suggestion === undefined ? undefined : reports.rename(agent, suggestion);
  reports.report('SW5010', agent, { kind: 'an agent', name: agent.value, rule, suggestion }, { edit });
  return suggestion ?? '@task';
}

const AGENT = /^@[a-z0-9-]+$/;

/** The nearest name, and the edit if it is the only near one. */
export function nearby(reports: Reports, text: LocatedText, candidates: readonly string[]) {
  const suggestion = nearestName(text.value, candidates);
  return { suggestion, edit: renameTo(reports, text, candidates) };
}
