import { describe, expect, test } from 'vitest';
import { isPortableName, isValidName, type NamedKind } from './names.js';

const valid: Readonly<Record<NamedKind, readonly string[]>> = {
  tool: ['a', 'getUser', 'user.get', '2fa', '-a', 'A_b-c.d', 'a'.repeat(128)],
  prompt: ['a', 'codeReview', 'review.code', 'a'.repeat(128)],
  resource: ['intro', 'Intro.v2'],
  domain: ['travel_booking', 'Air.2', 'бронь'],
  workflow: ['a', 'AddTask', 'add-task_2', `a${'b'.repeat(61)}`],
  state: ['active-project'],
  agent: ['@task', '@code-reviewer', '@data.analyst_v2', `@a${'b'.repeat(63)}`],
  step: ['a', '_x', '$x', 'größe', 'routed.bug', 'check-seats', 'constructor'],
  argument: ['task', 'task-name', 'user.name', 'größe', '$x'],
  binding: ['a', 'größe', '_x', '$x', 'constructor'],
};

const invalid: Readonly<Record<NamedKind, readonly string[]>> = {
  tool: ['', 'a b', 'ä', 'a/b', 'a\n', '__proto__', 'a'.repeat(129)],
  prompt: ['', 'a b', '__proto__'],
  resource: ['', 'a b', '__proto__'],
  domain: ['', ' ', 'a b', 'a/b', 'a?b', 'a#b', 'a%b', '..', 'x'.repeat(65)],
  workflow: ['', '1a', '-a', '_a', 'a b', 'a.b', 'ä', 'a\n', `a${'b'.repeat(62)}`],
  state: ['', 'a.b', '__proto__'],
  agent: ['', 'task', '@', '@-a', '@a b', '@a\n', `@a${'b'.repeat(64)}`],
  step: ['', '1a', '.a', 'a b', '__proto__', 'a\n', 'a'.repeat(129)],
  argument: ['', '1a', '-a', 'a b', '__proto__', 'a'.repeat(129)],
  binding: ['', '1a', 'a-b', 'a.b', 'a b', '__proto__', 'a\n', 'a'.repeat(129)],
};

const cases = (names: typeof valid) =>
  Object.entries(names).flatMap(([kind, list]) => list.map((name) => [kind as NamedKind, name] as const));

describe('isValidName', () => {
  test.each(cases(valid))('takes as a %s %j', (kind, name) => {
    expect(isValidName(kind, name)).toBe(true);
  });

  test.each(cases(invalid))('refuses as a %s %j', (kind, name) => {
    expect(isValidName(kind, name)).toBe(false);
  });
});

test('isPortableName refuses dots and more than 64 characters', () => {
  expect(['a', 'getUser', 'a'.repeat(64)].map(isPortableName)).toEqual([true, true, true]);
  expect(['user.get', 'a'.repeat(65)].map(isPortableName)).toEqual([false, false]);
});
