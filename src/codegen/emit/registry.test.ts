import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { registryChecksum } from '../../decorators/metadata.js';
import { canonicalGraph } from '../../graph/canonical.js';
import type { Graph } from '../../graph/model.js';
import type { ClassHandle } from '../declarations.js';
import {
  emitRegistry,
  importExports,
  REGISTRY_HEADER,
  type RegistryContent,
  registryParts,
  workflowText,
} from './registry.js';

const handle = (file: string, className: string, exportName = className): ClassHandle => ({
  file,
  className,
  exportName,
  place: { file, span: [3, 14, 3, 20] },
});

const graph: Graph = {
  graphVersion: 1,
  name: 'add-task',
  description: "add a task to today's journal",
  inputs: [{ name: 'task', description: 'What needs doing', schema: { type: 'string' }, required: true }],
  instructions: [],
  nodes: [
    {
      id: 'added',
      kind: 'call',
      tool: 'add-line',
      input: {
        kind: 'dict',
        entries: [
          { key: 'line', value: { kind: 'ref', root: 'inputs', path: ['task'], at: [9, 40, 9, 49] } },
          { key: 'source', value: { kind: 'literal', value: { source: 'kept' } } },
        ],
      },
      after: [],
      join: 'none_failed',
      executor: 'server',
      source: { file: 'src/add-task.ts', span: [9, 3, 9, 60] },
    },
  ],
  source: { file: 'src/add-task.ts', span: [5, 14, 5, 21] },
};

const data = { graph, hash: 'h', fingerprint: 'f4' };

const content: RegistryContent = {
  tools: [
    {
      name: 'list-pages',
      handle: handle('src/tools.ts', 'List'),
      data: { description: 'Lists', inputSchema: { type: 'object', properties: {} }, fingerprint: 'f1' },
    },
    {
      name: 'add-line',
      handle: handle('src/tools.ts', 'Add'),
      data: {
        title: undefined,
        description: 'Adds\na line',
        inputSchema: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
        annotations: { readOnlyHint: false },
        fingerprint: 'f2',
      },
    },
  ],
  resources: [
    {
      name: 'intro',
      handle: handle('src/intro.ts', 'Intro', 'default'),
      data: { uri: 'resource://x/intro', mimeType: 'text/markdown', text: '# Intro\n', fingerprint: 'f3' },
    },
  ],
  workflows: [
    {
      name: 'add-task',
      handle: handle('src/add-task.ts', 'Add'),
      data,
      text: workflowText(data, canonicalGraph(graph)),
    },
  ],
};

describe('emitRegistry', () => {
  test('prints this module', async () => {
    await expect(emitRegistry(content, 'generated/registry.ts')).toMatchFileSnapshot(
      '../../../test/codegen-back/fixtures/registry.golden',
    );
  });

  test('gives the same bytes for the same content in any order', () => {
    const expected = emitRegistry(content, 'generated/registry.ts');
    const shuffled = fc.record({
      tools: fc.shuffledSubarray([...content.tools], { minLength: content.tools.length }),
      resources: fc.shuffledSubarray([...content.resources], { minLength: content.resources.length }),
      workflows: fc.shuffledSubarray([...content.workflows], { minLength: content.workflows.length }),
    });
    fc.assert(
      fc.property(shuffled, (reordered) => {
        expect(emitRegistry(reordered, 'generated/registry.ts')).toBe(expected);
      }),
      { numRuns: 20 },
    );
  });

  test('does not depend on the location of a workflow in its file', () => {
    const moved = JSON.parse(
      JSON.stringify(graph).replaceAll('[9,', '[99,').replaceAll('[5,', '[55,'),
    ) as Graph;
    const [entry] = content.workflows;
    const workflows = [{ ...entry!, data: { ...entry!.data, graph: moved } }];
    expect(emitRegistry({ ...content, workflows }, 'r.ts')).toBe(emitRegistry(content, 'r.ts'));
  });

  test('has a checksum over everything but the classes', () => {
    const text = emitRegistry({ ...content, workflows: [] }, 'generated/registry.ts');
    const table = (entries: RegistryContent['tools']) =>
      Object.fromEntries(entries.map(({ name, data }) => [name, { class: class {}, ...data }]));
    const checksum = registryChecksum({
      tools: table(content.tools),
      resources: table(content.resources),
      workflows: {},
    });
    expect(text).toContain(`checksum: '${checksum}'`);
  });

  test('has the type `never` for the names of empty tables', () => {
    const text = emitRegistry({ tools: [], resources: [], workflows: [] }, 'generated/registry.ts');
    expect(text.startsWith(`${REGISTRY_HEADER}\n`)).toBe(true);
    expect(text).toContain('export type ToolName = never;');
    expect(text).toContain('export type WorkflowName = never;');
  });

  const more: RegistryContent = {
    ...content,
    prompts: [
      {
        name: 'review',
        handle: handle('src/review.ts', 'Review'),
        data: { description: 'Reviews', arguments: [], fingerprint: 'f5' },
      },
    ],
    functions: [
      { name: 'upper', ownName: 'upper', file: 'src/text.ts', exportName: 'upper', hash: 'h2' },
      { name: 'slugify', ownName: 'slugify', file: 'src/text.ts', exportName: 'default', hash: 'h1' },
      { name: 'Add', ownName: 'Add', file: 'src/math.ts', exportName: 'Add', hash: 'h3' },
    ],
  };

  test('imports prompts and functions, and names them in tables of their own', () => {
    const text = emitRegistry(more, 'generated/registry.ts');
    expect(text).toContain("import { default as slugify, upper } from '../src/text.js';");
    expect(text).toMatch(/import \{ Add as (Add\d) \} from '\.\.\/src\/math\.js';/);
    const name = /Add as (Add\d) \} from '\.\.\/src\/math/.exec(text)?.[1];
    expect(text).toMatch(
      new RegExp(`functions: \\{\\s*Add: \\{ function: ${name}, hash: 'h3' \\},\\s*slugify: .*,\\s*upper: `),
    );
    expect(text).toMatch(/prompts: \{ review: \{ class: Review, description: 'Reviews', arguments: \[\], /);
    expect(text).toContain("export type PromptName = 'review';");
    expect(text).not.toContain('import.meta.url');
  });

  test('has a module and data that make up the same registry', () => {
    const domain = { name: 'notes', rules: ['Be brief'] };
    const [workflow] = more.workflows;
    const all = {
      ...more,
      domains: [domain],
      workflows: more.workflows.map((each) => ({ ...each, completes: true })),
    };
    expect(workflow && registryParts(more, 'generated/registry.ts', 'js')).toMatchObject({
      exports: { workflows: {} },
      module: expect.not.stringContaining(workflow?.handle.file.replace('.ts', '') ?? ''),
    });
    const { module, tables, checksum, exports } = registryParts(all, 'generated/registry.ts', 'js');
    expect(emitRegistry(all, 'generated/registry.ts')).toContain(`checksum: '${checksum}'`);
    expect(module).toContain("import { Add as Add3, List } from '../src/tools.js';\n");
    expect(module).toMatch(/\nexport \{ Add3, List, Intro, Add, Review, Add2, slugify, upper \};\n$/);
    const { tools, workflows, functions, domains } = JSON.parse(tables);
    expect(tools['list-pages']).toEqual(content.tools[0]?.data);
    expect(workflows['add-task']).toMatchObject({ graph: { name: 'add-task' }, hash: 'h' });
    expect([functions.slugify, domains]).toEqual([{ hash: 'h1' }, { notes: domain }]);
    expect(exports).toMatchObject({
      tools: { 'list-pages': 'List', 'add-line': 'Add3' },
      workflows: { 'add-task': 'Add' },
      prompts: { review: 'Review' },
      functions: { slugify: 'slugify' },
    });
  });

  test('imports functions of one name from two modules', () => {
    const two = ['a', 'b'].map((module) => ({
      name: `src/${module}.ts#trim`,
      ownName: 'trim',
      file: `src/${module}.ts`,
      exportName: 'trim',
      hash: module,
    }));
    const text = emitRegistry({ ...content, functions: two }, 'generated/registry.ts');
    expect(text).toContain("import { trim } from '../src/a.js';\n");
    expect(text).toContain("import { trim as trim2 } from '../src/b.js';\n");
    expect(text).toMatch(
      /functions: \{\s*'src\/a\.ts#trim': \{ function: trim, hash: 'a' \},\s*'src\/b\.ts#trim': \{ function: trim2, hash: 'b' \}/,
    );
  });

  test('includes their data in its checksum, and omits empty tables', () => {
    const checksum = (each: RegistryContent) => /checksum: '(\w+)'/.exec(emitRegistry(each, 'r.ts'))?.[1];
    const [first, ...others] = more.functions ?? [];
    const changed = { ...more, functions: [{ ...first!, hash: 'other' }, ...others] };
    expect(new Set([content, more, changed].map(checksum)).size).toBe(3);
    expect(emitRegistry({ ...content, prompts: [], functions: [] }, 'r.ts')).toBe(
      emitRegistry(content, 'r.ts'),
    );
  });

  test('has its own module URL when its resources are files', () => {
    const [intro] = content.resources;
    const file = { ...intro!, data: { uri: 'resource://x/intro', file: 'src/intro.png', fingerprint: 'f3' } };
    expect(emitRegistry({ ...content, resources: [file] }, 'r.ts')).toContain('  module: import.meta.url,\n');
  });
});

const exportHandle = (file: string, className: string, exportName = className): ClassHandle => ({
  file,
  className,
  exportName,
  place: { file, span: [1, 1, 1, 1] },
});

describe('importExports', () => {
  test('sorts by specifier, one statement per file, relative to the folder of the registry', () => {
    const { statements } = importExports(
      [
        exportHandle('src/z.ts', 'Z'),
        exportHandle('src/a.mts', 'B'),
        exportHandle('src/a.mts', 'A'),
        exportHandle('gen/own.ts', 'Own'),
      ],
      'gen/registry.ts',
      [],
    );
    expect(statements).toEqual([
      "import { A, B } from '../src/a.mjs';",
      "import { Z } from '../src/z.js';",
      "import { Own } from './own.js';",
    ]);
  });

  test.each([
    ['js', ['./a.mjs', './b.js', './c.js', './d.cjs']],
    ['ts', ['./a.mts', './b.ts', './c.tsx', './d.cts']],
    ['none', ['./a.mjs', './b', './c', './d.cjs']],
  ] as const)('writes the ending %s', (ending, specifiers) => {
    const handles = ['a.mts', 'b.ts', 'c.tsx', 'd.cts'].map((file) => exportHandle(file, 'A'));
    const { statements } = importExports(handles, 'registry.ts', [], ending);
    expect(statements.map((statement) => /'(.*)'/.exec(statement)?.[1])).toEqual(specifiers);
  });

  test('gives an alias to the second class of one name, and to the names of the registry', () => {
    const [first, second, own] = [
      exportHandle('a.ts', 'Add'),
      exportHandle('b.ts', 'Add'),
      exportHandle('c.ts', 'registry'),
    ];
    const imports = importExports([second, own, first], 'registry.ts', ['registry']);
    expect(imports.statements).toEqual([
      "import { Add } from './a.js';",
      "import { Add as Add2 } from './b.js';",
      "import { registry as registry2 } from './c.js';",
    ]);
    expect([first, second, own].map(imports.nameOf)).toEqual(['Add', 'Add2', 'registry2']);
  });

  test('never uses an alias that is the name of another class', () => {
    const imports = importExports(
      [exportHandle('a.ts', 'Add'), exportHandle('b.ts', 'Add2'), exportHandle('c.ts', 'Add')],
      'r.ts',
      [],
    );
    const names = imports.statements.map((line) => /(\w+) \}/.exec(line)?.[1]);
    expect(new Set(names).size).toBe(3);
  });

  test('imports default exports and exports under another name', () => {
    const { statements } = importExports(
      [
        exportHandle('a.tsx', 'Page', 'default'),
        exportHandle('b.ts', '', 'default'),
        exportHandle('c.ts', 'Kept', 'kept name'),
      ],
      'registry.ts',
      [],
    );
    expect(statements).toEqual([
      "import { default as Page } from './a.js';",
      "import { default as Anonymous } from './b.js';",
      "import { 'kept name' as Kept } from './c.js';",
    ]);
  });

  test('imports a repeated class once', () => {
    const add = exportHandle('a.ts', 'Add');
    expect(importExports([add, { ...add }], 'r.ts', []).statements).toHaveLength(1);
  });
});
