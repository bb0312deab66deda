import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AnalyzeCode } from '../../../examples/code-review/analyze-code.tool.js';
import { findingsIn, MAX_DEPTH, MAX_LINE_LENGTH } from '../../../examples/code-review/findings.js';

const rules = (code: string): string[] => findingsIn(code).map(({ line, rule }) => `${line} ${rule}`);
const nested = (indent: string, levels: number): string =>
  Array.from({ length: levels + 1 }, (_, level) => `${indent.repeat(level)}x`).join('\n');

describe('findingsIn', () => {
  test('long lines, in characters', () => {
    expect(rules(`${'x'.repeat(MAX_LINE_LENGTH)}\n${'x'.repeat(MAX_LINE_LENGTH + 1)}\r\n`)).toEqual([
      '2 long-line',
    ]);
    expect(rules('😀'.repeat(MAX_LINE_LENGTH))).toEqual([]);
  });

  test('markers without a ticket', () => {
    const code = '// TODO later\n# FIXME ABC-12\n/* XXX #7 */\nautoTODOs\nHACK';
    expect(findingsIn(code).map(({ line, message }) => [line, message])).toEqual([
      [1, 'TODO without a ticket'],
      [5, 'HACK without a ticket'],
    ]);
  });

  test.each(['  ', '    ', '\t'])(
    'deep nesting, by indentation with %j: the first line of a block',
    (indent) => {
      expect(rules(nested(indent, MAX_DEPTH))).toEqual([]);
      expect(rules(`${nested(indent, MAX_DEPTH + 2)}\nx\n${indent.repeat(MAX_DEPTH + 1)}y`)).toEqual([
        `${MAX_DEPTH + 2} deep-nesting`,
        `${MAX_DEPTH + 5} deep-nesting`,
      ]);
    },
  );

  test('indentation with tabs where it began with spaces', () => {
    expect(rules('a\n  b\n\tc\n\n\t')).toEqual(['3 mixed-indentation']);
    expect(rules('a\n\tb\n\t  * aligned')).toEqual([]);
  });

  test('takes any text, reports lines that are there, and gives the same twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (code) => {
        const findings = findingsIn(code);
        const lines = code.split('\n').length;
        for (const { line } of findings) expect(line >= 1 && line <= lines).toBe(true);
        expect(findings.map(({ line }) => line)).toEqual(
          findings.map(({ line }) => line).sort((a, b) => a - b),
        );
        expect(findingsIn(code)).toEqual(findings);
      }),
    );
  });
});

describe('analyze-code', () => {
  test('counts lines, and says how many findings it leaves out', () => {
    const tool = new AnalyzeCode();
    expect(tool.execute({ code: 'a\nb\n' })).toEqual({ lines: 2, findings: [], omitted: 0 });
    const many = tool.execute({ code: 'TODO\n'.repeat(130) });
    expect([many.lines, many.findings.length, many.omitted]).toEqual([130, 100, 30]);
  });
});
