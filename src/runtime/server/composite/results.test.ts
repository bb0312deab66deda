import { describe, expect, test } from 'vitest';
import { remainsIn, warningsOf } from './results.js';

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
