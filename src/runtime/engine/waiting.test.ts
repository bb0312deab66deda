import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { parseTime } from '../../graph/kinds/waits.js';
import type { AskNode, WaitNode } from '../../graph/model.js';
import { ask, body, branch, field, set, wait } from './constructs.fixture.js';
import { again, broken, call, error, graph, list, lit, Run, step, text } from './graph.fixture.js';
import { outstanding } from './read.js';
import { rowsText } from './tables.fixture.js';

const NOW = Date.UTC(2026, 0, 1);

describe('N7: a question', () => {
  test('waits for an answer that fits, which is its value', () => {
    const question = ask('sure', 'confirm', { message: text('Book ', lit(3), '?') });
    const run = new Run(graph([question], { returns: step('sure', 'confirmed') }));
    const action = {
      ...{ type: 'ask', mode: 'confirm', message: 'Book 3?' },
      schema: {
        ...{ type: 'object', properties: { confirmed: { type: 'boolean' } } },
        ...{ required: ['confirmed'], additionalProperties: false },
      },
    };
    expect(run.commands).toEqual([{ kind: 'requestAction', id: 'sure#1', node: 'sure', action, seq: 1 }]);
    expect([run.status('sure'), outstanding(run.state).commands]).toEqual(['waiting', run.commands]);
    expect(run.last.facts.at(-1)).toEqual({
      ...{ kind: 'waiting', node: 'sure', nodeKind: 'ask', command: 'sure#1', action },
    });
    expect(run.answers('sure', { confirmed: false }).state.run.result).toBe(false);
    expect(run.facts).toContainEqual({
      ...{ kind: 'answered', node: 'sure', command: 'sure#1', value: { confirmed: false } },
    });
  });

  const options = list(lit('red'), lit('blue'));
  const expects = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };

  test('has the same schema object in all runs, for validators that are compiled for each schema', () => {
    const schemaOf = (node: AskNode): unknown => {
      const [command] = new Run(graph([node])).commands;
      return command?.kind === 'requestAction' ? command.action.schema : undefined;
    };
    const questions = [
      ask('q', 'text', { expects: { type: 'string', maxLength: 3 } }),
      ask('q', 'choice', { options }),
    ];
    for (const question of questions) expect(schemaOf(question)).toBe(schemaOf(question));
    expect(schemaOf(questions[0] as AskNode)).toMatchObject({ properties: { input: { maxLength: 3 } } });
  });

  test.each<[AskNode['mode'], Partial<AskNode>, Json, Json[]]>([
    [
      'info',
      {},
      { acknowledged: true },
      [{ acknowledged: false }, {}, true, null, { acknowledged: true, x: 1 }],
    ],
    ['confirm', {}, { confirmed: true }, [{ confirmed: 'yes' }, { confirmed: null }, [], 'true']],
    ['text', {}, { input: '' }, [{ input: 3 }, { Input: 'x' }, 'x']],
    [
      'choice',
      { options },
      { selected: 'blue' },
      [{ selected: 'green' }, { selected: 0 }, { selected: null }],
    ],
    ['yield', { expects }, { n: 1, more: true }, [3, null, [], 'x', {}, { m: 1 }]],
    ['yield', { expects: { type: 'array' } }, [1], [{}, 'x', null]],
    ['yield', { expects: { type: 'integer' } }, 4, [4.5, '4']],
    ['yield', { expects: { type: 'null' } }, null, [0, false]],
  ])('of mode %s takes what fits, and nothing else changes anything', (mode, more, good, bad) => {
    const run = new Run(graph([ask('q', mode, more)], { returns: step('q') }));
    const before = rowsText(run.state);
    for (const value of bad) expect(run.answers('q', value).last).toMatchObject({ changes: [], facts: [] });
    expect(rowsText(run.state)).toBe(before);
    expect(run.answers('q', good).state.run.result).toEqual(good);
  });

  test.each<[string, Partial<AskNode>]>([
    ['none', {}],
    ['no list', { options: lit('red') }],
    ['an empty list', { options: list() }],
    ['no text', { options: list(lit(1)) }],
    ['one twice', { options: list(lit('a'), lit('a')) }],
  ])('with options that are %s fails', (_name, more) => {
    expect(new Run(graph([ask('q', 'choice', more)])).state.run.failure?.code).toBe('E_ASK_OPTIONS');
  });

  test('any number wait at once, are answered in any order, and nothing else waits for them', () => {
    const nodes = [ask('a'), ask('b'), call('c'), call('d', { x: step('a') })];
    const run = new Run(graph(nodes, { maxConcurrency: 1 }));
    expect(outstanding(run.state).commands.map(({ id }) => id)).toEqual(['a#1', 'b#1', 'c#1']);
    run.answers('b', { confirmed: true }).returns('c').answers('a', { confirmed: false });
    expect(run.tables.commands['d#1']).toMatchObject({ input: { x: { confirmed: false } } });
  });

  test('an answer to what is answered, or after the end, changes nothing', () => {
    const run = new Run(graph([ask('a'), ask('b')])).answers('a', { confirmed: true });
    expect(run.answers('a', { confirmed: false }).last.changes).toEqual([]);
    run.cancel();
    expect(
      run.send({ kind: 'actionSubmitted', at: 0, command: 'b#1', value: { confirmed: true } }).last.changes,
    ).toEqual([]);
    expect(run.facts.at(-1)).toMatchObject({ kind: 'finished', status: 'cancelled' });
  });

  test('a tool’s result is not an answer, and an answer is not a result', () => {
    const run = new Run(graph([ask('a'), call('b')]));
    run.send({ kind: 'toolReturned', at: 0, command: 'a#1', value: { confirmed: true } });
    expect(run.last.changes).toEqual([]);
    run.send({ kind: 'actionSubmitted', at: 0, command: 'b#1', value: { confirmed: true } });
    expect(run.last.changes).toEqual([]);
    run.send({ kind: 'actionFailed', at: 0, command: 'b#1', failure: { code: 'X', message: '' } });
    expect(run.last.changes).toEqual([]);
  });

  test('a refused action fails it; it may be requested again, and a value may replace it', () => {
    const nodes = [
      ask('a', 'confirm', { retry: again(1), onError: { value: list(error('code'), error('attempts')) } }),
    ];
    const run = new Run(graph(nodes, { returns: step('a') }));
    run.fails('a');
    const refuse = (command: string) =>
      run.send({ kind: 'actionFailed', at: run.at, command, failure: { code: 'E_GONE', message: 'left' } });
    refuse('a#1');
    expect(outstanding(run.state).commands.map(({ id }) => id)).toEqual(['a#2']);
    expect(refuse('a#2').state.run.result).toEqual(['E_GONE', 2]);
  });

  test('N8: has no default limit; with one, the action is withdrawn', () => {
    const run = new Run(graph([ask('a'), ask('b', 'confirm', { timeoutMs: 50 })], { failFast: false })).fires(
      'b',
    );
    expect(run.commands).toEqual([{ kind: 'cancelCall', id: 'b#1:cancel', call: 'b#1' }]);
    expect([run.status('a'), run.tables.nodes.b?.failure]).toEqual([
      'waiting',
      { code: 'E_TIMEOUT', message: 'Timed out after 50 ms.' },
    ]);
  });

  describe('N14: with a reminder', () => {
    const lead = { kind: 'role', role: 'lead' } as const;
    const owed = (run: Run) => outstanding(run.state).commands[0];

    test('is marked once, and then may be answered by others until its limit', () => {
      const question = ask('a', 'confirm', { remindAfterMs: 20, escalateTo: [lead], timeoutMs: 50 });
      const run = new Run(graph([question], { failFast: false }));
      expect(owed(run)).toMatchObject({ dueAt: 1_020, reminder: { escalateTo: [lead], limitAt: 1_050 } });
      run.at = 1_025;
      run.fires('a');
      const answerBy = [{ kind: 'owner' }, lead];
      expect(owed(run)).toMatchObject({ id: 'a#1', action: { answerBy }, remindedAt: 1_025, dueAt: 1_050 });
      expect(owed(run)).not.toHaveProperty('reminder');
      expect(run.commands).toEqual([owed(run)]);
      expect(run.last.facts).toMatchObject([
        { kind: 'reminded', node: 'a', command: 'a#1', action: { answerBy } },
      ]);
      expect(run.fires('a').last).toMatchObject({ changes: [], facts: [] });
      expect(run.status('a')).toBe('waiting');
      run.at = 1_050;
      expect(run.fires('a').tables.nodes.a?.failure).toMatchObject({ code: 'E_TIMEOUT' });
    });

    test('keeps those who may answer where it is not escalated, and is answered as before', () => {
      const answerBy = [lead];
      const run = new Run(
        graph([ask('a', 'text', { answerBy, remindAfterMs: 20 })], { returns: step('a', 'input') }),
      ).fires('a');
      expect(owed(run)).toMatchObject({ action: { answerBy } });
      expect(owed(run)).not.toHaveProperty('dueAt');
      expect(run.fires('a').last).toMatchObject({ changes: [], facts: [] });
      expect(run.answers('a', { input: 'x' }).state.run.result).toBe('x');
    });

    test('is reminded of again in the next attempt', () => {
      const run = new Run(graph([ask('a', 'text', { remindAfterMs: 20, retry: again(1) })])).fires('a');
      const failure = { code: 'E_GONE', message: 'left' };
      run.send({ kind: 'actionFailed', at: run.at, command: 'a#1', failure });
      expect(owed(run)).toMatchObject({ id: 'a#2', reminder: {} });
    });

    test('comes before the end of the run alone', () => {
      const run = new Run(graph([ask('a', 'text', { remindAfterMs: 20 })]), {}, 1_020);
      expect(owed(run)).toMatchObject({ dueAt: 1_020 });
      expect(run.fires('a').state.run.failure?.code).toBe('E_DEADLINE');
    });
  });

  test('the run’s deadline bounds it', () => {
    const run = new Run(graph([ask('a')]), {}, 5_000).fires('a');
    expect(run.state.run.failure?.code).toBe('E_DEADLINE');
  });

  test('where its scope fails it is cancelled', () => {
    const run = new Run(graph([ask('a'), call('b')])).fails('b');
    expect([run.status('a'), run.state.run.status, outstanding(run.state).commands]).toEqual([
      'cancelled',
      'failed',
      [],
    ]);
  });

  test('a message that is not text fails it before the action is requested', () => {
    const run = new Run(graph([ask('a', 'text', { message: lit(3) })]));
    expect([run.commands, run.state.run.failure?.code]).toEqual([[], 'E_NOT_TEXT']);
  });
});

describe('a wait', () => {
  const waits = (options: Partial<WaitNode>) => {
    const run = new Run(graph([wait('w', options), call('next', {}, { after: ['w'] })]));
    return run;
  };

  test('ends when its timer fires', () => {
    const run = waits({ durationMs: lit(250.5) });
    expect(run.commands).toEqual([
      { kind: 'startTimer', id: 'w#1', node: 'w', purpose: 'wait', dueAt: 1_251, seq: 1 },
    ]);
    expect(run.facts.at(-1)).toEqual({
      kind: 'waiting',
      node: 'w',
      nodeKind: 'wait',
      command: 'w#1',
      until: 1_251,
    });
    expect(run.passes('w').inFlight).toEqual(['next']);
  });

  test.each<[string, Partial<WaitNode>]>([
    ['of nothing', { durationMs: lit(0) }],
    ['that is over', { until: lit(999) }],
    ['that is over, as text', { until: lit('1970-01-01T00:00:01Z') }],
    ['long ago', { until: lit(-5) }],
  ])('for a time %s passes at once', (_name, options) => {
    expect(waits(options).inFlight).toEqual(['next']);
  });

  test('until a time', () => {
    const run = waits({ until: lit('1970-01-01T00:00:02.500Z') });
    expect(run.commands).toEqual([
      { kind: 'startTimer', id: 'w#1', node: 'w', purpose: 'wait', dueAt: 2_500, seq: 1 },
    ]);
  });

  test.each<[string, Partial<WaitNode>]>([
    ['a negative duration', { durationMs: lit(-1) }],
    ['text', { durationMs: lit('5') }],
    ['nothing', { durationMs: lit() }],
    ['no time', { until: lit('tomorrow') }],
    ['too long', { durationMs: lit(10 * 366 * 86_400_000 + 1) }],
    ['too late', { until: lit(11 * 366 * 86_400_000) }],
    ['neither', {}],
  ])('for %s fails', (_name, options) => {
    expect(waits(options).state.run.failure?.code).toBe('E_WAIT');
  });

  test('for a time that cannot be evaluated fails', () => {
    expect(waits({ durationMs: broken }).state.run.failure?.code).toBe('E_NOT_AN_OBJECT');
  });

  test('a clock that goes backwards leaves it as long as it is', () => {
    const run = new Run(graph([call('a'), wait('w', { durationMs: lit(100), after: ['a'] })]));
    run.at = 400;
    run.returns('a');
    expect(run.tables.commands['w#1']).toMatchObject({ dueAt: 500 });
    run.at = 100;
    run.send({ kind: 'timerFired', at: 100, command: 'w#1' });
    expect(run.state.run.status).toBe('succeeded');
  });

  test('its limit, and the run’s deadline, end it as failures, each by the one timer it has', () => {
    const limited = new Run(graph([wait('w', { durationMs: lit(100), timeoutMs: 50 })]));
    const timer = { kind: 'startTimer', id: 'w#1', node: 'w', seq: 1 };
    expect(limited.commands).toEqual([{ ...timer, purpose: 'timeout', dueAt: 1_050 }]);
    limited.send({ kind: 'timerFired', at: 1_050, command: 'w#1' });
    expect(limited.commands).toEqual([]);
    expect(limited.state.run.failure?.code).toBe('E_TIMEOUT');
    const late = new Run(graph([wait('w', { durationMs: lit(100) })]), {}, 1_020);
    expect(late.commands).toEqual([{ ...timer, purpose: 'deadline', dueAt: 1_020 }]);
    late.send({ kind: 'timerFired', at: 1_020, command: 'w#1' });
    expect(late.state.run.failure?.code).toBe('E_DEADLINE');
  });

  test('whose limit is the very moment it waits for has waited', () => {
    const run = new Run(graph([wait('w', { durationMs: lit(50), timeoutMs: 50 })]), {}, 1_050);
    expect(run.commands).toMatchObject([{ id: 'w#1', purpose: 'wait', dueAt: 1_050 }]);
    expect(run.passes('w').state.run.status).toBe('succeeded');
  });

  test('is called off with its scope', () => {
    const inner = branch('b', [[undefined, body([wait('w', { durationMs: lit(100) })])]]);
    const run = new Run(graph([inner, call('bad')])).fails('bad');
    expect(run.commands).toContainEqual({ kind: 'cancelTimer', id: 'w#1:cancel', timer: 'w#1' });
    expect([run.status('b'), run.state.run.status]).toEqual(['cancelled', 'failed']);
  });
});

describe('times', () => {
  test.each<[string, number | undefined]>([
    ['1970-01-01T00:00:00Z', 0],
    ['2026-01-01T00:00:00Z', NOW],
    ['2026-01-01t01:00:00.123456+01:00', NOW + 123],
    ['2025-12-31 22:30:00-01:30', NOW],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2023-02-29T00:00:00Z', undefined],
    ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
    ['1900-02-29T00:00:00Z', undefined],
    ['2026-04-31T00:00:00Z', undefined],
    ['2026-13-01T00:00:00Z', undefined],
    ['2026-01-01T24:00:00Z', undefined],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['2026-01-01', undefined],
    ['2026-01-01T00:00:00', undefined],
    ['', undefined],
  ])('%s', (given, expected) => {
    expect(parseTime(given)).toBe(expected);
  });
});

describe('a set', () => {
  const state = [{ name: 'n', scope: 'run', schema: {}, initial: 1 } as const];

  test('reads all values before it writes any, and is the dict of them', () => {
    const nodes = [set('s', { n: list(field('n')), old: field('n'), gone: lit() })];
    const run = new Run(graph(nodes, { state, returns: list(step('s'), field('n'), field('old')) }));
    expect(run.state.run.result).toEqual([{ n: [1], old: 1 }, [1], 1]);
    expect(run.facts.filter(({ kind }) => kind === 'stateSet')).toEqual([
      { kind: 'stateSet', node: 's', field: 'n', value: [1] },
      { kind: 'stateSet', node: 's', field: 'old', value: 1 },
      { kind: 'stateSet', node: 's', field: 'gone' },
    ]);
  });

  test('a field reads as its initial value until it is written, also as absent', () => {
    const nodes = [set('s', { n: lit() })];
    expect(new Run(graph(nodes, { state, returns: list(field('n'), field('x')) })).state.run.result).toEqual([
      null,
      null,
    ]);
    expect(new Run(graph([], { state, returns: field('n') })).state.run.result).toBe(1);
  });

  test('writes nothing where one value cannot be evaluated', () => {
    const run = new Run(graph([set('s', { n: lit(2), x: broken })], { state }));
    expect([run.state.run.status, run.tables.fields]).toEqual(['failed', {}]);
  });
});
