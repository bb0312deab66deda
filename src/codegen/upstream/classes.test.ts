import { describe, expect, test } from 'vitest';
import type { UpstreamTool } from '../../runtime/upstream/port.js';
import { snapshotOf } from '../../runtime/upstream/snapshot.js';
import { classesText } from './classes.js';

const object = { type: 'object' } as const;

const classes = (tools: readonly UpstreamTool[], visibility: 'client' | 'workflow' = 'workflow') =>
  classesText({
    server: 'files',
    snapshot: snapshotOf({ server: { name: 'f', version: '1' }, tools }),
    visibility,
  });

const read: UpstreamTool = {
  name: 'read',
  title: 'Read',
  description: 'Reads a file.\nAs text.',
  inputSchema: { ...object, properties: { path: { type: 'string' } }, required: ['path'] },
  outputSchema: { ...object, properties: { content: { type: 'string' } }, required: ['content'] },
  annotations: { readOnlyHint: true },
};

describe('the classes of a server', () => {
  test('have the schemas of its tools, and the types of these', () => {
    expect(classes([read])).toEqual({
      notes: [],
      text: `// Written by \`stepwright pull files\`: run it again instead of editing this file.
import { Tool, type ToolContext } from 'stepwright';

export interface FilesReadInput {
  readonly path: string;
}

export interface FilesReadOutput {
  readonly content: string;
}

/** Reads a file. As text. */
@Tool({
  name: 'files_read',
  title: 'Read',
  description: 'Reads a file.\\nAs text.',
  inputSchema: { properties: { path: { type: 'string' } }, required: ['path'], type: 'object' },
  outputSchema: { properties: { content: { type: 'string' } }, required: ['content'], type: 'object' },
  annotations: { readOnlyHint: true },
  visibility: 'workflow',
  upstream: { server: 'files', tool: 'read' },
})
export class FilesRead {
  execute(input: FilesReadInput, context: ToolContext): Promise<FilesReadOutput> {
    return context.callUpstream(input);
  }
}
`,
    });
  });

  test('give any JSON for a tool without an output schema, and the value of a wrapped result', () => {
    const wrapped = {
      ...object,
      properties: { result: { type: 'array', items: { type: 'string' } } },
      'x-fastmcp-wrap-result': true,
    };
    const { text } = classes([
      { name: 'any', inputSchema: object },
      { name: 'list', inputSchema: object, outputSchema: wrapped },
    ]);
    expect(text).toContain("import { type Json, Tool, type ToolContext } from 'stepwright';");
    expect(text).toContain('execute(input: FilesAnyInput, context: ToolContext): Promise<Json> {');
    expect(text).toContain('export type FilesListOutput = readonly string[];');
  });

  test('are for clients where the configuration says so', () => {
    expect(classes([read], 'client').text).not.toContain('visibility');
  });

  test('leave out what no class can have, and say so', () => {
    const { text, notes } = classes([
      { name: 'a', inputSchema: { type: 'string' } },
      { name: 'b', inputSchema: object, outputSchema: { type: 'array' } },
      { name: 'c', inputSchema: JSON.parse('{"type":"object","properties":{"__proto__":{}}}') },
      { name: 'd/e', inputSchema: object },
    ]);
    expect(notes).toEqual([
      "tool 'a' is left out: its input is not an object",
      "tool 'b' is left out: its output is not an object",
      "tool 'c' is left out: its schema has the key `__proto__`, which no object literal can have",
      "tool 'd/e' is named 'files_d_e'",
    ]);
    expect(text.match(/class \w+/g)).toEqual(['class FilesDE']);
  });

  test('are a module where a server has no tools', () => {
    expect(classes([]).text).toBe(
      '// Written by `stepwright pull files`: run it again instead of editing this file.\nexport {};\n',
    );
  });

  test('have no text that ends a comment or a string', () => {
    const { text } = classes([{ ...read, description: "*/ '\u2028` $x" }]);
    expect(text).toContain("/** *\\/ '");
    expect(text).toContain(`"*/ '\\u2028\` $x"`);
  });
});
