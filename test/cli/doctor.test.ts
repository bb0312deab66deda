import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nightlyTest } from '../nightly.js';
import { bareProject, type CliProject, cliProject } from './cli-project.fixture.js';

const TOOL = `import { Tool } from 'stepwright';

@Tool({ name: 'hello', description: 'Says hello' })
export class Hello {
  execute(): { text: string } {
    return { text: 'hello' };
  }
}
`;

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly message: string;
  readonly repair?: string;
}

function doctor(project: CliProject, ...args: readonly string[]) {
  const { code, out, err } = project.stepwright('doctor', '--json', '--port', '0', ...args);
  expect(err).toBe('');
  const findings: readonly Finding[] = JSON.parse(out);
  return { code, of: (check: string) => findings.filter((each) => each.check === check) };
}

describe('stepwright doctor', { timeout: 240_000 }, () => {
  let project: CliProject;
  let bare: CliProject;
  beforeAll(() => {
    project = cliProject({ experimentalDecorators: true });
    bare = bareProject();
  }, 240_000);
  afterAll(() => {
    project.remove();
    bare.remove();
  });

  nightlyTest('reports a registry that is missing, and writes it with --fix', () => {
    project.write('src/tools.ts', TOOL);
    const before = doctor(project);
    expect(before.code).toBe(1);
    expect(before.of('registry')).toEqual([
      {
        ...{ check: 'registry', state: 'error', message: expect.stringContaining('`generated/registry.ts`') },
        repair: 'npx stepwright codegen',
      },
    ]);
    for (const check of ['node', 'compilers', 'package', 'project', 'port'])
      expect(before.of(check)).toMatchObject([{ state: 'ok' }]);
    expect(before.of('project')).toMatchObject([
      { message: expect.stringContaining('there is no configuration') },
    ]);
    expect(before.of('typescript')).toMatchObject([
      { state: 'warning', repair: 'npm install --save-dev typescript' },
    ]);
    project.write('node_modules/typescript/index.js', '');
    const fixed = doctor(project, '--fix');
    expect(fixed.of('registry')).toMatchObject([{ state: 'ok', isFixed: true }]);
    expect(fixed.of('typescript')).toMatchObject([{ state: 'ok' }]);
    expect(doctor(project)).toMatchObject({ code: 0 });
  });

  nightlyTest('reports a build that Node.js does not load', () => {
    const compilerOptions = { module: 'CommonJS', moduleResolution: 'Bundler', experimentalDecorators: true };
    project.write('tsconfig.json', JSON.stringify({ compilerOptions }));
    expect(doctor(project).of('typescript')).toMatchObject([
      { state: 'error', message: expect.stringContaining('"type": "module"') },
    ]);
  });

  nightlyTest('reports errors of the sources, and does not compare a registry then', () => {
    project.write('src/tools.ts', TOOL.replace("name: 'hello'", "name: 'no name'"));
    const { code, of } = doctor(project, '--fix');
    expect(code).toBe(1);
    expect(of('project')).toMatchObject([
      { state: 'error', message: expect.stringMatching(/^1 error, the first is SW1002: /) },
    ]);
    expect(of('registry')).toMatchObject([{ state: 'warning' }]);
  });

  nightlyTest('reports a second copy of the package', () => {
    const copy = path.join(project.root, 'node_modules/other/node_modules/stepwright');
    mkdirSync(copy, { recursive: true });
    project.write('node_modules/other/node_modules/stepwright/package.json', '{ "name": "stepwright" }');
    expect(doctor(project).of('package')).toMatchObject([
      {
        state: 'error',
        message: expect.stringContaining('2 copies of stepwright'),
        repair: 'npm dedupe stepwright',
      },
    ]);
  });

  test('needs no compiler in a project without TypeScript, and the snapshots of its servers', () => {
    expect(doctor(bare).of('compilers')).toMatchObject([
      { state: 'error', repair: 'npm install --save-dev ts-morph@28 esbuild@0' },
    ]);
    bare.write('stepwright.config.json', '{ "upstream": { "files": { "command": "npx" } } }');
    const { code, of } = doctor(bare);
    expect(code).toBe(1);
    expect(of('compilers')).toMatchObject([{ state: 'ok' }]);
    expect(of('project')).toMatchObject([{ state: 'ok' }]);
    expect(of('upstream')).toMatchObject([{ state: 'error', repair: 'npx stepwright pull files' }]);
  });

  test('reports hosts that start what does not exist', () => {
    bare.write(
      '.mcp.json',
      JSON.stringify({ mcpServers: { a: { command: 'node', args: ['dist/main.js'] } } }),
    );
    bare.write('.vscode/mcp.json', '{ "servers": { "b": { "command": "no-such-program" } } }');
    bare.write('.cursor/mcp.json', '{');
    expect(
      doctor(bare)
        .of('hosts')
        .map(({ message }) => message),
    ).toEqual([
      '.mcp.json: `a` starts dist/main.js, which does not exist',
      expect.stringContaining('.cursor/mcp.json is not valid JSON'),
      '.vscode/mcp.json: the program `no-such-program` of `b` is not on the path',
    ]);
  });

  test('checks the store and its driver', () => {
    expect(doctor(bare, '--store', 'postgres:x').of('store')).toMatchObject([{ state: 'error' }]);
    const { of } = doctor(bare, '--store', 'sqlite:no/such/runs.db');
    expect(of('store')).toMatchObject([{ state: 'error', repair: "mkdir -p 'no/such'" }]);
    bare.write('junk.db', 'not a database, and longer than the head of a file of SQLite is: '.repeat(3));
    const junk = doctor(bare, '--store', 'sqlite:junk.db');
    if (junk.of('sqlite')[0]?.state === 'ok')
      expect(junk.of('store')).toMatchObject([
        { state: 'error', message: expect.stringContaining('is not a SQLite database') },
      ]);
    // The package without its optional peers has the SQLite of Node.js alone, which may be too old.
    const [driver] = of('sqlite');
    if (driver?.state !== 'ok') expect(driver?.repair).toBe('npm install @photostructure/sqlite');
  });

  test('reports a port that is taken, and prints lines with repairs', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { readonly port: number };
    const { out } = bare.stepwright('doctor', '--port', String(port));
    server.close();
    expect(out).toMatch(new RegExp(`^warning +port +port ${port} of 127\\.0\\.0\\.1 cannot be used`, 'm'));
    expect(out).toMatch(/^ += repair: npx stepwright serve --http --port N$/m);
    expect(out).toMatch(/\n\d errors?, \d warnings?\n$/);
  });
});
