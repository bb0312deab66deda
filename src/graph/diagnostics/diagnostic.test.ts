import { describe, expect, test } from 'vitest';
import type { SourceLocation } from '../source-location.js';
import {
  applySeverity,
  type Diagnostic,
  diagnostic,
  hasErrors,
  type SeverityOverride,
} from './diagnostic.js';

const place: SourceLocation = { file: 'a.ts', span: [3, 5, 3, 9] };
const unused = diagnostic('SW3011', place, { name: 'x', workflow: 'w' });
const unreached = diagnostic('SW4013', place, { step: 'a', end: 'output' });
const unknown = diagnostic('SW3001', place, { name: 'x' });

function shown(
  overrides: Record<string, SeverityOverride>,
  found: readonly Diagnostic[] = [unused, unreached, unknown],
): string[] {
  return applySeverity(found, overrides).map(({ code, severity }) => `${code} ${severity}`);
}

describe('applySeverity', () => {
  test('turns warnings off, or makes them errors', () => {
    expect(shown({})).toEqual(['SW3011 warning', 'SW4013 warning', 'SW3001 error']);
    expect(shown({ SW3011: 'off', SW4013: 'error' })).toEqual(['SW4013 error', 'SW3001 error']);
    expect(shown({ SW3011: 'warning' })).toEqual(shown({}));
    expect(hasErrors(applySeverity([unused], { SW3011: 'error' }))).toBe(true);
  });

  test('leaves the rest of a diagnostic, and what it was given', () => {
    expect(applySeverity([unused], { SW3011: 'error' })).toEqual([{ ...unused, severity: 'error' }]);
    expect(unused.severity).toBe('warning');
  });

  test('SW9011: errors stay errors', () => {
    const [refused, kept] = applySeverity([unknown], { SW3001: 'off' });
    expect(refused).toMatchObject({
      code: 'SW9011',
      severity: 'error',
      message: '`SW3001` is an error, and cannot be made silent',
      hint: 'only warnings can be turned off or changed',
    });
    expect(kept).toEqual(unknown);
    expect(applySeverity([], { SW3001: 'warning' })[0]?.message).toBe(
      '`SW3001` is an error, and cannot be made a warning',
    );
    expect(shown({ SW3001: 'error' }, [unknown])).toEqual(['SW3001 error']);
  });

  test('SW9010: a code that does not exist', () => {
    const [refused] = applySeverity([], { SW30111: 'off' });
    expect(refused).toMatchObject({
      code: 'SW9010',
      message: 'there is no diagnostic `SW30111`',
      hint: 'did you mean `SW3011`?',
    });
    expect(shown(JSON.parse('{"__proto__":"off"}'), [])).toEqual(['SW9010 error']);
    expect(shown(JSON.parse('{"constructor":"off"}'), [])).toEqual(['SW9010 error']);
  });

  test('is refused itself in no way', () => {
    expect(shown({ SW9011: 'off' }, [])).toEqual(['SW9011 error']);
  });
});

test('no pattern is named for `__proto__`, which may match it', () => {
  const hintOf = (name: string) =>
    diagnostic('SW1002', undefined, { kind: 'argument', name, rule: '`^_`' }).hint;
  expect(hintOf('__proto__')).toBe('`__proto__` is never a name: use another one');
  expect(hintOf('a')).toBe('use a name that matches `^_`');
});
