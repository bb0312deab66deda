import { describe, expect, test } from 'vitest';
import { thrownFailure, thrownReport } from './exceptions.js';

const failure = (thrown: unknown) => thrownFailure(thrown, 'E_TOOL_ERROR');

describe('thrownFailure', () => {
  test('takes a code of the form E_NAME from the error, and no other', () => {
    expect(failure(Object.assign(new Error('x'), { code: 'ENOENT' })).code).toBe('ENOENT');
    for (const code of ['not found', 'enoent', 20, '', 'E'.repeat(65), null]) {
      expect(failure(Object.assign(new Error('x'), { code })).code).toBe('E_TOOL_ERROR');
    }
  });

  test('takes how long to wait before the next call, where that is a number of ms', () => {
    expect(failure(Object.assign(new Error('x'), { retryAfterMs: 250 }))).toEqual({
      code: 'E_TOOL_ERROR',
      message: 'x',
      retryAfterMs: 250,
    });
    expect(failure(Object.assign(new Error('x'), { outcomeUnknown: true }))).toMatchObject({
      outcomeUnknown: true,
    });
    expect(failure(Object.assign(new Error('x'), { outcomeUnknown: 1 }))).not.toHaveProperty(
      'outcomeUnknown',
    );
    for (const retryAfterMs of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5', null]) {
      expect(failure(Object.assign(new Error('x'), { retryAfterMs }))).not.toHaveProperty('retryAfterMs');
    }
  });

  test('is one line of at most 500 characters, without a stack', () => {
    const error = new Error('broke');
    expect(failure(error.stack).message).toBe('Error: broke');
    expect(failure(new Error(`a\nb ${'x'.repeat(600)}`)).message).toMatch(/^a b x+…$/);
    expect(failure(new Error('x'.repeat(600))).message).toHaveLength(500);
  });

  test.each<[string, unknown, string]>([
    ['text', 'no', 'no'],
    ['empty text', ' ', 'it threw an empty text'],
    ['null', null, 'it threw null'],
    ['nothing', undefined, 'it threw undefined'],
    ['a number', 7, 'it threw 7'],
    ['a symbol', Symbol('x'), 'it threw a symbol'],
    ['a function', () => 1, 'it threw a function'],
    ['an object', {}, 'it threw an object without a message'],
    ['an object with a message', { message: 'said so' }, 'said so'],
    ['an error without a message', new TypeError(), 'it threw TypeError'],
  ])('%s', (_name, thrown, message) => {
    expect(failure(thrown).message).toBe(message);
  });

  test('a failed `fetch` says why, and has the code of its cause', async () => {
    const thrown = await fetch('http://127.0.0.1:1/').catch((error: unknown) => error);
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    for (const error of [new TypeError('fetch failed', { cause }), thrown])
      expect(failure(error).message).toMatch(/^fetch failed: ./);
    expect(failure(new TypeError('fetch failed', { cause }))).toEqual({
      code: 'ECONNREFUSED',
      message: 'fetch failed: connect ECONNREFUSED 127.0.0.1:1',
    });
    expect(failure(new Error('not saved', { cause })).message).toBe('not saved');
  });

  test('several errors that were gathered are all named', () => {
    const errors = [new Error('a is away'), new Error('b is away'), 'c'];
    expect(failure(new AggregateError(errors)).message).toBe('a is away; b is away; c');
    expect(failure(new AggregateError(errors, 'No mirror')).message).toBe(
      'No mirror: a is away; b is away; c',
    );
  });

  test('survives an error whose members throw', () => {
    const hostile = {
      get message(): never {
        throw new Error('no message');
      },
      get code(): never {
        throw new Error('no code');
      },
    };
    expect(failure(hostile)).toEqual({
      code: 'E_TOOL_ERROR',
      message: 'it threw an object without a message',
    });
  });
});

describe('thrownReport', () => {
  const stackless = (message: string, more: object = {}) =>
    Object.assign(new Error(message), { stack: `Error: ${message}` }, more);

  test('shows the causes and the errors that one gathers, each once', () => {
    const inner = stackless('inner');
    const first = stackless('first', { cause: inner });
    const both = stackless('both', { errors: [first, 'second'], cause: inner });
    expect(thrownReport(both)).toBe(
      'Error: both\none of its errors: Error: first\ncaused by: Error: inner\none of its errors: second',
    );
  });

  test('ends where causes go round, and after ten errors', () => {
    const round = stackless('round');
    Object.assign(round, { cause: round });
    expect(thrownReport(round)).toBe('Error: round');
    let long = stackless('0');
    for (let count = 1; count < 50; count += 1) long = stackless(String(count), { cause: long });
    expect(thrownReport(long).split('\n')).toHaveLength(10);
  });

  test('shows a message that was written after the stack', () => {
    expect(thrownReport(Object.assign(stackless('old'), { message: 'new' }))).toBe('new\nError: old');
  });

  test.each<[unknown, string]>([
    [undefined, 'it threw undefined'],
    ['no', 'no'],
    [{ stack: 7 }, 'it threw an object without a message'],
  ])('%j', (thrown, report) => {
    expect(thrownReport(thrown)).toBe(report);
  });
});
