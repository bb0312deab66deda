import type { Event } from './events.js';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isTime: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const isFailure: Check = (value) => isRecord(value) && isText(value.code) && isText(value.message);
const isList: Check = (value) => Array.isArray(value) && value.every(isText);
const isAnything: Check = () => true;

/** Properties of each kind of event besides `kind`, `at`, `id` and `by`. `?` marks optional ones. */
const PROPERTIES: { readonly [K in Event['kind']]: Readonly<Record<string, Check>> } = {
  toolReturned: { command: isText, value: isAnything },
  toolFailed: { command: isText, failure: isFailure, attempted: isFlag },
  resourceRead: { command: isText, value: isRecord },
  resourceFailed: { command: isText, failure: isFailure },
  evaluated: { command: isText, 'value?': isAnything },
  evaluationFailed: { command: isText, failure: isFailure },
  timerFired: { command: isText },
  actionSubmitted: { command: isText, value: isAnything },
  actionFailed: { command: isText, failure: isFailure },
  cancelled: { reason: isText, 'compensate?': isFlag, 'code?': isText, 'notStarted?': isList },
  nodeSubmitted: { node: isText, value: isAnything },
  retryRequested: { node: isText },
  outcomeDecided: { node: isText, outcome: isOutcome },
};

const COMMON: Readonly<Record<string, Check>> = {
  kind: isText,
  at: isTime,
  'id?': isText,
  'by?': isAnything,
};

/** Values nested deeper than this are refused. */
const MAX_DEPTH = 512;

/**
 * The fault of an event from outside, as a sentence; undefined for one that `advance` accepts. It must be plain JSON at every
 * level: no getters, cycles, functions, dates, or numbers that are not finite.
 */
export function eventFault(event: unknown): string | undefined {
  const pointer = notJson(event, '', 0);
  if (pointer !== undefined) return `The event is not plain JSON at '${pointer}'.`;
  if (!isRecord(event)) return 'The event is not an object.';
  const { kind } = event;
  if (typeof kind !== 'string' || !Object.hasOwn(PROPERTIES, kind)) {
    return `The event has the kind ${JSON.stringify(kind)}, which is not one of ${Object.keys(PROPERTIES).join(', ')}.`;
  }
  const properties = { ...COMMON, ...PROPERTIES[kind as Event['kind']] };
  for (const [name, check] of Object.entries(properties)) {
    const key = name.replace('?', '');
    if (!Object.hasOwn(event, key)) {
      if (key === name) return `An event of kind '${kind}' must have '${key}'.`;
    } else if (!check(event[key])) return `'${key}' of an event of kind '${kind}' is not valid.`;
  }
  const unknown = Object.keys(event).find((key) => !(key in properties) && !(`${key}?` in properties));
  return unknown === undefined ? undefined : `An event of kind '${kind}' cannot have '${unknown}'.`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOutcome(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return value.kind === 'didNotHappen' || (value.kind === 'happened' && Object.hasOwn(value, 'value'));
}

/** JSON pointer to the first value that is not plain JSON. */
function notJson(value: unknown, pointer: string, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return pointer;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : pointer;
    case 'object':
      break;
    default:
      return pointer;
  }
  if (value === null) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain) return pointer;
  for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (Array.isArray(value) && key === 'length') continue;
    const inner = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!('value' in property)) return inner;
    const fault = notJson(property.value, inner, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
