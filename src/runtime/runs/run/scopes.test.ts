import { expect, test } from 'vitest';
import { lackingScopes, scopeFailure } from './owner.js';

const auth = (...scopes: readonly string[]) => ({ auth: { clientId: 'c', scopes } });

test.each([
  ['nothing is needed', undefined, {}, []],
  ['the user of this process', ['a'], { local: true }, []],
  ['a token with all', ['a', 'b'], auth('b', 'c', 'a'), []],
  ['a token with some', ['a', 'b'], auth('b'), ['a']],
  ['a local caller with a token', ['a'], { ...auth('b'), local: true }, ['a']],
  ['no token', ['a', 'b'], {}, ['a', 'b']],
] as const)('the scopes that are lacking: %s', (_, required, caller, missing) => {
  expect(lackingScopes(required, caller)).toEqual(missing);
});

test('a refusal names what is lacking', () => {
  expect(scopeFailure(['a'])).toEqual({
    code: 'E_SCOPE',
    message: "The caller lacks the scope 'a': call again with a token that has it",
    details: { missing: ['a'] },
  });
  expect(scopeFailure(['a', 'b']).message).toBe(
    "The caller lacks the scopes 'a', 'b': call again with a token that has them",
  );
});
