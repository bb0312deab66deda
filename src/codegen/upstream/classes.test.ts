import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../graph/json.js';
import type { UpstreamTool } from '../../runtime/upstream/port.js';
import { snapshotOf } from '../../runtime/upstream/snapshot.js';
import { classesText, docComment, typeText } from './classes.js';

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

  test('have schemas that can be checked, and say what was left out of them', () => {
    const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
    const property = (name: string, schema: JsonSchema | boolean) => ({
      inputSchema: { ...object, properties: { [name]: schema } } as JsonSchema,
    });
    const { text, notes } = classes([
      {
        name: 'a',
        inputSchema: {
          $schema: DRAFT_07,
          ...object,
          properties: { l: { type: 'array', items: [{ type: 'string' }], additionalItems: false } },
        },
      },
      { name: 'b', ...property('p', { type: 'string', pattern: '^[\\w-.]+$' }) },
      { name: 'c', ...property('p', { type: 'string', pattern: '(?i)^a$' }) },
      { name: 'd', ...property('p', { type: 'nope' }) },
      { name: 'e', inputSchema: object, outputSchema: { ...object, $ref: 'https://example.com/x' } },
      { name: 'f', ...property('p', true) },
      {
        name: 'g',
        inputSchema: { ...object, patternProperties: { '(?P<n>a)': {} }, additionalProperties: false },
      },
      { name: 'h', ...property('p', { type: 'string', pattern: '\\A\\d+\\Z' }) },
    ]);
    expect(notes).toEqual([
      "tool 'c' is used without the pattern `(?i)^a$` of its input at `/properties/p/pattern`: it is not a regular expression: /(?i)^a$/u: Invalid group",
      "tool 'd' is left out: its input cannot be checked: at `/properties/p/type` it must be equal to one of the allowed values",
      expect.stringMatching(
        /^tool 'e' is used without its output schema: it cannot be checked: .*example\.com/,
      ),
      expect.stringContaining(
        "tool 'g' is used without the pattern `(?P<n>a)` of its input at `/patternProperties/(?P<n>a)`",
      ),
      expect.stringContaining("tool 'h' is used without the pattern `\\A\\d+\\Z` of its input"),
    ]);
    expect(text).toContain('readonly l?: readonly [string];');
    expect(text).toContain("l: { type: 'array', prefixItems: [{ type: 'string' }], items: false }");
    expect(text).toContain("p: { type: 'string', pattern: '^[\\\\w\\\\-.]+$' }");
    expect(text).not.toContain('(?');
    expect(text.match(/class \w+/g)).toEqual(
      ['A', 'B', 'C', 'E', 'F', 'G', 'H'].map((name) => `class Files${name}`),
    );
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

  test('lists an input with alternatives flat where clients see the tool', () => {
    const inputSchema = { ...object, anyOf: [read.inputSchema, { ...object, required: ['id'] }] };
    expect(classes([{ ...read, inputSchema }], 'client').text).toContain("listedSchema: 'flat'");
    expect(classes([{ ...read, inputSchema }]).text).not.toContain('listedSchema');
  });
});

describe('the type of a schema', () => {
  test.each<[string, JsonSchema, string]>([
    ['a text', { type: 'string', minLength: 1 }, 'string'],
    ['a whole number', { type: 'integer' }, 'number'],
    ['anything', {}, 'unknown'],
    ['a constant', { const: "it's" }, `"it's"`],
    ['choices', { enum: ['a', 2, null] }, `'a' | 2 | null`],
    ['several types', { type: ['string', 'null'] }, 'string | null'],
    [
      'alternatives',
      { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'string' }] },
      'string | number',
    ],
    ['an alternative that is anything', { oneOf: [{ type: 'string' }, {}] }, 'unknown'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'readonly string[]'],
    ['a list of anything', { type: 'array' }, 'readonly unknown[]'],
    [
      'a list of alternatives',
      { type: 'array', items: { type: ['string', 'number'] } },
      'readonly (string | number)[]',
    ],
    [
      'a list of lists',
      { type: 'array', items: { type: 'array', items: { type: 'string' } } },
      'readonly (readonly string[])[]',
    ],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
      'readonly [string, number]',
    ],
    [
      'a tuple with more',
      { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
      'readonly [string, ...number[]]',
    ],
    ['an object without properties', { type: 'object' }, '{ readonly [key: string]: unknown }'],
    ['a closed object without any', { type: 'object', additionalProperties: false }, 'Record<never, never>'],
    [
      'a dictionary',
      { type: 'object', additionalProperties: { type: 'number' } },
      '{ readonly [key: string]: number }',
    ],
    [
      'an intersection',
      { allOf: [{ type: 'object' }, { enum: ['a', 'b'] }, {}] },
      `{ readonly [key: string]: unknown } & ('a' | 'b')`,
    ],
    ['a reference', { $ref: '#/$defs/Name', $defs: { Name: { type: 'string' } } }, 'string'],
    ['a reference to nothing', { $ref: '#/$defs/Name' }, 'unknown'],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema' }, 'unknown'],
  ])('of %s', (_, schema, text) => {
    expect(typeText(schema)).toBe(text);
  });

  test('of an object has its properties, with their descriptions', () => {
    const schema = {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where\n it is */' },
        'max-depth': { type: 'integer' },
        limit: { type: 'integer', default: 10 },
        filter: { type: 'object', properties: { name: { type: 'string' } } },
      },
      required: ['path', 'limit'],
    };
    expect(typeText(schema)).toBe(`{
  /** Where it is *\\/ */
  readonly path: string;
  readonly 'max-depth'?: number;
  readonly limit?: number;
  readonly filter?: {
    readonly name?: string;
  };
}`);
  });

  test('ends where a schema contains itself', () => {
    const node = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } };
    expect(typeText(node)).toBe(`{
  readonly children?: readonly {
    readonly children?: readonly unknown[];
  }[];
}`);
  });
});

test('a comment is one line that nothing in it ends', () => {
  expect(docComment('a\n  b */ c')).toBe('/** a b *\\/ c */');
  expect([docComment(' '), docComment(undefined)]).toEqual([undefined, undefined]);
});
