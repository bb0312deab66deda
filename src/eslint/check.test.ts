import { describe, expect, test } from 'vitest';
import { diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { Span } from '../graph/source-location.js';
import { repairOf } from './check.js';

/** Where a part of a text is, which is on one line. */
function spanOf(text: string, part: string): Span {
  const at = text.indexOf(part);
  const line = text.slice(0, at).split('\n').length;
  const column = at - text.lastIndexOf('\n', at - 1);
  return [line, column, line, column + part.length];
}

function repaired(text: string, part: string, params: object, code: 'SW9010' | 'SW9013' = 'SW9010') {
  const found = {
    ...diagnostic('SW9013', { file: 'a.ts', span: spanOf(text, part) }, { code: '' }),
    code,
    params,
  };
  const repair = repairOf(found as never, text);
  if (repair === undefined) return undefined;
  const offset = (line: number, column: number): number =>
    text
      .split('\n')
      .slice(0, line - 1)
      .reduce((sum, each) => sum + each.length + 1, 0) +
    column -
    1;
  const [line, column, endLine, endColumn] = repair.span;
  const after = text.slice(0, offset(line, column)) + repair.text + text.slice(offset(endLine, endColumn));
  return { after, isCertain: repair.isCertain };
}

describe('a name that is near another one', () => {
  const params = { name: 'nmae', suggestion: 'name' };
  test.each([
    ['a.nmae + 1', 'nmae', 'a.name + 1'],
    ['a.nmae + 1', 'a.nmae', 'a.name + 1'],
    ["after: ['nmae']", "'nmae'", "after: ['name']"],
    ['{\n  nmae: 1,\n}', 'nmae', '{\n  name: 1,\n}'],
  ])('in %j at %j becomes %j', (text, part, after) => {
    expect(repaired(text, part, params)).toEqual({ after, isCertain: false });
  });

  test.each([
    ['this.nmae.length', 'this.nmae.length', params],
    ['xnmae', 'xnmae', params],
    ['nmae', 'nmae', { name: 'nmae' }],
    ['a nmae', 'a nmae', { name: 'a nmae', suggestion: 'name' }],
  ])('in %j at %j is not written there', (text, part, given) => {
    expect(repaired(text, part, given)).toBeUndefined();
  });
});

describe('a comment that silences nothing', () => {
  test.each([
    ['a;\n  // stepwright-ignore X: y\nb;\n', 'a;\nb;\n'],
    ['a; // stepwright-ignore X: y\nb;', 'a;\nb;'],
    ['a;\n// stepwright-ignore X: y', 'a;\n'],
  ])('of %j is removed', (text, after) => {
    expect(repaired(text, '// stepwright-ignore X: y', {}, 'SW9013')).toEqual({ after, isCertain: true });
  });

  test('leaves the code behind it alone', () => {
    expect(repaired('/* x */ a;', '/* x */', {}, 'SW9013')).toEqual({ after: ' a;', isCertain: true });
  });
});
