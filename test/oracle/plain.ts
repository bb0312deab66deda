import type { Json, Value } from '../../src/graph/json.js';

/** Without the sentences that only the machine makes: those of codes that begin with `E_`. */
export function plain(value: Json | undefined): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => plain(item) ?? null);
  const entries = Object.entries(value);
  const isInput = entries.some(([key, code]) => key === 'code' && code === 'E_INPUT');
  const isOurs = entries.some(
    ([key, code]) => key === 'code' && typeof code === 'string' && code.startsWith('E_') && code !== 'E_FAIL',
  );
  const ours = ['message', ...(isInput ? ['details'] : [])];
  const kept = entries.filter(
    ([key]) => !['outcomeUnknown', 'outcome_unknown'].includes(key) && !(isOurs && ours.includes(key)),
  );
  return Object.fromEntries(kept.map(([key, each]) => [key, plain(each) ?? null]));
}
