import { describe, expect, test } from 'vitest';
import { accessKey, type Caller, type OwnerRule, ownerKey, ownerOf } from './owner.js';

const user = (extra: Record<string, unknown>, clientId = 'desktop'): Caller => ({
  auth: { clientId, extra },
});

describe('ownerOf', () => {
  test.each<[Caller, OwnerRule, object]>([
    [{}, {}, { kind: 'anonymous' }],
    [{ local: true }, {}, { kind: 'local' }],
    [{ local: true, ...user({ sub: 'ada' }) }, {}, { kind: 'principal', subject: 'ada' }],
    [user({ sub: 1 }), {}, { kind: 'principal', subject: 1 }],
    [user({ sub: '1', iss: 'i' }), {}, { kind: 'principal', issuer: 'i', subject: '1' }],
    [user({}), {}, { kind: 'principal', clientId: 'desktop' }],
    [user({ iss: 'i' }), {}, { kind: 'principal', issuer: 'i', clientId: 'desktop' }],
    [user({ subject: 'ada' }), {}, { kind: 'principal', clientId: 'desktop' }],
    [{ auth: { clientId: 'desktop' } }, {}, { kind: 'principal', clientId: 'desktop' }],
    [{ auth: { clientId: 'desktop', subject: 'ada' } }, {}, { kind: 'principal', subject: 'ada' }],
    [
      user({ sub: 'ada' }),
      { owner: 'client+subject' },
      { kind: 'principal', subject: 'ada', clientId: 'desktop' },
    ],
    [user({ sub: 'pairwise', oid: 7 }), { subjectClaim: 'oid' }, { kind: 'principal', subject: 7 }],
    [user({}), { subjectClaim: 'oid' }, { kind: 'principal', clientId: 'desktop' }],
    [user({}), { subjectClaim: 'constructor' }, { kind: 'principal', clientId: 'desktop' }],
  ])('says of %j with %j that it is %j', (caller, rule, owner) => {
    expect(ownerOf(caller, rule)).toStrictEqual(owner);
  });

  test.each<[string, Caller, OwnerRule]>([
    ['`sub` is null, and must be a text or a number', user({ sub: null }), {}],
    ['`sub` is an object', user({ sub: {} }), {}],
    ['`sub` is a list', user({ sub: [1] }), {}],
    ['`sub` is a boolean', user({ sub: false }), {}],
    ['`sub` is an empty text', user({ sub: '' }), {}],
    ['`sub` is a bigint', user({ sub: 1n }), {}],
    ['`sub` is a function', user({ sub: () => 'ada' }), {}],
    ['`sub` is a number that is not kept exactly', user({ sub: Number.NaN }), {}],
    ['`sub` is a number that is not kept exactly', user({ sub: 2 ** 53 }), {}],
    ['`sub` is an object', { auth: { clientId: 'desktop', subject: {} } }, {}],
    ['`iss` is a number, and must be a text', user({ sub: 'ada', iss: 7 }), {}],
    ['`oid` is an object', user({ sub: 'ada', oid: {} }), { subjectClaim: 'oid' }],
    ['`oid` is missing', user({ sub: 'ada' }), { subjectClaim: 'oid' }],
    ['`clientId` is an empty text', user({}, ''), {}],
    ['`clientId` is missing', { auth: {} as never }, {}],
    ['`clientId` is an empty text', user({ sub: 'ada' }, ''), { owner: 'client+subject' }],
  ])('refuses: %s', (message, caller, rule) => {
    expect(() => ownerOf(caller, rule)).toThrow(message);
    expect(() => ownerOf(caller, rule)).toThrow(expect.objectContaining({ name: 'UnidentifiedCallerError' }));
  });
});

test('no two owners have the same key', () => {
  const owners = [
    ownerOf({}),
    ownerOf({ local: true }),
    ...[1, '1', 2, '2', '[1]', 'kind'].map((sub) => ownerOf(user({ sub }))),
    ...['1', 'desktop'].map((id) => ownerOf(user({}, id))),
    ownerOf(user({ iss: '1' }, '1')),
    ownerOf(user({ iss: '1', sub: '1' })),
    ownerOf(user({ sub: '1' }, '1'), { owner: 'client+subject' }),
  ];
  expect(new Set(owners.map(ownerKey)).size).toBe(owners.length);
  // Who is not authenticated reaches runs by their ids alone.
  expect(new Set(owners.map(accessKey)).size).toBe(owners.length - 1);
});
