import { afterEach, describe, expect, test } from 'vitest';
import { runCodegen } from '../built-package.js';
import { smoke } from '../nightly.js';
import { createProject, type Project, runModule } from './project.fixture.js';

let project: Project;
afterEach(() => project.remove());

const LOG = `
import { appendFileSync } from 'node:fs';
appendFileSync('imported.log', import.meta.url + '\\n');
`;

const literal = `${LOG}
import { Resource, Tool } from 'stepwright';
const TEXTS = { title: 'Greeting' } as const;
enum NAMES { greet = 'greet' }
@Tool({
  ...TEXTS,
  name: NAMES.greet,
  description: \`Greets \${5 * 2} times\`,
  annotations: { readOnlyHint: true },
  retrySafety: 'idempotent',
  task: 'required',
  visibility: 'workflow',
  scopes: ['greet'],
  secret: ['word'],
  icons: [{ src: 'https://example.com/icon.png', sizes: ['16x16'] }],
  meta: { 'example.com/a': [1, { b: null }] },
})
export class Greet {
  execute(input: { name: string; word?: string }): { text: string } {
    return { text: input.name };
  }
}
@Tool({
  name: 'count',
  description: 'Counts',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { from: { type: 'integer', minimum: -1, description: 'The first' } },
    required: ['from'],
  },
  outputSchema: { type: 'object', properties: { last: { type: 'integer' } }, required: ['last'], title: 'Last' },
})
export class Count {
  execute({ from }: { from: number }): { last: number } {
    return { last: from };
  }
}
@Resource({ name: 'guide', title: 'Guide', mimeType: 'text/plain', description: 'How to greet' })
export class Guide {
  static readonly uri = 'text://guide';
  read(): string { return ''; }
}
@Resource({ name: 'page', description: 'One page', dotSegments: ['path'] })
export class Page {
  static readonly uriTemplate = 'text://pages/{+path}';
  read(): string { return ''; }
}
`;

const other = (options: string, head = ''): string => `${LOG}
import { Tool } from 'stepwright';
${head}
@Tool({ name: 'other', description: 'Is imported'${options})
export class Other { execute(): { text: string } { return { text: '' }; } }
`;

/** Runs codegen, and returns the modules that it imported and its diagnostics. */
async function imported(): Promise<readonly string[]> {
  await project.write({ 'imported.log': '' });
  const { diagnostics } = await runCodegen({ root: project.root, cache: false });
  const modules = (await project.read('imported.log')).match(/[\w-]+\.ts$/gm) ?? [];
  return [...modules, ...diagnostics.map(({ code, message }) => `${code} ${message}`)];
}

describe('a class whose options are literals', { timeout: 240_000 }, () => {
  test('is not imported, and has the fingerprint of the loaded class', async () => {
    project = await createProject({
      'src/literal.ts': literal,
      'verify.ts': `
        import { createServer } from 'stepwright/runtime';
        import { registry } from './generated/registry.js';
        createServer(registry, { name: 'verified', version: '1' });`,
    });
    expect(await imported()).toEqual([]);
    const registry = await project.read('generated/registry.ts');
    expect(registry).toContain('"required": ["name"]');
    expect(registry).toContain('"from": { "type": "integer", "minimum": -1, "description": "The first" }');
    expect(registry).toContain('"$schema": "http://json-schema.org/draft-07/schema#"');
    expect(registry).toContain('"title": "Last"');
    // A server compares the registry with the loaded classes.
    expect(await runModule(project, 'verify.ts')).toMatchObject({ code: 0, stderr: '' });
    expect(await project.read('imported.log')).toContain('literal.ts');
    await project.write({ 'src/literal.ts': literal.replace("'Greeting'", "'Welcomes'") });
    expect((await runModule(project, 'verify.ts')).stderr).toContain('StaleRegistryError');
  });

  test.each(
    smoke([
      ['a schema with a function', ', input: z.object({}).refine(() => true) }', "import { z } from 'zod';"],
      ['hints', ', hints: { requires: [() => Before] } }', "import { Before } from './before.js';"],
      ['another decorator', ' })\n@(() => {}', ''],
    ]),
  )('is imported for %s', async (_, options, head) => {
    project = await createProject({
      'src/other.ts': other(options, head),
      'src/before.ts': `import { Tool } from 'stepwright';
        @Tool({ name: 'before', description: 'Comes before' })
        export class Before { execute(): { text: string } { return { text: '' }; } }`,
    });
    expect(await imported()).toEqual(['other.ts']);
  });
});
