import { describe, expect, test } from 'vitest';
import type { Json } from '../../../graph/json.js';
import type { Envelope } from '../../runs/run/envelope.js';
import { longResult, remainsIn, warningsOf } from './results.js';

const call = (step: string) => ({ step, tool: 'unmake', input: { id: step } });
const unsure = (step: string) => ({ ...call(step), outcome_unknown: true }) as const;

describe('a side effect that remains', () => {
  test('is told apart from what may have been undone', () => {
    expect(warningsOf({ not_undone: [unsure('c'), call('b'), unsure('a')], not_undone_omitted: 2 })).toEqual([
      {
        code: 'W_NOT_UNDONE',
        message:
          `Not undone, and still in effect: step 'b' (to undo it: unmake {"id":"b"}). ` +
          `May have been undone, check first: step 'c' (to undo it: unmake {"id":"c"}), ` +
          `step 'a' (to undo it: unmake {"id":"a"}). And 2 more.`,
      },
    ]);
  });

  test('is not reported without evidence', () => {
    const [warning] = warningsOf({ not_undone: [unsure('a')] });
    expect(warning?.message).toBe(
      `May have been undone, check first: step 'a' (to undo it: unmake {"id":"a"}).`,
    );
  });

  test('is nothing where nothing is left', () => {
    expect(warningsOf({})).toEqual([]);
  });
});

test('items that failed are named up to a number', () => {
  const item = (index: number) => ({ step: 'each', index, code: 'E_DOWN', message: 'no answer' });
  const failed_items = Array.from({ length: 12 }, (_, index) => item(index));
  const [warning, ...others] = warningsOf({ failed_items, failed_items_omitted: 3 });
  expect(others).toEqual([]);
  expect(warning?.code).toBe('W_ITEMS_FAILED');
  expect(warning?.message).toMatch(
    /^Items failed, and are null in the result, or `\{ error \}` with `onItemError: report` \(the first is 0\): item 0 of step 'each': no answer \(E_DOWN\), /,
  );
  expect(warning?.message).toMatch(/item 9 of step 'each': no answer \(E_DOWN\) and 5 more\.$/);
});

describe('how undoing went', () => {
  test('is unknown where no answer came', () => {
    const failure = { code: 'E_TIMEOUT', message: 'no answer', outcome_unknown: true };
    const compensation = { done: [], failed: [{ tool: 'unmake', failure }], not_run: [] };
    const [text] = remainsIn({ code: 'E_CANCELLED', message: '', details: { compensation }, partial: {} });
    expect(text).toBe(
      'Nothing is known to have been undone. Whether it was undone with unmake is unknown: no answer.',
    );
  });
});

describe('a loop that failed', () => {
  const failed = (details: object) =>
    remainsIn({
      code: 'E_TOOL_ERROR',
      message: '',
      details: JSON.parse(JSON.stringify(details)),
      partial: {},
    });

  test('names the item and counts those that had finished, also those that are not shown', () => {
    expect(failed({ index: 4, partial: { 0: 'a', 1: 'b' }, partial_omitted: 3 })).toEqual([
      'In the loop, item 4 failed (the first is 0); 5 items had finished.',
    ]);
  });

  test('inside another one comes after it', () => {
    const inner = { index: 1, partial: { 0: 'a' } };
    expect(failed({ index: 0, partial: {}, details: { partial: {}, details: inner } })).toEqual([
      'In the loop, item 0 failed (the first is 0); 0 items had finished.',
      'In the loop, item 1 failed (the first is 0); 1 item had finished.',
    ]);
  });

  test('is none where a tool speaks of an index', () => {
    expect(failed({ index: 4 })).toEqual([]);
  });
});

const outlineOf = (result: Json, limit: number) => {
  const envelope: Partial<Envelope> = { workflow_id: 'r', definition: { name: 'w', hash: 'h' }, result };
  return longResult(envelope as Envelope, limit)?.outline;
};

test('a result that fits has no outline', () => {
  expect(outlineOf({ a: 1 }, 7)).toBe(undefined);
});

test('the outline of an object has its members, with the size of those that are long', () => {
  const result = {
    rows: Array.from({ length: 900 }, () => 0),
    total: 7,
    by: { a: 1 },
    none: [],
    'a\nb': 'x'.repeat(500),
  };
  expect(outlineOf(result, 1_500)?.split('\n')).toEqual([
    '- rows: a list of 900 items',
    '- total: 7',
    '- by: an object of 1 member',
    '- none: a list of 0 items',
    expect.stringMatching(/^- a b: "x+…$/),
  ]);
});

test('the outline of many members says how many it leaves out', () => {
  const result = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`m${at}`, at]));
  const lines = outlineOf(result, 1_500)?.split('\n') ?? [];
  expect(lines).toHaveLength(21);
  expect(lines.at(-1)).toBe('- and 180 more');
});

test('the outline of a text is its begin, of a list its length', () => {
  expect(outlineOf('word '.repeat(1_000), 2_000)).toMatch(/^It begins with:\nword word /);
  expect(outlineOf('word '.repeat(1_000), 2_000)?.length).toBeLessThan(1_050);
  expect(
    outlineOf(
      Array.from({ length: 900 }, () => 0),
      10,
    ),
  ).toBe('It is a list of 900 items.');
});
