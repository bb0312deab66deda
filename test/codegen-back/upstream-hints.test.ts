import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { classesText } from '../../src/codegen/upstream/classes.js';
import { snapshotOf } from '../../src/runtime/upstream/snapshot.js';
import { runCodegen } from '../built-package.js';
import { createProject, type Project, stepwright } from './project.fixture.js';

const text = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } as const;
const tools = ['find', 'read', 'save'].map((name) => ({
  name,
  description: `Does ${name}`,
  inputSchema: text,
}));
const { text: classes } = classesText({
  server: 'files',
  snapshot: snapshotOf({ server: { name: 'files', version: '1' }, tools }),
  visibility: 'client',
});

const WORKFLOW = `
import { Arg, call, done, Step, Workflow } from 'stepwright';
import { FilesRead, FilesSave } from './upstream/files.js';

@Workflow({ name: 'touch', description: 'Saves a file, and reads it' })
export class Touch {
  @Arg({ description: 'The file' }) path!: Arg<string>;
  @Step() saved = call(FilesSave, { path: this.path });
  @Step() found = call(FilesRead, { path: this.path }, { after: [this.saved] });
  output = done({ found: this.found });
}
`;

const configuration = (hints: object) =>
  JSON.stringify({ upstream: { files: { command: 'files-server', hints } } }, undefined, 2);

describe('hints of upstream tools in the configuration', { timeout: 240_000 }, () => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject({ 'src/upstream/files.ts': classes, 'src/touch.workflow.ts': WORKFLOW });
  }, 240_000);
  afterAll(() => project.remove());

  const codegen = async (hints: object) => {
    await project.write({ 'stepwright.config.json': configuration(hints) });
    const { diagnostics } = await runCodegen({ root: project.root });
    return diagnostics.map(({ code, message, hint, place }) => ({
      code,
      message,
      hint,
      file: place?.file,
      line: place?.span[0],
    }));
  };

  test('are hints of the registry, by its names', async () => {
    const hints = {
      find: { category: 'search', next: ['read'], outputs: ['paths'], examples: [{ path: '*' }] },
      read: { hint: 'Reads one file.', requires: ['find'] },
    };
    expect(await codegen({ find: hints.find })).toEqual([]);
    const registry = await project.read('generated/registry.ts');
    expect(registry.replaceAll(/\s+/g, ' ')).toContain(
      "hints: { category: 'search', outputs: ['paths'], examples: [{ path: '*' }], next: ['files_read'] }",
    );
    const { stdout } = await stepwright(['infer', '--format', 'json'], project.root);
    expect(JSON.parse(stdout)).toMatchObject({
      edges: [{ from: 'files_find', to: 'files_read', confidence: 1 }],
      faults: [],
    });
  });

  test('are reported where the server has no such tool', async () => {
    const hints = {
      fnd: { category: 'search' },
      read: { requires: ['save', 'serch'], next: ['files_find'] },
    };
    expect(await codegen(hints)).toMatchObject([
      {
        code: 'SW4043',
        message:
          'the hints of the upstream server `files` name the tool `fnd`, which is not one of its tools',
        hint: 'did you mean `find`?',
        file: 'stepwright.config.json',
        line: 6,
      },
      { code: 'SW4043', message: expect.stringContaining('`serch`'), line: 12 },
    ]);
  });

  test('are reported where a workflow contradicts them, or they each other, in the configuration', async () => {
    const found = await codegen({
      find: { category: 'fun' },
      read: { next: ['save'] },
      save: { requires: ['find'] },
    });
    const places = found.map(({ code, file, line }) => `${code} ${file}:${line}`);
    expect(places).toEqual([
      'SW4042 stepwright.config.json:7',
      'SW4040 stepwright.config.json:11',
      'SW4040 stepwright.config.json:16',
    ]);
    const [cycle] = await codegen({ find: { requires: ['save'] }, save: { requires: ['find'] } });
    expect(cycle).toMatchObject({ code: 'SW4041', file: 'stepwright.config.json', line: 8 });
  });

  test('are reported, as domains are, where no registry has use for them', async () => {
    const upstream = {
      files: { command: 'files-server', hints: { find: { hint: 'Finds.' } } },
      ghost: { command: 'ghost', hints: { see: { hint: 'Sees.' }, hear: { hint: 'Hears.' } } },
    };
    const domains = [{ name: 'default', docs: 'All of it.' }, { name: 'defalt' }, { name: 'zoo' }];
    const settings = { upstream, domains };
    await project.write({ 'stepwright.config.json': JSON.stringify(settings, undefined, 2) });
    const { diagnostics } = await runCodegen({ root: project.root });
    const said = diagnostics.map(({ code, severity, message, hint, place }) => [
      `${place?.file}:${place?.span[0]} ${severity} ${code} ${message}`,
      hint,
    ]);
    expect(said).toEqual([
      [
        'stepwright.config.json:14 warning SW4045 the hints of the upstream server `ghost` say nothing: no registry has one of its tools',
        expect.stringContaining('`npx stepwright pull ghost`'),
      ],
      [
        'stepwright.config.json:29 warning SW4044 the configuration says something about the domain `defalt`, which no workflow has',
        'did you mean `default`?',
      ],
      [
        'stepwright.config.json:32 warning SW4044 the configuration says something about the domain `zoo`, which no workflow has',
        'give workflows this domain, or remove the entry',
      ],
    ]);
    const off = { ...settings, severity: { SW4044: 'off', SW4045: 'off' } };
    await project.write({ 'stepwright.config.json': JSON.stringify(off, undefined, 2) });
    expect((await runCodegen({ root: project.root })).diagnostics).toEqual([]);
  });

  test('have only the options of hints', async () => {
    expect(await codegen({ find: { categry: 'search' } })).toMatchObject([
      { code: 'SW9002', hint: expect.stringContaining('`category`'), line: 7 },
    ]);
  });

  test('follow each change of the configuration', async () => {
    await codegen({ find: { hint: 'First.' } });
    expect(await project.read('generated/registry.ts')).toContain("hint: 'First.'");
    await codegen({});
    expect(await project.read('generated/registry.ts')).not.toContain('hint:');
  });
});
