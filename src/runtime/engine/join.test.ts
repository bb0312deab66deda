import { describe, expect, test } from 'vitest';
import type { JoinRule } from '../../graph/kinds/node.js';
import type { NodeStatus, SkipReason } from './events.js';
import { type JoinVerdict, Settlements } from './scheduler.js';

type Settlement = readonly [status: NodeStatus, reason?: SkipReason];

const row = (...settlement: Settlement): Settlement => settlement;

const outcomesByName = {
  ok: row('succeeded'),
  failed: row('failed'),
  cancelled: row('cancelled'),
  handled: row('handled'),
  skipped: row('skipped', 'condition_false'),
  cutOff: row('skipped', 'upstream_failed'),
};

type DependencyName = keyof typeof outcomesByName;
type Outcome = 'run' | 'upstream_failed' | 'upstream_skipped';

const table: readonly [dependencies: DependencyName[], outcomes: Readonly<Record<JoinRule, Outcome>>][] = [
  [[], all('run')],
  [['ok'], all('run')],
  [['ok', 'ok'], all('run')],
  [['failed'], { ...all('upstream_failed'), all_done: 'run' }],
  [['cancelled'], { ...all('upstream_failed'), all_done: 'run' }],
  [['cutOff'], { ...all('upstream_failed'), all_done: 'run' }],
  [['skipped'], { ...all('upstream_skipped'), none_failed: 'run', all_done: 'run' }],
  [['handled'], { ...all('upstream_skipped'), none_failed: 'run', all_done: 'run' }],
  [['skipped', 'handled'], { ...all('upstream_skipped'), none_failed: 'run', all_done: 'run' }],
  [['ok', 'skipped'], { ...all('run'), all_success: 'upstream_skipped' }],
  [['ok', 'handled'], { ...all('run'), all_success: 'upstream_skipped' }],
  [['ok', 'failed'], { ...all('upstream_failed'), one_success: 'run', all_done: 'run' }],
  [['ok', 'cutOff'], { ...all('upstream_failed'), one_success: 'run', all_done: 'run' }],
  [['skipped', 'failed'], { ...all('upstream_failed'), all_done: 'run' }],
  [['ok', 'skipped', 'failed'], { ...all('upstream_failed'), one_success: 'run', all_done: 'run' }],
];

function all(outcome: Outcome): Record<JoinRule, Outcome> {
  return {
    all_success: outcome,
    none_failed: outcome,
    none_failed_min_one_success: outcome,
    one_success: outcome,
    all_done: outcome,
  };
}

function join(rule: JoinRule, dependencies: readonly Settlement[]): JoinVerdict {
  const settlements = new Settlements();
  for (const each of dependencies) settlements.add(...each);
  return settlements.verdict(rule);
}

describe('G3, G4: joins', () => {
  for (const [dependencies, outcomes] of table) {
    for (const [rule, outcome] of Object.entries(outcomes) as [JoinRule, Outcome][]) {
      test(`${rule} of [${dependencies.join(', ')}] is ${outcome}`, () => {
        const verdict = join(
          rule,
          dependencies.map((name) => outcomesByName[name]),
        );
        expect(verdict.run ? 'run' : verdict.reason).toBe(outcome);
      });
    }
  }

  test('a dependency that has not settled is a fault of the caller', () => {
    expect(() => join('all_done', [row('running')])).toThrow('still running');
  });
});
