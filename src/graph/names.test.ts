import { describe, expect, test } from 'vitest';
import { isValidBinding, isValidName } from './names.js';

describe('isValidName', () => {
  test.each(['a', 'add-task', 'list_pages2', `a${'b'.repeat(61)}`])('takes %s', (name) => {
    expect(isValidName(name)).toBe(true);
  });

  test.each(['', '1a', '-a', 'Add', 'a b', 'a.b', 'ä', '__proto__', `a${'b'.repeat(62)}`, 'a\n'])(
    'refuses %j',
    (name) => {
      expect(isValidName(name)).toBe(false);
    },
  );
});

describe('isValidBinding', () => {
  test.each(['a', '_x', '$x', 'größe', 'routed.bug', 'check-seats', 'constructor'])('takes %s', (name) => {
    expect(isValidBinding(name)).toBe(true);
  });

  test.each(['', '1a', '.a', 'a b', '__proto__', 'a\n', 'a'.repeat(129)])('refuses %j', (name) => {
    expect(isValidBinding(name)).toBe(false);
  });
});
