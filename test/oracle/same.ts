import { canonicalJson } from '../../src/graph/canonical.js';
import type { Json } from '../../src/graph/json.js';
import type { Story } from './oracle.js';
import { plain } from './plain.js';
import type { CallRecord, End } from './run.js';

/** Two reports of one run, in a form in which they are equal if they agree. */
export function compared(
  expected: Story,
  actual: Story,
): { readonly expected: object; readonly actual: object } {
  const values = unknownIn(actual.ends);
  return { expected: form(expected, values, actual.left), actual: form(actual, values, actual.left) };
}

/**
 * Sentences of the machine's own are left out; what happens at one moment stands in one order. Only
 * what is undone keeps the order in which it was. Of the nodes that are left those count that the machine has kept.
 */
function form(story: Story, unknown: ReadonlySet<string>, kept: Story['left']): object {
  const calls = story.calls.filter(({ compensation }) => !compensation);
  const undone = story.calls.filter(({ compensation }) => compensation);
  const told = ({ at, node, tool, input, identity }: CallRecord): string =>
    `${at} ms: ${node} ${tool} ${canonicalJson(plain(input))} as ${identity}`;
  const { failure, result, ends, left, undone: report, remains, ...rest } = story;
  const isTop = (key: string): boolean => !/[/[]/.test(key);
  return {
    ...rest,
    result: plain(result),
    failure: failure === undefined ? undefined : plain({ ...failure }),
    ends: ends.map((end) => endOf(end, unknown)).sort(),
    left: Object.fromEntries(Object.entries(left).filter(([key]) => isTop(key) || Object.hasOwn(kept, key))),
    calls: [...calls].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)).map(told),
    undone: undone.map((call) => told({ ...call, node: '' })),
    remains: { ...remains, notUndone: remains.notUndone.map(withPlainInput) },
    report: isEmpty(report) ? undefined : plain(report),
  };
}

function withPlainInput(left: { readonly input?: Json }): object {
  return 'input' in left ? { ...left, input: plain(left.input) } : left;
}

/** Where nothing was to be undone there may be a report or none. */
function isEmpty(report: Json | undefined): boolean {
  return canonicalJson(report) === '{"done":[],"failed":[],"not_run":[]}';
}

function orderOf({ at, node, input }: CallRecord): string {
  return `${String(at).padStart(9, '0')} ${node} ${canonicalJson(plain(input))}`;
}

function placeOf({ at, node, status }: End): string {
  return `${String(at).padStart(9, '0')} ms: ${node} ${status}`;
}

function endOf(end: End, unknown: ReadonlySet<string>): string {
  const place = placeOf(end);
  if (end.status !== 'succeeded' || unknown.has(place)) return place;
  return `${place} with ${end.value === undefined ? 'nothing' : canonicalJson(plain(end.value))}`;
}

function unknownIn(ends: readonly End[]): ReadonlySet<string> {
  return new Set(ends.filter(({ isUnknown }) => isUnknown).map(placeOf));
}
