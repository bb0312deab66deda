import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtPackage } from '../../built-package.js';
import { install, linkPackage } from '../../installed-package.js';
import { nightlyTest } from '../../nightly.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stepwright-init-'));
  builtPackage();
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }), 120_000);

function run(cwd: string, program: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

const init = (...args: readonly string[]) =>
  run(folder, process.execPath, path.join(builtPackage(), 'dist/cli/main.js'), 'init', ...args);

const filesIn = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();

describe('stepwright init', () => {
  nightlyTest('writes a project that passes its own tests and serves', { timeout: 240_000 }, async () => {
    const root = path.join(folder, 'My server');
    const made = init('My server', '--yes');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain('Next: cd "My server" && npm install && npm test');
    const files = filesIn(root);
    expect(files).toEqual(
      expect.arrayContaining(['.github/workflows/ci.yml', '.gitignore', '.mcp.json', '.vscode/tasks.json']),
    );
    expect(files.length).toBeLessThanOrEqual(12);
    expect(files.filter((file) => readFileSync(path.join(root, file), 'utf8').includes('{{'))).toEqual([]);
    for (const file of files.filter((each) => each.endsWith('.json')))
      expect(() => JSON.parse(readFileSync(path.join(root, file), 'utf8'))).not.toThrow();

    const [build, image] = readFileSync(path.join(root, 'Dockerfile'), 'utf8')
      .split(/^FROM /m)
      .slice(1);
    const copied = (stage = '') =>
      [...stage.matchAll(/^COPY (?!--)(.*) \S+$/gm)].flatMap(([, from = '']) => from.split(' '));
    expect([copied(build), copied(image)]).toEqual([
      ['package*.json', 'tsconfig.json', 'stepwright.config.json', 'src'],
      ['package*.json'],
    ]);
    for (const name of copied(build).filter((each) => !each.includes('*')))
      expect(existsSync(path.join(root, name))).toBe(true);

    install(root);
    const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    for (const name of Object.keys(devDependencies))
      if (name !== 'typescript') linkPackage(path.join(root, 'node_modules'), name);
    const tested = run(root, 'npm', 'test');
    expect({ ...tested, out: tested.code === 0 ? '' : tested.out }).toMatchObject({ code: 0, out: '' });
    expect(tested.out).toMatch(/pass 2\b/);
    expect(run(root, 'npx', 'stepwright', 'check')).toMatchObject({ code: 0, err: '' });

    // Installed from a file, which its projects are installed from as well.
    const packed = { 'node_modules/stepwright': { resolved: 'file:../stepwright-0.1.0.tgz' } };
    writeFileSync(path.join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages: packed }));
    writeFileSync(path.join(folder, 'stepwright-0.1.0.tgz'), '');
    const ofFile = path.join(root, 'node_modules/stepwright/dist/cli/main.js');
    expect(run(folder, process.execPath, ofFile, 'init', 'of/file', '--yes')).toMatchObject({ code: 0 });
    const { dependencies } = JSON.parse(readFileSync(path.join(folder, 'of/file/package.json'), 'utf8'));
    expect(dependencies.stepwright).toBe('file:../../stepwright-0.1.0.tgz');

    const { mcpServers } = JSON.parse(readFileSync(path.join(root, '.mcp.json'), 'utf8'));
    const [, inImage = ''] = /^CMD (.*)$/m.exec(image ?? '') ?? [];
    expect(`stepwright ${JSON.parse(inImage).slice(1).join(' ')}`).toBe(
      JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).scripts.start,
    );
    const client = new Client({ name: 'test', version: '0.1.0' });
    await client.connect(new StdioClientTransport({ ...mcpServers['my-server'], cwd: root }));
    expect(client.getServerVersion()).toMatchObject({ name: 'my-server', version: '0.1.0' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('w_tidy-notes');
    await client.close();
  });

  test('never replaces a file, and says what it would write', () => {
    init('twice', '--yes');
    writeFileSync(path.join(folder, 'twice/src/tools.ts'), '// mine\n');
    const again = init('twice', '--yes');
    expect(again).toMatchObject({ code: 1, out: '' });
    expect(again.err).toContain('`twice` has .github/workflows/ci.yml, ');
    expect(again.err).toContain('no file was written. `stepwright init` writes .github/workflows/ci.yml, ');
    expect(readFileSync(path.join(folder, 'twice/src/tools.ts'), 'utf8')).toBe('// mine\n');
  });

  test('writes a project in YAML that installs the package, and keeps what a folder has', () => {
    const made = init('in yaml', '--yaml', '--yes');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain('Next: cd "in yaml" && npm install && npx stepwright run add-note ');
    const files = filesIn(path.join(folder, 'in yaml'));
    expect(made.out.match(/^wrote .*$/gm)?.sort()).toEqual(files.map((file) => `wrote in yaml/${file}`));
    expect(files).toEqual(expect.arrayContaining(['.gitignore', 'generated/registry.specs.schema.json']));
    expect(files.length).toBeLessThanOrEqual(12);
    const manifest = JSON.parse(readFileSync(path.join(folder, 'in yaml/package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      name: 'in-yaml',
      dependencies: { stepwright: expect.stringMatching(/^\^/) },
    });

    mkdirSync(path.join(folder, 'own'));
    writeFileSync(path.join(folder, 'own/package.json'), '{ "name": "own" }\n');
    expect(init('own', '--yaml', '--yes').out).toContain('Next: cd own && npx stepwright run add-note ');
    expect(readFileSync(path.join(folder, 'own/package.json'), 'utf8')).toBe('{ "name": "own" }\n');
    expect(init('own', '--yaml', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('`own` has .mcp.json, '),
    });
  });

  test('is what `npm create stepwright` runs', () => {
    const source = path.resolve(import.meta.dirname, '../../../packages/create-stepwright');
    const manifest = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8'));
    const { version } = JSON.parse(readFileSync(path.join(builtPackage(), 'package.json'), 'utf8'));
    expect([manifest.version, manifest.dependencies]).toEqual([version, { stepwright: version }]);

    const packed = run(source, 'npm', 'pack', '--silent', '--pack-destination', folder);
    const modules = path.join(folder, 'created/node_modules');
    mkdirSync(modules, { recursive: true });
    run(folder, 'tar', '-xzf', packed.out.trim(), '-C', modules);
    renameSync(path.join(modules, 'package'), path.join(modules, 'create-stepwright'));
    symlinkSync(builtPackage(), path.join(modules, 'stepwright'), 'junction');
    const program = path.join(modules, 'create-stepwright', manifest.bin['create-stepwright']);
    const made = run(path.join(folder, 'created'), process.execPath, program, 'fresh', '--yes');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain('Next: cd fresh && npm install && npm test');
    expect(filesIn(path.join(folder, 'created/fresh'))).toHaveLength(12);
  });

  // npm installs from its registry.
  nightlyTest(
    'makes a project of the packed packages that tests and serves itself',
    { timeout: 600_000 },
    async () => {
      const cwd = path.join(folder, 'of tarballs');
      mkdirSync(cwd);
      const packed = [
        path.resolve(import.meta.dirname, '../../../packages/create-stepwright'),
        builtPackage(),
      ].map((source) => {
        const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', cwd];
        return path.join(cwd, run(source, 'npm', ...args).out.trim());
      });
      const packages = packed.map((file) => `--package=${file}`);
      const created = run(
        cwd,
        'npm',
        'exec',
        '--yes',
        ...packages,
        '--',
        'create-stepwright',
        'my-server',
        '--yes',
      );
      expect(created).toMatchObject({ code: 0 });

      const root = path.join(cwd, 'my-server');
      expect(run(root, 'npm', 'install', '--no-audit', '--no-fund')).toMatchObject({ code: 0 });
      expect(run(root, 'npm', 'test')).toMatchObject({ code: 0, out: expect.stringMatching(/pass 2\b/) });

      const dev = spawn('npm', ['run', 'dev', '--', '--port', '0'], { cwd: root, detached: true });
      try {
        let url: string | undefined;
        for await (const line of createInterface({ input: dev.stdout })) {
          url = /^served at (\S+)/.exec(line)?.[1];
          if (url !== undefined) break;
        }
        const client = new Client({ name: 'test', version: '0.1.0' });
        await client.connect(new StreamableHTTPClientTransport(new URL(url ?? 'no address')));
        const { messages } = await client.getPrompt({ name: 'tidy-notes', arguments: { word: 'bread' } });
        expect(JSON.stringify(messages)).toContain('Buy bread');
        await client.close();
      } finally {
        // npm does not pass a signal on to what its shell has started.
        if (dev.pid !== undefined) process.kill(-dev.pid, 'SIGTERM');
        if (dev.exitCode === null) await once(dev, 'exit');
      }
    },
  );

  test('refuses a file in the place of the folder', () => {
    writeFileSync(path.join(folder, 'taken'), '');
    expect(init('taken')).toEqual({
      code: 2,
      out: '',
      err: 'stepwright: `taken` is a file: name a folder\n',
    });
  });
});
