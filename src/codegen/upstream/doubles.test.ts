import { describe, expect, test } from 'vitest';
import type { UpstreamTool } from '../../runtime/upstream/port.js';
import { snapshotOf } from '../../runtime/upstream/snapshot.js';
import { doublesText } from './pull.js';

const doubles = (names: readonly string[], classes = 'src/upstream/my-files.ts') => {
  const tools = names.map(
    (name): UpstreamTool => ({ name, inputSchema: { type: name === 'text' ? 'string' : 'object' } }),
  );
  const snapshot = snapshotOf({ server: { name: 'f', version: '1' }, tools });
  return doublesText({ server: 'my-files', snapshot, classes });
};

describe('the doubles of a server', () => {
  test('are of the tools that have a class, with their types', () => {
    expect(doubles(['text', 'write', 'read'])).toBe(
      `// Written by \`stepwright pull my-files\`: run it again instead of editing this file.
import { type DoubleAnswer, doublesOf, type UpstreamDouble } from 'stepwright/testing';
import * as tools from './my-files.js';

/** What doubles of the tools answer. One without an answer gives a value made up from the output schema. */
export interface MyFilesAnswers {
  readonly read?: DoubleAnswer<tools.MyFilesRead>;
  readonly write?: DoubleAnswer<tools.MyFilesWrite>;
}

/** Doubles of all tools of the upstream server \`my-files\`, for \`upstreamDoubles\`. */
export function myFilesDoubles(answers: MyFilesAnswers = {}): readonly UpstreamDouble[] {
  return doublesOf(
    {
      read: tools.MyFilesRead,
      write: tools.MyFilesWrite,
    },
    answers,
  );
}
`,
    );
  });

  test('have the names of the server, which may be no names of properties', () => {
    const text = doubles(['d/e', "it's", '__proto__', 'toString'], 'src/files.mts');
    expect(text).toContain("import * as tools from './files.mjs';");
    expect(text).toContain("  readonly 'd/e'?: DoubleAnswer<tools.MyFilesDE>;");
    expect(text).toContain('      "it\'s": tools.MyFilesItS,');
    // Every object has these, so that no object could be without an answer.
    expect(text).toContain('  readonly MyFilesToString?: DoubleAnswer<tools.MyFilesToString>;');
    expect(text).toContain('      MyFilesProto: tools.MyFilesProto,');
  });

  test('are a module where a server has no tools', () => {
    expect(doubles([])).toBe(
      '// Written by `stepwright pull my-files`: run it again instead of editing this file.\nexport {};\n',
    );
  });
});
