import { canonicalJson } from '../../src/graph/canonical.js';
import type { Json } from '../../src/graph/json.js';
import type { Story } from './oracle.js';
import type { CallRecord } from './run.js';

/**
 * A story in a form in which equal ones are equal: sentences of the machine's own left out, identities numbered, calls
 * of one moment in one order. What is undone keeps the order in which it was.
 */
export function comparable(story: Story): object {
  const calls = story.calls.filter(({ compensation }) => !compensation);
  const undone = story.calls.filter(({ compensation }) => compensation);
  const numbers = new Map<string, number>();
  const told = ({ at, node, tool, input, identity }: CallRecord): string => {
    if (!numbers.has(identity)) numbers.set(identity, numbers.size);
    return `${at} ms: ${node} ${tool} ${canonicalJson(input)} as ${numbers.get(identity)}`;
  };
  const order = (call: CallRecord): string =>
    `${String(call.at).padStart(9, '0')} ${call.node} ${canonicalJson(call.input)}`;
  const { failure, ...rest } = story;
  return {
    ...rest,
    result: plain(story.result),
    ...(failure === undefined ? {} : { failure: plain({ ...failure }) }),
    outputs: Object.fromEntries(Object.entries(story.outputs).map(([key, value]) => [key, plain(value)])),
    calls: [...calls].sort((a, b) => (order(a) < order(b) ? -1 : 1)).map(told),
    undone: undone.map(({ at, tool, input }) => `${at} ms: ${tool} ${canonicalJson(input)}`),
  };
}

/** Without the sentences that only the machine makes: those of codes that begin with `E_`. */
function plain(value: Json | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const entries = Object.entries(value);
  const isOurs = entries.some(
    ([key, code]) => key === 'code' && typeof code === 'string' && code.startsWith('E_'),
  );
  return Object.fromEntries(
    entries
      .filter(([key]) => !isOurs || (key !== 'message' && key !== 'outcomeUnknown'))
      .map(([key, each]) => [key, plain(each)]),
  );
}
