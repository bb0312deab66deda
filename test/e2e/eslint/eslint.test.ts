import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import parser from '@typescript-eslint/parser';
import { ESLint } from 'eslint';
import { ESLint as ESLint9 } from 'eslint-9';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importBuilt } from '../../built-package.js';
import { createProject, type Project } from '../../codegen-back/project.fixture.js';

const TOOL = `import { Tool } from 'stepwright';

@Tool({ name: 'find-page', description: 'Finds a page' })
export class FindPage {
  execute({ name }: { name: string }): { path: string } {
    return { path: name };
  }
}
`;

const WORKFLOW = `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { FindPage } from './tool.js';

@Workflow({ name: 'find', description: 'finds' })
export class Find {
  @Arg({ description: 'Page' }) page!: Arg<string>;
  @Arg({ description: 'Mood' }) mood?: Arg<string>;
  @Step() found = call(FindPage, { name: this.page });
  output = done({ path: this.found.path });
}
`;

const FAULTY = WORKFLOW.replace('this.found.path', 'this.found.paht');
const FILE = 'src/find.ts';

let project: Project;
let lint: (more?: object) => ESLint;
let recommended: object[];

// The package may have to be built first.
beforeAll(async () => {
  const { stepwright } = await importBuilt<typeof import('../../../src/eslint/index.js')>('eslint/index.js');
  recommended = stepwright.configs.recommended;
}, 180_000);
beforeEach(async () => {
  project = await createProject({ 'src/tool.ts': TOOL, [FILE]: WORKFLOW, 'eslint.config.js': '' });
});
afterEach(() => project.remove());

const optionsOf = (more: object) => ({
  cwd: project.root,
  overrideConfigFile: true as const,
  overrideConfig: [{ files: ['**/*.ts'], languageOptions: { parser } }, ...recommended] as never,
  ...more,
});

// Each test starts a thread with a compiler in it.
describe.each([
  ['9', ESLint9 as unknown as typeof ESLint],
  ['10', ESLint],
])('ESLint %s', { timeout: 120_000 }, (version, Linter) => {
  beforeEach(() => {
    lint = (more = {}) => new Linter(optionsOf(more));
  });

  const shown = ({
    ruleId,
    severity,
    line,
    column,
    endLine,
    endColumn,
    message,
  }: ESLint.LintResult['messages'][number]) =>
    `${line}:${column}-${endLine}:${endColumn} ${severity === 2 ? 'error' : 'warning'} ${ruleId} ${message}`;
  const MOOD =
    '7:33-7:37 warning stepwright/warnings SW3011: argument `mood` of workflow `find` is never used (use `this.mood`, or remove the argument)';

  async function messages(file: string, text: string, linter = lint()) {
    const [result] = await linter.lintText(text, { filePath: path.join(project.root, file) });
    return result?.messages ?? [];
  }

  test('is the one that is installed', () => {
    expect(Linter.version.split('.')[0]).toBe(version);
  });

  test('shows the diagnostics of saved files, each in its own', async () => {
    await project.write({ [FILE]: FAULTY });
    const results = await lint().lintFiles(['src/**/*.ts']);
    expect(
      results.map(({ filePath, messages: found }) => [path.basename(filePath), found.map(shown)]),
    ).toEqual([
      [
        'find.ts',
        [
          MOOD,
          expect.stringMatching(/^9:25-9:40 error stepwright\/errors SW4005: .*\(did you mean `path`\?\)$/),
        ],
      ],
      ['tool.ts', []],
    ]);
  });

  test('shows those of text that is not saved, and forgets them once it is another', async () => {
    const linter = lint();
    expect((await messages(FILE, WORKFLOW, linter)).map(shown)).toEqual([MOOD]);
    expect((await messages(FILE, FAULTY, linter)).map(shown)).toEqual([
      MOOD,
      expect.stringContaining('SW4005'),
    ]);
    expect((await messages(FILE, WORKFLOW, linter)).map(shown)).toEqual([MOOD]);
    // Another file has changed, on disk.
    await writeFile(path.join(project.root, 'src/tool.ts'), TOOL.replaceAll('path', 'place'));
    expect((await messages(FILE, WORKFLOW, linter)).map(shown)).toEqual([
      MOOD,
      expect.stringContaining('SW4005'),
    ]);
  });

  test('shows each rule by itself, and asks again for the same text', async () => {
    const only = (rule: string) => ({
      overrideConfig: [
        ...(optionsOf({}).overrideConfig as object[]),
        { rules: { 'stepwright/errors': 'off', 'stepwright/warnings': 'off', [rule]: 'error' } },
      ],
    });
    const errors = lint(only('stepwright/errors'));
    expect(await messages(FILE, WORKFLOW, errors)).toEqual([]);
    await writeFile(path.join(project.root, 'src/tool.ts'), TOOL.replaceAll('path', 'place'));
    expect((await messages(FILE, WORKFLOW, errors)).map(shown)).toEqual([expect.stringContaining('SW4005')]);
    const warnings = lint(only('stepwright/warnings'));
    expect((await messages(FILE, WORKFLOW, warnings)).map(({ ruleId }) => ruleId)).toEqual([
      'stepwright/warnings',
    ]);
    const wrong = { settings: { stepwright: { root: 'gone' } } };
    const lost = lint({ overrideConfig: [...only('stepwright/warnings').overrideConfig, wrong] });
    expect((await messages(FILE, WORKFLOW, lost)).map(shown)).toEqual([
      expect.stringContaining('cannot check this file'),
    ]);
  });

  test('suggests the name that is near, and removes a comment that silences nothing', async () => {
    const found = await messages(FILE, FAULTY);
    const [repair] = found.flatMap(({ suggestions = [] }) => suggestions);
    expect(repair?.desc).toBe('Write `path`');
    const [from = 0, to = 0] = repair?.fix.range ?? [];
    expect(FAULTY.slice(from, to)).toBe('paht');
    const text = WORKFLOW.replace('  @Step()', '  // stepwright-ignore SW3010: it is used\n  @Step()');
    const [fixed] = await lint({ fix: true }).lintText(text, { filePath: path.join(project.root, FILE) });
    expect(fixed?.output).toBe(WORKFLOW);
  });

  test('shows those of a file behind a link', async () => {
    await project.write({
      'real/lost.ts': FAULTY.replace("'./tool.js'", "'../tool.js'").replace("'find'", "'lost'"),
    });
    await symlink('../real', path.join(project.root, 'src/linked'));
    expect((await messages('src/linked/lost.ts', await project.read('real/lost.ts'))).map(shown)).toEqual([
      expect.stringContaining('SW3011'),
      expect.stringContaining('SW4005'),
    ]);
  });

  test('leaves alone what the project does not read, and what codegen would write', async () => {
    await project.write({ 'other/a.ts': 'export const a = 1;\n' });
    expect(await messages('other/a.ts', 'export const a = 1;\n')).toEqual([]);
    expect(await messages('src/new.ts', 'export const a = 1;\n')).toEqual([]);
  });

  test('takes the folder and the configuration from its settings, and says what is wrong with them', async () => {
    await project.write({
      'app/src/tool.ts': TOOL,
      'app/src/find.ts': FAULTY,
      'app/wise.json':
        '{ "severity": { "SW3011": "off" }, "registries": [{ "include": ["src/**"], "out": "r.ts" }] }',
    });
    const within = (settings: object) =>
      lint({
        overrideConfig: [
          ...(optionsOf({}).overrideConfig as object[]),
          { settings: { stepwright: settings } },
        ],
      });
    const found = await messages('app/src/find.ts', FAULTY, within({ root: 'app', configFile: 'wise.json' }));
    expect(found.map(shown)).toEqual([expect.stringContaining('SW4005')]);
    const wrong = await messages('app/src/find.ts', FAULTY, within({ root: 'gone' }));
    expect(wrong.map(shown)).toEqual([expect.stringMatching(/stepwright cannot check this file: .*gone/)]);
  });

  test.each([
    ['stepwright.config.json', '{'],
    ['stepwright.config.json', '{ "registries": [{ "include": ["gone/**"], "out": "r.ts" }] }'],
    ['tsconfig.json', '{'],
  ])('says of each file that a project with %s %s cannot be read', async (file, text) => {
    await project.write({ [FILE]: FAULTY, [file]: text });
    const linter = lint();
    const reason = expect.stringMatching(
      /^1:1-1:1 error \S+ stepwright cannot check this file: .*SW900[23]: /,
    );
    expect((await messages(FILE, FAULTY, linter)).map(shown)).toEqual([reason]);
    expect((await messages('src/tool.ts', TOOL, linter)).map(shown)).toEqual([reason]);
  });
});
