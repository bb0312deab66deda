import { describe, expect, it } from 'vitest';
import { type ToolEffects, type ToolSafety, toolSafetyOf } from './tool-safety.js';

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
