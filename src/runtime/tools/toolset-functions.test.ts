import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { CallMask } from '../secrets/call-mask.js';
import { Mask } from '../secrets/mask.js';
import type { CallContext } from './port.js';
import type { Registry } from './registry.js';
import { createToolset } from './toolset.js';

const context = (more: Partial<CallContext> = {}): CallContext => ({
  signal: new AbortController().signal,
  requestId: 'r1',
  progress() {},
  ...more,
});

function evaluate(
  made: (...args: never[]) => unknown,
  args: readonly Json[] = [],
  given = context(),
  reference = { name: 'slugify', hash: 'h1' },
) {
  const registry: Registry = {
    registryVersion: 1,
    checksum: '',
    tools: {},
    resources: {},
    workflows: {},
    functions: { slugify: { function: made, hash: 'h1' } },
  };
  return createToolset<Registry>(registry).evaluate(reference, args, given);
}

describe('evaluate', () => {
  test('gives what the function makes of its arguments, as JSON', async () => {
    const add = (a: number, b: { n: number }) => ({ sum: a + b.n, gone: undefined });
    expect(await evaluate(add, [1, { n: 2 }])).toEqual({ ok: true, value: { sum: 3 } });
  });

  test('what gives nothing has no value; null is one', async () => {
    expect(await evaluate(() => undefined)).toEqual({ ok: true });
    expect(await evaluate(() => null)).toEqual({ ok: true, value: null });
  });

  test('the arguments are its own', async () => {
    const list = [1];
    const push = (given: number[]) => given.push(2);
    expect(await evaluate(push, [list])).toEqual({ ok: true, value: 2 });
    expect(list).toEqual([1]);
  });

  test.each([
    [
      'slugifi',
      'h1',
      'E_FUNCTION_UNKNOWN',
      'the registry has no function `slugifi` (did you mean `slugify`?)',
    ],
    ['constructor', 'h1', 'E_FUNCTION_UNKNOWN', 'the registry has no function `constructor`'],
    [
      'slugify',
      'h2',
      'E_FUNCTION_STALE',
      'function `slugify` is not the one this workflow was made with: run `npx stepwright codegen`',
    ],
  ])('%s with hash %s is refused', async (name, hash, code, message) => {
    const ran: unknown[] = [];
    const outcome = await evaluate(() => ran.push(1), [], context(), { name, hash });
    expect(outcome).toEqual({ ok: false, failure: { code, message } });
    expect(ran).toEqual([]);
  });

  test('what it throws is its failure, without secrets', async () => {
    const fail = () => {
      throw Object.assign(new RangeError('no hunter22'), { code: 'E_RANGE' });
    };
    expect(await evaluate(fail, [], context({ mask: new CallMask(new Mask(['hunter22'])) }))).toEqual({
      ok: false,
      failure: { code: 'E_RANGE', message: 'no ••••' },
    });
    expect(await evaluate(() => Promise.reject(new Error('late')))).toMatchObject({
      failure: {
        code: 'E_RESULT_NOT_JSON',
        message: 'the result is not JSON: it is an object of the kind Promise',
      },
    });
  });

  test('a value that is not JSON is a failure that names its path', async () => {
    expect(await evaluate(() => ({ list: [1, Number.NaN] }))).toEqual({
      ok: false,
      failure: {
        code: 'E_RESULT_NOT_JSON',
        message: 'the result is not JSON: `/list/1` is NaN',
        details: { pointer: '/list/1' },
      },
    });
  });

  test('a value that is too large is a failure, as a result of a tool is', async () => {
    const ofSize = (size: number) => evaluate(() => 'x'.repeat(size - 2));
    expect(await ofSize(4 * 1024 * 1024)).toMatchObject({ ok: true });
    expect(await ofSize(5_000_000)).toEqual({
      ok: false,
      failure: {
        code: 'E_RESULT_TOO_LARGE',
        message: 'the result is too large: its JSON text has at least 5000000 bytes, and 4194304 are allowed',
        details: { size: 5_000_000, limit: 4_194_304 },
      },
    });
  });

  test('no failure of it holds a secret, not even in a place', async () => {
    const outcome = await evaluate(
      () => ({ hunter22: Number.NaN }),
      [],
      context({ mask: new CallMask(new Mask(['hunter22'])) }),
    );
    expect(outcome).toEqual({
      ok: false,
      failure: {
        code: 'E_RESULT_NOT_JSON',
        message: 'the result is not JSON: `/••••` is NaN',
        details: { pointer: '/••••' },
      },
    });
  });

  test('nothing is evaluated for a caller who is gone', async () => {
    const outcome = await evaluate(() => 1, [], context({ signal: AbortSignal.abort() }));
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'E_CANCELLED' } });
  });
});
