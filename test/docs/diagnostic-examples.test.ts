import type { CodegenResult } from 'stepwright/codegen';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_MODULE_LIMITS } from '../../src/codegen/schemas/module-loader.js';
import { stopReason } from '../../src/codegen/schemas/read-schemas.js';
import { MAX_SYNTAX_DEPTH } from '../../src/codegen/source/ast.js';
import { whyUnresolved } from '../../src/codegen/syntax.js';
import { diagnostic } from '../../src/graph/diagnostics/diagnostic.js';
import { MAX_EXPRESSION_DEPTH } from '../../src/graph/limits.js';
import { runCodegen } from '../built-package.js';
import { applyRepair, diagnosticExamples, printed, sharedClasses } from './diagnostic-examples.js';
import { fencesOf, page } from './fences.js';
import { type TempProject, tempProject, typeErrors } from './temp-project.js';

const examples = diagnosticExamples();

describe('the examples of the diagnostics', () => {
  let project: TempProject;
  let faulty: CodegenResult;
  let repaired: CodegenResult;

  beforeAll(async () => {
    project = await tempProject();
    for (const kind of ['faulty', 'repaired'] as const) {
      const registry = { include: [`${kind}/*.ts`], out: `generated/${kind}.ts` };
      await project.write(`${kind}.json`, JSON.stringify({ registries: [registry] }));
      await project.write(`${kind}/tools.ts`, sharedClasses());
      for (const example of examples) await project.write(`${kind}/${example.code}.ts`, example[kind]);
    }
    faulty = await runCodegen({ root: project.root, configFile: 'faulty.json' });
    repaired = await runCodegen({ root: project.root, configFile: 'repaired.json' });
  }, 300_000);

  afterAll(() => project.remove());

  test.each(examples)('$code is what codegen says', ({ code, said }) => {
    const own = faulty.diagnostics.filter((diagnostic) => diagnostic.place?.file === `faulty/${code}.ts`);
    expect(own.map((diagnostic) => diagnostic.code)).toContain(code);
    expect(printed(own)).toBe(said);
  });

  test('have all faults in the tested files', () => {
    const elsewhere = faulty.diagnostics.filter(
      ({ place }) => !/^faulty\/SW\d+\.ts$/.test(place?.file ?? ''),
    );
    expect(elsewhere).toEqual([]);
    expect(faulty.written).toEqual([]);
  });

  test('have no faults after their repairs', () => {
    expect(repaired.diagnostics).toEqual([]);
    expect(repaired.written).toEqual(['generated/repaired.ts']);
    const files = ['tools', ...examples.map(({ code }) => code)].map((name) => `repaired/${name}.ts`);
    expect(typeErrors(project.root, [...files, 'generated/repaired.ts'])).toEqual([]);
  });
});

test.each([
  diagnostic('SW1023', undefined, {
    name: 'Guide',
    decorator: 'Workflow',
    cycle: 'workflow.ts → guide.ts → workflow.ts',
  }),
  diagnostic('SW1033', undefined, { className: 'Note', file: 'src/note #1.workflow.ts', part: '#' }),
  diagnostic('SW3002', undefined, { name: 'txt', suggestion: 'text' }),
  diagnostic('SW4001', undefined, { workflow: 'note', tool: 'add-line' }),
  diagnostic('SW4002', undefined, { workflow: 'note', resource: 'guide' }),
  diagnostic('SW4011', undefined, {
    problem: '`/nodes/0/tool`: invalid input: expected string, received undefined',
  }),
  diagnostic('SW6005', undefined, {
    file: 'src/tools.ts',
    reason: stopReason('wait', DEFAULT_MODULE_LIMITS),
  }),
  diagnostic('SW6013', undefined, { file: 'src/tools.ts', limitMb: 2048 }),
  diagnostic('SW6014', undefined, { count: 3, reason: 'it ended the process with exit code 9' }),
  diagnostic('SW6015', undefined, { count: 4, file: 'src/tools.ts', stops: 5 }),
  diagnostic('SW6016', undefined, {
    name: 'Query',
    what: 'the input of tool `find-page`',
    why: whyUnresolved({
      name: 'Query',
      place: { file: 'src/tools.ts', span: [1, 1, 1, 1] },
      specifier: 'wiki-client',
      isModuleKnown: false,
    }),
  }),
  diagnostic('SW6017', undefined, {
    file: 'package.json',
    problem: 'Expected double-quoted property name in JSON at position 20',
  }),
  diagnostic('SW6007', undefined, {
    className: 'AddLine',
    reason: 'no decorator of stepwright has recorded anything on it',
  }),
  diagnostic('SW9001', undefined, { file: 'generated/registry.ts' }),
  diagnostic('SW9002', undefined, {
    file: 'stepwright.config.json',
    problem: '`/registries/0/includes` is not a setting',
    suggestion: 'include',
  }),
  diagnostic('SW9003', undefined, { patterns: '`src/**/*.tool.ts`' }),
  diagnostic('SW9004', undefined, { file: 'src/main.ts' }),
  diagnostic('SW9005', undefined, { file: 'generated/registry.ts', reason: '`generated` is not a folder' }),
  diagnostic('SW9006', undefined, { file: 'generated/registry.ts', count: 3 }),
  diagnostic('SW9013', undefined, { code: 'SW3010' }),
  diagnostic('SW9014', undefined, {
    file: 'src/add-task.workflow.ts',
    className: 'AddTask',
    reason: 'Maximum call stack size exceeded',
  }),
  diagnostic('SW9015', undefined, { file: 'src/table.ts', limit: MAX_SYNTAX_DEPTH }),
  diagnostic('SW9017', undefined, { script: 'start', file: 'src/main.ts' }),
  diagnostic('SW9018', undefined, { file: '.pnp.cjs' }),
  diagnostic('SW9019', undefined, { file: 'generated/registry.ts', version: '20.19.0' }),
  diagnostic('SW4043', undefined, { server: 'files', named: 'read_fil', suggestion: 'read_file' }),
  diagnostic('SW4044', undefined, { domain: 'travle', suggestion: 'travel' }),
  diagnostic('SW4045', undefined, { server: 'files' }),
  diagnostic('SW9020', undefined, {
    workflow: 'add-note',
    step: 'file',
    server: 'files',
    problem:
      "'content' in the output of tool 'read' of the upstream server 'files' is not in the output any more",
  }),
  diagnostic('SW9021', undefined, { file: 'src/upstream/files.json', server: 'files' }),
  diagnostic('SW9033', undefined, {
    server: 'files',
    tool: 'write_file',
    problem: 'it has no `readOnlyHint`, so that it may change something',
    repair: 'add `--allow-writes` to call it all the same',
  }),
  diagnostic('SW9034', undefined, {
    file: 'src/upstream/files.cassette.json',
    server: 'files',
    problem: "the server does not offer 'read_file' any more",
    again: 'stepwright pull files --record',
  }),
  diagnostic('SW9026', undefined, {
    workflow: 'book',
    step: 'search',
    tool: 'find_flights',
    hasSchema: false,
  }),
  diagnostic('SW9027', undefined, { name: 'search', problem: 'missing required `price` in `/flights/0`' }),
  diagnostic('SW9028', undefined, { name: 'serch', workflow: 'book', candidates: [], suggestion: 'search' }),
  diagnostic('SW9029', undefined, { problem: 'the error of `search` has no text `code` and `message`' }),
  diagnostic('SW9030', undefined, {
    step: 'search',
    tool: 'files_search',
    input: 'max_result',
    candidates: ['max_results', 'pattern'],
    suggestion: 'max_results',
  }),
  diagnostic('SW9016', undefined, { limit: MAX_EXPRESSION_DEPTH }),
])('$code, which no source file causes, is shown as printed', (fault) => {
  const said = fencesOf(page(`docs/diagnostics/${fault.code}.md`)).map((fence) => fence.body.trimEnd());
  expect(said).toEqual([printed([fault])]);
});

test('a repair that does not fit its example is an error', () => {
  expect(applyRepair('a\nb\n', '-b\n+c\n+d\n')).toBe('a\nc\nd\n');
  expect(() => applyRepair('a\n', '-b\n+c\n')).toThrow('does not occur exactly once in the example: b');
  expect(() => applyRepair('a a\n', '-a\n+c\n')).toThrow('does not occur exactly once');
});
