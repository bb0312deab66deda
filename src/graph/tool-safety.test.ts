import { describe, expect, it } from 'vitest';
import { contradictedHint, type ToolEffects, type ToolSafety, toolSafetyOf } from './tool-safety.js';

describe('toolSafetyOf', () => {
  it.each<[ToolEffects, ToolSafety]>([
    [{}, 'none'],
    [{ annotations: { idempotentHint: false } }, 'none'],
    [{ annotations: { idempotentHint: true } }, 'idempotent'],
    [{ annotations: { readOnlyHint: true } }, 'readOnly'],
    [{ annotations: { readOnlyHint: true, idempotentHint: true } }, 'readOnly'],
    [{ annotations: { readOnlyHint: true }, retrySafety: 'idempotent' }, 'readOnly'],
    [{ retrySafety: 'key' }, 'key'],
    [{ retrySafety: 'idempotent' }, 'idempotent'],
    [{ annotations: { readOnlyHint: false }, retrySafety: 'none' }, 'none'],
  ])('%j is %s', (effects, safety) => {
    expect(toolSafetyOf(effects)).toBe(safety);
  });
});

describe('contradictedHint', () => {
  it.each<ToolEffects>([
    {},
    { annotations: { readOnlyHint: true, idempotentHint: false } },
    { retrySafety: 'none' },
    { annotations: { readOnlyHint: false, idempotentHint: false }, retrySafety: 'none' },
    { annotations: { idempotentHint: false }, retrySafety: 'key' },
    { annotations: { idempotentHint: true }, retrySafety: 'idempotent' },
    { annotations: { readOnlyHint: true }, retrySafety: 'idempotent' },
  ])('%j agrees with itself', (effects) => {
    expect(contradictedHint(effects)).toBeUndefined();
  });

  it.each<[ToolEffects, string, boolean]>([
    [{ annotations: { idempotentHint: true }, retrySafety: 'none' }, 'idempotentHint', true],
    [{ annotations: { idempotentHint: true }, retrySafety: 'key' }, 'idempotentHint', true],
    [{ annotations: { idempotentHint: false }, retrySafety: 'idempotent' }, 'idempotentHint', false],
    [{ annotations: { readOnlyHint: true }, retrySafety: 'key' }, 'readOnlyHint', true],
    [
      { annotations: { readOnlyHint: true, idempotentHint: false }, retrySafety: 'none' },
      'readOnlyHint',
      true,
    ],
  ])('%j contradicts %s: %s', (effects, hint, value) => {
    expect(contradictedHint(effects)).toEqual({ hint, value });
  });
});
