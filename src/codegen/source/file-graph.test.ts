import { describe, expect, test } from 'vitest';
import { surfaceOf } from './file-graph.js';
import { ts } from './typescript.mjs';

const surface = (text: string): string =>
  surfaceOf(ts.createSourceFile('/tool.ts', text, ts.ScriptTarget.Latest));

const TOOL = `import { Tool, Workflow } from 'stepwright';

export const LIMIT = 1;

@Tool({ name: 'count', title: 'Count', description: 'Counts' })
export class Count {
  execute({ from }: { from: number }): { end: number } {
    return { end: from };
  }
}
`;

const TWO = `${TOOL}
@Workflow({ name: 'once', description: 'Runs once' })
export class Once {}
`;

describe('the surface of a file', () => {
  test.each([
    ['another description', TOOL, "'Counts'", "'Counts everything that there is'"],
    ['a description in other quotation marks that says more', TOOL, "'Counts'", "'Counts: a, b'"],
    ['another title', TOOL, "title: 'Count'", "title: 'Count all'"],
    ['another body', TOOL, 'end: from }', 'end: from + 1 }'],
    ['a longer body at the end', TOOL, 'return', 'const more = 1;\n    return'],
    ['another body before another class', TWO, 'end: from }', 'end: from + 1 }'],
    ['another description of a workflow', TWO, "'Runs once'", "'Runs'"],
  ])('is the same with %s', (_what, text, from, to) => {
    expect(surface(text.replace(from, to))).toBe(surface(text));
  });

  test.each([
    ['another name of the tool', TOOL, "'count'", "'counts'"],
    ['another constant', TOOL, 'LIMIT = 1', 'LIMIT = 2'],
    ['another type', TOOL, 'from: number', 'from: string'],
    ['another class', TOOL, 'class Count', 'class Counts'],
    ['a class at another place', TOOL, 'export class', 'export  class'],
    ['a class on another line', TOOL, '@Tool', '\n@Tool'],
    ['another place of the next class', TWO, 'return', 'const more = 1;\n    return'],
    ['a computed description', TOOL, "'Counts'", "'Counts' + LIMIT"],
    ['a body that is not finished', TOOL, 'from };', 'from'],
    ['another option', TOOL, "title: 'Count'", "visibility: 'workflow'"],
    ['the decorator of another name', TOOL, 'Tool, Workflow }', 'Resource as Tool, Workflow }'],
  ])('is another one with %s', (_what, text, from, to) => {
    expect(text).toContain(from);
    expect(surface(text.replace(from, to))).not.toBe(surface(text));
  });

  test('has the description of what `Tool` is another name for', () => {
    const other = TOOL.replace('Tool, Workflow }', 'Resource as Tool }');
    expect(surface(other.replace("'Counts'", "'Lists'"))).not.toBe(surface(other));
    const local = TOOL.replace("'stepwright'", "'./decorators.js'");
    expect(surface(local.replace("'Counts'", "'Lists'"))).not.toBe(surface(local));
  });
});
