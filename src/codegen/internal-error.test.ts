import { describe, expect, test } from 'vitest';
import { InternalError, workingOn } from './internal-error.js';

describe('workingOn', () => {
  test('names the innermost source, and keeps the error', () => {
    const cause = new RangeError('Maximum call stack size exceeded');
    const fail = (): never => {
      throw cause;
    };
    const act = () => workingOn({ file: 'a.ts' }, () => workingOn({ file: 'a.ts', className: 'A' }, fail));
    expect(act).toThrow(InternalError);
    expect(act).toThrow(expect.objectContaining({ cause, subject: { file: 'a.ts', className: 'A' } }));
    expect(() => workingOn({ file: 'a.ts', className: '' }, fail)).toThrow(
      expect.objectContaining({ message: cause.message, subject: { file: 'a.ts' } }),
    );
  });

  test('returns what the function returns', () => {
    expect(workingOn({ file: 'a.ts' }, () => 1)).toBe(1);
  });
});
