import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, run } from '../../codegen-back/project.fixture.js';
import { nightlyTest, smoke } from '../../nightly.js';
import { type OfflinePackages, offlinePackages } from './offline-packages.js';
import { INSTALLED, PROJECT } from './project.js';

const { resolve } = createRequire(import.meta.url);

/** How a package manager installs the repository of an author without a network, and runs commands in it. */
interface PackageManager {
  /** Its program. */
  readonly file: string;
  /** What messages start commands with. */
  readonly runner: string;
  /** How the command line is started: with arguments for Node, or by another program. */
  command(app: string): { readonly args: readonly string[]; readonly program?: string };
  /**
   * Its settings, and the fields of `package.json` that decide where packages come from.
   *
   * @param root - of the repository.
   */
  settings(packages: OfflinePackages, root: string): Readonly<Record<string, string | object>>;
}

const YARN = resolve('@yarnpkg/cli-dist/bin/yarn.js');

const MANIFEST = { name: 'acme', private: true, type: 'module' };

const MANAGERS: Readonly<Record<string, PackageManager>> = {
  "Yarn's Plug'n'Play": {
    file: YARN,
    runner: 'yarn',
    command: () => ({ args: [YARN, 'stepwright'] }),
    settings: ({ folders, absent }, root) => {
      // These are packed, as all packages of a registry are; the others are read where they are, which takes less time.
      const packed = new Set<string>(['stepwright', 'zod', ...INSTALLED]);
      const present = [...folders].map(([name, folder]) => [
        name,
        `${packed.has(name) ? 'file' : 'portal'}:${folder}`,
      ]);
      const missing = absent.map((name) => [name, `link:${path.join(root, 'absent')}`]);
      return {
        'package.json': {
          ...MANIFEST,
          workspaces: ['packages/*'],
          resolutions: Object.fromEntries([...present, ...missing]),
        },
        'yarn.lock': '',
        '.yarnrc.yml': [
          ...['nodeLinker: pnp', 'enableNetwork: false', 'enableTelemetry: false', 'compressionLevel: 0'],
          ...['enableGlobalCache: false', 'enableImmutableInstalls: false', `globalFolder: ${root}/.global`],
        ].join('\n'),
      };
    },
  },
  'the store of pnpm': {
    file: path.join(path.dirname(resolve('pnpm')), 'bin/pnpm.cjs'),
    runner: 'npx',
    command: (app) => ({ args: [], program: path.join(app, 'node_modules/.bin/stepwright') }),
    settings: ({ folders, absent }, root) => {
      const present = [...folders].map(([name, folder]) => [name, `file:${folder}`]);
      const missing = absent.map((name) => [name, '-']);
      return {
        'package.json': {
          ...MANIFEST,
          pnpm: { overrides: Object.fromEntries([...present, ...missing]) },
        },
        'pnpm-workspace.yaml': [
          ...["packages: ['packages/*']", 'autoInstallPeers: false', 'offline: true', 'ignoreScripts: true'],
          ...[`storeDir: ${root}/.store`, `cacheDir: ${root}/.cache`, `stateDir: ${root}/.state`],
        ].join('\n'),
      };
    },
  },
};

/** The registries that both write from the same sources. */
const registries = new Set<string>();

// Each test starts processes with a compiler in them.
describe.each(smoke(Object.entries(MANAGERS)))('with %s', { timeout: 240_000 }, (_, manager) => {
  let root: string;
  const inApp = (file: string): string => path.join(root, 'packages/app', file);

  const write = (files: Readonly<Record<string, string | object>>): void => {
    for (const [file, content] of Object.entries(files)) {
      const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    }
  };
  /** Runs a command while a file has another text. */
  const edited = async (file: string, from: string, to: string, args: readonly string[]): Promise<Ran> => {
    const text = readFileSync(path.join(root, file), 'utf8');
    expect(text).toContain(from);
    writeFileSync(path.join(root, file), text.replace(from, to));
    const ran = await stepwright(args);
    writeFileSync(path.join(root, file), text);
    return ran;
  };
  const stepwright = (more: readonly string[]): Promise<Ran> => {
    const { args, program } = manager.command(inApp('.'));
    return run([...args, ...more], inApp('.'), { STEPWRIGHT_SOURCE_CHECK: '' }, program);
  };
  /** The workflow, which starts as a server does. */
  const hello = ['run', 'hello', '--arg', 'who=Ada', '--json'];

  beforeAll(async () => {
    // Outside of this repository: its packages must not be found.
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'stepwright-installed-')));
    write(PROJECT);
    const { folders, absent } = offlinePackages(['zod', 'esbuild', 'ts-morph']);
    const installed = INSTALLED.map((name) => [name, path.join(root, 'installed', name)] as const);
    write(manager.settings({ folders: new Map([...folders, ...installed]), absent }, root));
    const { code, stdout, stderr } = await run([manager.file, 'install'], root, { CI: '1' });
    expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
    expect(await stepwright(['codegen'])).toMatchObject({
      ...{ code: 0, stderr: '' },
      stdout: expect.stringContaining('wrote generated/registry.ts'),
    });
  }, 240_000);
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test('schemas and types of packages are read', () => {
    const registry = readFileSync(inApp('generated/registry.ts'), 'utf8');
    expect(registry).toContain('"description": "Who hears Hello"');
    expect(registry).toContain('"unit": { "type": "string", "enum": ["celsius", "kelvin"] }');
    expect(registry).toContain('"days": { "type": "number", "enum": [1, 7] }');
    registries.add(registry);
    expect(registries.size).toBe(1);
  });

  nightlyTest('the registry is listed, is current, and runs', async () => {
    expect(await stepwright(['list'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('forecast:'),
    });
    expect(await stepwright(['check'])).toMatchObject({ code: 0, stderr: '' });
    const ran = await stepwright(hello);
    expect(ran).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'succeeded', result: { text: 'Hello Ada' } });
  });

  nightlyTest('a start asks `check` whether an edit matters', async () => {
    const comment = await edited('packages/app/src/hello.ts', 'import', '// Says hello.\nimport', hello);
    expect(comment).toMatchObject({ code: 0 });
    const step = await edited('packages/app/src/hello.ts', 'greeted.text', 'greeted', hello);
    expect(step).toMatchObject({ code: 1, stderr: expect.stringContaining('`src/hello.ts` changed') });
    expect(step.stderr).toContain(`Run \`${manager.runner} stepwright codegen\`.`);
  });

  nightlyTest('edits of a package of the repository are seen in schemas and in types', async () => {
    const schema = await edited('packages/words/src/rest.ts', 'lo', 'lp', ['check']);
    expect(schema).toMatchObject({ code: 1, stderr: expect.stringContaining('SW9001') });
    const type = await edited('packages/words/src/index.ts', '1 | 7', '1 | 14', ['check']);
    expect(type).toMatchObject({ code: 1, stderr: expect.stringContaining('SW9001') });
  });
});
