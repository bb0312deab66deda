import { describe, expect, test } from 'vitest';
import type { JoinRule } from '../../../graph/model.js';
import { type Prospect, turnOf } from './open-joins.js';

const turn = (rule: JoinRule, ...prospects: readonly Prospect[]) =>
  turnOf(
    rule,
    prospects.map((prospect, index) => ({ id: `s${index}`, prospect })),
  );

const runs = { kind: 'runs' };

describe('the turn of a step in a hand-off', () => {
  test.each([
    ['all_success', ['done', 'done'], runs],
    ['all_success', [], runs],
    ['all_success', ['done', 'left', 'open'], { kind: 'left', without: ['s1'] }],
    ['all_success', ['open', 'done', 'open'], { kind: 'open', needs: ['s0', 's2'], how: 'all' }],
    ['one_success', ['left', 'done', 'open'], runs],
    ['one_success', [], runs],
    ['one_success', ['left', 'open'], { kind: 'open', needs: ['s1'], how: 'one' }],
    ['one_success', ['left', 'left'], { kind: 'left', without: ['s0', 's1'] }],
    ['none_failed_min_one_success', ['left'], { kind: 'left', without: ['s0'] }],
    ['none_failed_min_one_success', ['left', 'done'], runs],
    ['none_failed', ['left', 'open'], runs],
    ['all_done', ['left'], runs],
  ] as const)('%s of %j', (rule, prospects, expected) => {
    expect(turn(rule, ...prospects)).toEqual(expected);
  });
});
