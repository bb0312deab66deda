import { describe, expect, test } from 'vitest';
import { ask } from './constructs.fixture.js';
import { again, graph, lit, Run } from './graph.fixture.js';
import { refusedValues } from './read.js';

const title = (more: Parameters<typeof ask>[2] = {}) =>
  ask('title', 'model', { expects: { type: 'string' }, ...more });

const refuse = (run: Run, ...problems: string[]) =>
  run.send({
    kind: 'valueRefused',
    at: run.at,
    command: [...run.state.owed.values()][0]?.command?.id ?? '',
    problems,
  });

describe('N10: a value of a model that does not fit', () => {
  test('leaves the action open, and its problems are part of the state', () => {
    const run = new Run(graph([title()]));
    refuse(run, 'must be string');
    expect(run.status('title')).toBe('waiting');
    expect(refusedValues(run.state, 'title#1')).toEqual([['must be string']]);
    expect(run.last.facts).toEqual([
      {
        ...{ kind: 'valueRefused', node: 'title', command: 'title#1', tries: 1, of: 3 },
        problems: ['must be string'],
      },
    ]);
    expect(run.answers('title', 'Plan').state.run.status).toBe('succeeded');
  });

  test('fails the step the third time', () => {
    const run = new Run(graph([title()]));
    for (const problem of ['one', 'two', 'three']) refuse(run, problem);
    expect(run.state.run).toMatchObject({
      status: 'failed',
      failure: {
        code: 'E_MODEL_VALUE',
        message: 'The model supplied no value that fits in 3 tries: three',
        details: { problems: ['three'], schema: { type: 'string' } },
      },
    });
  });

  test('counts for its attempt alone', () => {
    const run = new Run(graph([title({ retry: again(1) })]));
    for (const problem of ['one', 'two', 'three']) refuse(run, problem);
    expect(run.commands).toMatchObject([{ kind: 'requestAction', id: 'title#2' }]);
    expect(refusedValues(run.state, 'title#2')).toEqual([]);
  });

  test('changes nothing for a question to a person, or after the answer', () => {
    const asked = new Run(graph([ask('sure', 'confirm')]));
    expect(refuse(asked, 'no').last.facts).toEqual([]);
    const run = new Run(graph([title({ message: lit('?') })])).answers('title', 'Plan');
    expect(
      run.send({ kind: 'valueRefused', at: run.at, command: 'title#1', problems: [] }).last.facts,
    ).toEqual([]);
  });
});
