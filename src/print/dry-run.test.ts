import { expect, test } from 'vitest';
import { dryRunText } from './dry-run.js';

const call = (step_id: string, input: object) => ({
  event: 'call',
  step_id,
  attempt: 1,
  input,
  result: 1,
  stub: 'given',
});

test('what happens to steps at the same time is below each of them', () => {
  const path = [
    { event: 'started', step_id: 'wait', does: 'call a' },
    { event: 'started', step_id: 'stay', does: 'call b', condition: 'x > 1' },
    { event: 'skipped', step_id: 'sorry', reason: 'not_selected' },
    call('wait', { n: 1 }),
    call('stay', { n: 2 }),
  ];
  expect(
    dryRunText({ workflow: 'w', status: 'succeeded', result: 3, path }),
  ).toBe(`w: dry run, no tool was called
  wait: call a
    input {"n":1}
    result 1 (stub)
  stay: call b
    if x > 1: holds
    input {"n":2}
    result 1 (stub)
  sorry: skipped, nothing selected it
succeeded: 3
`);
});

test('branches and items are printed one after the other, with the steps in them', () => {
  const left = { step_id: 'both', arm: 'left' };
  const right = { step_id: 'both', arm: 'right' };
  const item = (index: number) => ({ step_id: 'each', index });
  const path = [
    { event: 'started', step_id: 'both', does: 'parallel' },
    { event: 'part', step_id: 'both', arm: 'left', count: 2 },
    { event: 'part', step_id: 'both', arm: 'right', count: 2 },
    { event: 'started', step_id: 'each', does: 'for each', in: left },
    { event: 'started', step_id: 'r', does: 'run t', in: right },
    { event: 'part', step_id: 'each', index: 0, count: 2, in: left },
    { event: 'part', step_id: 'each', index: 1, count: 2, in: left },
    { event: 'started', step_id: 's[0]', does: 'call a', in: item(0) },
    { event: 'started', step_id: 'r/u', does: 'call a', in: { step_id: 'r' } },
    { event: 'skipped', step_id: 's[1]', reason: 'condition_false', condition: 'no', in: item(1) },
    call('s[0]', {}),
    call('r/u', {}),
    { event: 'failed', step_id: 'r', failure: { code: 'E', message: 'm' }, in: right },
    { event: 'undoing', step_id: 'both' },
    { ...call('both', { id: 1 }), compensates: true, tool: 'drop' },
  ];
  const failure = { code: 'E', message: 'm' };
  expect(dryRunText({ workflow: 'w', status: 'failed', failure, path })).toBe(`w: dry run, no tool was called
  both: parallel
    branch left
      each: for each
        item 1 of 2
          s[0]: call a
            input {}
            result 1 (stub)
        item 2 of 2
          s[1]: skipped, its condition does not hold: no
    branch right
      r: run t
        r/u: call a
          input {}
          result 1 (stub)
        failed: E: m
    undoing
    undo drop {"id":1}
    result 1 (stub)
failed: E: m
`);
});

test('a step that runs again has further lines', () => {
  const again = { event: 'started', step_id: 'check', does: 'call a' };
  const path = [again, call('check', { n: 1 }), again, call('check', { n: 2 })];
  expect(dryRunText({ workflow: 'w', status: 'succeeded', path }).split('\n').slice(1, 7)).toEqual([
    '  check: call a',
    '    input {"n":1}',
    '    result 1 (stub)',
    '  check: call a',
    '    input {"n":2}',
    '    result 1 (stub)',
  ]);
});
