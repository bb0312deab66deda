import { expect, test } from 'vitest';
import { CallMask } from '../secrets/call-mask.js';
import type { CallContext } from './port.js';
import { toolContextOf } from './tool-context.js';

/** The context of a call that counts what is made of it. */
function counting() {
  const reads: string[] = [];
  const { signal } = new AbortController();
  class Context implements CallContext {
    readonly requestId = '7';
    get signal(): AbortSignal {
      reads.push('signal');
      return signal;
    }
    get idempotencyKey(): string {
      reads.push('idempotencyKey');
      return 'key';
    }
    progress(...report: unknown[]): void {
      reads.push(JSON.stringify(report));
    }
  }
  return { reads, signal, context: new Context() };
}

const maskOf = () => new CallMask();

test('the signal and the key of a call are made when a tool reads them', () => {
  const { reads, signal, context } = counting();
  const seen = toolContextOf(context, maskOf);
  expect(reads).toEqual([]);
  expect([seen.signal, seen.idempotencyKey]).toEqual([signal, 'key']);
  expect(reads).toEqual(['signal', 'idempotencyKey']);
});

test('a copy of the context has all of its members', () => {
  const { signal, context } = counting();
  const { progress, ...copied } = {
    ...toolContextOf({ ...context, progress() {}, auth, principal, signal }, maskOf),
  };
  const { elicit, log, sample, roots, closeStream, callUpstream, ...data } = copied;
  expect(data).toEqual({ requestId: '7', signal, auth, principal });
  for (const method of [elicit, log, sample, roots, closeStream, callUpstream])
    expect(method).toBeTypeOf('function');
  expect({ ...toolContextOf(context, maskOf) }).toMatchObject({ signal, idempotencyKey: 'key' });
  expect(progress).toBeTypeOf('function');
});

test('a direct call without a key has none', () => {
  const { signal } = new AbortController();
  const seen = toolContextOf({ signal, requestId: '7', progress() {} }, maskOf);
  expect('idempotencyKey' in seen).toBe(false);
});

test('contexts are of one form, however many there are', () => {
  const { context } = counting();
  const getters = [1, 2].map(
    () => Object.getOwnPropertyDescriptor(toolContextOf(context, maskOf), 'signal')?.get,
  );
  expect(getters[0]).toBe(getters[1]);
});

const auth = { clientId: 'c', scopes: [] };
const principal = { kind: 'local' } as const;
