import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { formatLocation } from '../graph/source-location.js';
import { planCodegen } from './config.js';
import { configJsonSchema } from './config-file.js';
import { REGISTRY_HEADER } from './emit/registry.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'stepwright-config-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
}

/** The location of the patterns of the only registry. */
const includePlace = expect.objectContaining({ pointer: '/registries/0/include' });

const config = (value: unknown) => ({ 'stepwright.config.json': JSON.stringify(value) });

async function faults(): Promise<readonly string[]> {
  const { value, diagnostics } = await planCodegen({ root });
  expect(value).toBeUndefined();
  return diagnostics.map(
    ({ code, message, place }) =>
      `${place === undefined ? '' : `${formatLocation(place)} `}${code} ${message}`,
  );
}

describe('planCodegen with a configuration', () => {
  test('finds the files, sorted, without registries, declarations, tests and packages', async () => {
    await write({
      ...config({ registries: [{ include: ['src/**', 'generated/**'], out: 'generated/registry.ts' }] }),
      'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true } }',
      'src/b.ts': '',
      'src/a.mts': '',
      'src/deep/c.tsx': '',
      'src/notes.md': '',
      'src/types.d.ts': '',
      'src/a.test.ts': '',
      'src/node_modules/p/index.ts': '',
      'generated/registry.ts': `${REGISTRY_HEADER}\nnot even (TypeScript`,
    });
    const { value, diagnostics } = await planCodegen({ root });
    expect(diagnostics).toEqual([]);
    expect(value).toEqual({
      tsconfig: 'tsconfig.json',
      loader: { experimentalDecorators: true },
      severity: {},
      moduleLimits: {},
      registries: [
        {
          out: 'generated/registry.ts',
          files: ['src/a.mts', 'src/b.ts', 'src/deep/c.tsx'],
          patterns: ['src/**', 'generated/**'],
          includePlace,
        },
      ],
    });
  });

  test('replaces the default exclusions by `exclude`', async () => {
    await write({
      ...config({ registries: [{ include: ['src/**'], exclude: ['src/old/**'], out: './registry.ts' }] }),
      'src/a.test.ts': '',
      'src/old/b.ts': '',
    });
    expect((await planCodegen({ root })).value).toEqual({
      loader: { experimentalDecorators: false },
      severity: {},
      moduleLimits: {},
      registries: [{ out: 'registry.ts', files: ['src/a.test.ts'], patterns: ['src/**'], includePlace }],
    });
  });

  test('follows links as the compiler does, and once where they lead back', async () => {
    await write({
      ...config({ registries: [{ include: ['src/**'], specs: ['src/**/*.yaml'], out: 'registry.ts' }] }),
      ...{ 'real/a.ts': '', 'real/b.yaml': '', 'real/node_modules/c.ts': '', 'one.ts': '' },
    });
    await mkdir(path.join(root, 'src'));
    await symlink('../real', path.join(root, 'src/folder'));
    await symlink('../one.ts', path.join(root, 'src/one.ts'));
    await symlink('.', path.join(root, 'src/self'));
    await symlink('nowhere', path.join(root, 'src/gone.ts'));
    const files = ['src/folder/a.ts', 'src/one.ts'];
    expect((await planCodegen({ root })).value?.registries[0]).toMatchObject({
      files,
      specs: { files: ['src/folder/b.yaml'] },
    });
    await write({ 'stepwright.config.json': '{}', 'tsconfig.json': '{ "include": ["src"] }' });
    expect((await planCodegen({ root })).value?.registries[0]?.files).toEqual(files);
  });

  test('reads comments, and a file of another name', async () => {
    await write({
      'other.json': '{ // why not\n"registries": [{ "include": ["*.ts"], "out": "r.ts" }], }',
      'a.ts': '',
    });
    const { value } = await planCodegen({ root, configFile: 'other.json' });
    expect(value?.registries).toEqual([{ out: 'r.ts', files: ['a.ts'], patterns: ['*.ts'], includePlace }]);
  });

  test('reports all wrong settings with their locations', async () => {
    const text = [
      '{',
      '  "registrys": [],',
      '  "registries": [',
      '    { "include": "src/**", "out": "../up.ts" }',
      '  ]',
      '}',
    ];
    await write({ 'stepwright.config.json': text.join('\n') });
    expect(await faults()).toEqual([
      expect.stringMatching(
        /^stepwright\.config\.json:4:18 SW9002 .*`\/registries\/0\/include` must be a list/,
      ),
      expect.stringMatching(
        /^stepwright\.config\.json:4:35 SW9002 .*`\/registries\/0\/out`: .*leave the project/,
      ),
      expect.stringMatching(/^stepwright\.config\.json:2:3 SW9002 .*`\/registrys` is not a setting/),
    ]);
  });

  test.each([
    [{ registreis: [] }, 'did you mean `registries`?'],
    [{ sources: [] }, /^the settings here are .*`registries`/],
    [{ domains: [{ name: 'd', owner: 'x' }] }, 'the settings here are `name`, `rules`, `docs`'],
  ])('names the settings beside an unknown one: %j', async (value, hint) => {
    await write(config(value));
    const { diagnostics } = await planCodegen({ root });
    expect(diagnostics.map((each) => each.hint)).toEqual([
      typeof hint === 'string' ? hint : expect.stringMatching(hint),
    ]);
  });

  test('takes a server with a misspelt setting for what it is most like', async () => {
    await write({
      'stepwright.config.json': '{ "upstream": { "files": { "comand": "npx", "args": ["x"] } } }',
    });
    expect(await faults()).toEqual([
      expect.stringContaining('`/upstream/files/command` is missing'),
      expect.stringContaining('`/upstream/files/comand` is not a setting'),
    ]);
  });

  test.each([
    ['{ "registries": ', 'SW9002'],
    ['[]', 'it must be an object'],
    ['', 'it is empty: write `{}`'],
    ['{ "registries": [] }', '`/registries`'],
    ['{ "specs": 5 }', '`/specs` must be a list: `[…]`'],
    ['{ "registries": [{ "include": ["/etc/**"], "out": "r.ts" }] }', '`/registries/0/include/0`'],
    ['{ "registries": [{ "include": ["a\\\\b.ts"], "out": "r.ts" }] }', '`/registries/0/include/0`'],
    ['{ "registries": [{ "include": ["a.ts"], "out": "r.js" }] }', 'must end in .ts'],
    ['{ "registries": [{ "include": ["a.ts"], "out": 1 }] }', '`/registries/0/out`'],
    ['{ "registries": [{ "include": ["a.ts"] }] }', '`/registries/0/out` is missing'],
    ['{ "upstream": { "1st": { "command": "a" } } }', '`/upstream/1st`: a name is at most 32 of'],
  ])('refuses %s', async (text, expected) => {
    await write({ 'stepwright.config.json': text });
    const found = await faults();
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
    expect(found[0]).toMatch(/^stepwright\.config\.json:1:\d+ /);
  });

  test('reads what is said about domains, each once', async () => {
    const registries = [{ include: ['a.ts'], out: 'r.ts' }];
    const domains = [{ name: 'travel', rules: ['Ask first.'], docs: '# Trips' }, { name: 'shop' }];
    await write({ ...config({ registries, domains }), 'a.ts': '' });
    expect((await planCodegen({ root })).value?.domains).toEqual([domains[0], { name: 'shop', rules: [] }]);
    await write(
      config({
        registries,
        domains: [
          { name: 'a', rule: ['x'] },
          { name: 'a', rules: [' '] },
        ],
      }),
    );
    expect(await faults()).toEqual([
      expect.stringMatching(/:1:\d+ SW9002 .*`\/domains\/0\/rule` is not a setting/),
      expect.stringMatching(/:1:\d+ SW9002 .*`\/domains\/1\/rules\/0`: must not be empty/),
      expect.stringMatching(/:1:\d+ SW9002 .*`\/domains\/1\/name`/),
    ]);
    await write(config({ registries, domains: [{ name: 'a' }, { name: 'a', docs: 'x' }] }));
    expect(await faults()).toEqual([
      expect.stringMatching(/:1:\d+ SW9002 .*`\/domains\/1\/name`: there are two domains `a`/),
    ]);
  });

  test('reads severities by code, and refuses those that do not fit their code', async () => {
    const registries = [{ include: ['a.ts'], out: 'r.ts' }];
    const severity = { SW3010: 'off', SW3011: 'error', SW4013: 'warning' };
    await write({ ...config({ registries, severity }), 'a.ts': '' });
    expect((await planCodegen({ root })).value?.severity).toEqual(severity);

    const text = `{ "registries": ${JSON.stringify(registries)},
      "severity": { "SW3001": "off", "SW9999": "off", "SW3011": "error" } }`;
    await write({ 'stepwright.config.json': text });
    expect(await faults()).toEqual([
      'stepwright.config.json:2:21 SW9011 `SW3001` is an error, and cannot be made silent',
      'stepwright.config.json:2:38 SW9010 there is no diagnostic `SW9999`',
    ]);
    await write({ ...config({ registries, severity: { SW3010: 'silent' } }) });
    expect(await faults()).toEqual([expect.stringContaining('`/severity/SW3010`')]);
  });

  test('reads limits for modules, and refuses invalid ones', async () => {
    const registries = [{ include: ['*.ts'], out: 'r.ts' }];
    const moduleLimits = { cpuSeconds: 2.5, memoryMb: 512 };
    await write({ ...config({ registries, moduleLimits }), 'a.ts': '' });
    expect((await planCodegen({ root })).value?.moduleLimits).toEqual({ cpuMs: 2500, memoryMb: 512 });
    await write(config({ registries, moduleLimits: { cpuSeconds: 0 } }));
    expect(await faults()).toEqual([expect.stringContaining('`/moduleLimits/cpuSeconds`')]);
    await write(config({ registries, moduleLimits: { cpuSecond: 1 } }));
    const { diagnostics } = await planCodegen({ root });
    expect(diagnostics).toMatchObject([{ code: 'SW9002', hint: 'did you mean `cpuSeconds`?' }]);
  });

  test('without registries has the default registry', async () => {
    await write({
      'tsconfig.json': '{ "include": ["**/*"] }',
      ...config({ severity: { SW3010: 'off' } }),
      'src/a.ts': '',
      'src/a.test.ts': '',
      'generated/registry.ts': '',
    });
    expect((await planCodegen({ root })).value).toEqual({
      tsconfig: 'tsconfig.json',
      loader: { experimentalDecorators: false },
      severity: { SW3010: 'off' },
      moduleLimits: {},
      registries: [{ out: 'generated/registry.ts', files: ['src/a.ts'], patterns: ['**/*'] }],
    });
    await write({
      ...config({ tsconfig: 'other.json' }),
      'other.json': '{ "files": ["src/a.test.ts", "lib.ts"] }',
      'lib.ts': '',
    });
    expect((await planCodegen({ root })).value).toMatchObject({
      tsconfig: 'other.json',
      registries: [{ files: ['lib.ts'] }],
    });
  });

  test('without registries reports its faults, and missing sources', async () => {
    await write(config({ severity: { SW3001: 'off' } }));
    expect(await faults()).toEqual([
      expect.stringMatching(/^stepwright\.config\.json:1:\d+ SW9011 /),
      'SW9003 no source file matches `tsconfig.json`, which is missing',
    ]);
    await write(config({ tsconfig: 'gone.json' }));
    expect(await faults()).toEqual([
      expect.stringMatching(/^stepwright\.config\.json:1:\d+ SW9002 .*there is no file `gone\.json`/),
    ]);
    await write({ ...config({}), 'tsconfig.json': '{ "include": ["src"] }', 'src/a.test.ts': '' });
    expect(await faults()).toEqual(['SW9003 no source file matches `tsconfig.json`']);
  });

  test('refuses two registries in one file', async () => {
    await write({
      ...config({
        registries: [
          { include: ['a.ts'], out: 'gen/r.ts' },
          { include: ['a.ts'], out: 'gen/../gen/r.ts' },
        ],
      }),
      'a.ts': '',
    });
    expect(await faults()).toEqual([expect.stringContaining('two registries are written to `gen/r.ts`')]);
  });

  test('reports patterns that match nothing, and a missing tsconfig', async () => {
    await write(config({ tsconfig: 'ts.json', registries: [{ include: ['lib/**', 'x.ts'], out: 'r.ts' }] }));
    expect(await faults()).toEqual([
      expect.stringMatching(/^stepwright\.config\.json:1:\d+ SW9002 .*there is no file `ts.json`/),
      expect.stringMatching(
        /^stepwright\.config\.json:1:\d+ SW9003 no source file matches `lib\/\*\*`, `x.ts`/,
      ),
    ]);
  });

  test('reports faults of the tsconfig', async () => {
    await write({
      ...config({ registries: [{ include: ['*.ts'], out: 'r.ts' }] }),
      'a.ts': '',
      'tsconfig.json': '{ "compilerOptions": { "target": "ES1" } }',
    });
    expect(await faults()).toEqual([
      expect.stringMatching(/^tsconfig\.json:1:34 SW9002 configuration `tsconfig\.json`: .*target/),
    ]);
    await write({ 'tsconfig.json': '{\n  "compilerOptions": { "target": }\n}' });
    expect(await faults()).toEqual([expect.stringMatching(/^tsconfig\.json:2:34 SW9002 .*expected/)]);
  });

  test('reads the files of a solution, and reports what its projects disagree about', async () => {
    const solution = {
      files: [],
      references: [{ path: './app' }, { path: './more/tsconfig.json' }],
    };
    const project = (compilerOptions: object) => JSON.stringify({ compilerOptions, include: ['*.ts'] });
    await write({
      'tsconfig.json': JSON.stringify(solution),
      'app/tsconfig.json': project({ paths: { '@/*': ['./*'], '~': ['./a.ts'] } }),
      'app/a.ts': '',
      'more/tsconfig.json': project({ paths: { '#more': ['./b.ts'] }, customConditions: ['no'] }),
      'more/b.ts': '',
    });
    expect((await planCodegen({ root })).value).toMatchObject({
      loader: {
        experimentalDecorators: false,
        paths: {
          '@/*': [path.join(root, 'app/*')],
          '~': [path.join(root, 'app/a.ts')],
          '#more': [path.join(root, 'more/b.ts')],
        },
      },
      registries: [{ files: ['app/a.ts', 'more/b.ts'] }],
    });
    // One without an import of `stepwright`, such as that of `vite.config.ts`, may have decorators of another kind.
    await write({
      'app/tsconfig.json': project({ paths: { '@/*': ['./*'] } }),
      'app/a.ts': "import { stepwright } from 'stepwright/vite';\n",
      'more/tsconfig.json': project({ experimentalDecorators: true }),
      'more/b.ts': "import { Tool } from 'stepwright';\n",
    });
    expect((await planCodegen({ root })).value).toMatchObject({ loader: { experimentalDecorators: true } });
    await write({
      'app/a.ts': "import { Tool } from 'stepwright';\n",
      'more/tsconfig.json': project({ experimentalDecorators: true, paths: { '@/*': ['./*'] } }),
    });
    expect(await faults()).toEqual([
      'more/tsconfig.json:1:1 SW9002 configuration `tsconfig.json`: `experimentalDecorators` of `more/tsconfig.json` differs from that of `app/tsconfig.json`: name one of them as `tsconfig` in the configuration',
      expect.stringContaining('`paths["@/*"]` of `more/tsconfig.json` differs'),
    ]);
    await rm(path.join(root, 'more/tsconfig.json'));
    expect(await faults()).toEqual([
      'tsconfig.json:1:52 SW9002 configuration `tsconfig.json`: there is no file `more/tsconfig.json`',
    ]);
    await write({
      'more/tsconfig.json': '{ "files": [], "references": [{ "path": "../tsconfig.json" }] }',
    });
    expect((await planCodegen({ root })).value?.registries).toMatchObject([{ files: ['app/a.ts'] }]);
  });

  test('suggests the setting that is nearest to a misspelt one', async () => {
    await write({ 'stepwright.config.json': '{ "registries": [{ "includes": ["a.ts"], "out": "r.ts" }] }' });
    const { diagnostics } = await planCodegen({ root });
    expect(diagnostics.map(({ hint }) => hint)).toContain('did you mean `include`?');
  });

  test('refuses to overwrite a source before it reports its classes as missing', async () => {
    const registries = [{ include: ['*.ts'], out: 'a.ts' }];
    await write({ ...config({ registries }), 'a.ts': 'export const mine = 1;\n', 'b.ts': '' });
    expect(await faults()).toEqual([
      expect.stringMatching(/^stepwright\.config\.json:\d+:\d+ SW9004 `a\.ts`/),
    ]);
  });

  test('says that what is to be written is a folder', async () => {
    const registries = [{ include: ['*.ts'], out: 'generated.ts' }];
    await write({ ...config({ registries }), 'generated.ts/notes.txt': '', 'b.ts': '' });
    expect(await faults()).toEqual([expect.stringMatching(/ SW9004 `generated\.ts` is a folder, and /)]);
  });

  test('reports a missing configuration file that was named', async () => {
    const { diagnostics } = await planCodegen({ root, configFile: 'gone.json' });
    expect(diagnostics).toMatchObject([{ code: 'SW9002', message: expect.stringContaining('no such file') }]);
  });
});

describe('planCodegen with a configuration in package.json', () => {
  const registries = [{ include: ['*.ts'], out: 'r.ts' }];
  const inPackage = (stepwright: unknown) => ({
    'package.json': JSON.stringify({ name: 'p', dependencies: { stepwright: '^1.0.0' }, stepwright }),
  });

  test('reads the member `stepwright`, with places and pointers in that file', async () => {
    await write({ ...inPackage({ registries, server: 'server.ts' }), 'a.ts': '' });
    const plan = { value: { registries: [{ out: 'r.ts', files: ['a.ts'] }], server: 'server.ts' } };
    expect(await planCodegen({ root })).toMatchObject(plan);
    expect(await planCodegen({ root, configFile: 'package.json' })).toMatchObject(plan);
    expect((await planCodegen({ root })).value?.registries[0]?.includePlace).toMatchObject({
      file: 'package.json',
      pointer: '/stepwright/registries/0/include',
    });
  });

  test('reports its faults where they are', async () => {
    const text = [
      '{',
      '  "name": "p",',
      '  "stepwright": {',
      '    "tsconfg": "a.json",',
      '    "registries": [{ "include": ["*.ts"] }]',
      '  }',
      '}',
    ];
    await write({ 'package.json': text.join('\n') });
    expect(await faults()).toEqual([
      expect.stringMatching(
        /^package\.json:5:20 SW9002 .*`package\.json`.*`\/stepwright\/registries\/0\/out` is missing/,
      ),
      expect.stringMatching(/^package\.json:4:5 SW9002 .*`\/stepwright\/tsconfg` is not a setting/),
    ]);
    await write(inPackage([]));
    expect(await faults()).toEqual([
      expect.stringMatching(/^package\.json:1:\d+ SW9002 .*`\/stepwright` must be an object/),
    ]);
    await write({ ...inPackage({ registries, severity: { SW3001: 'off' } }), 'a.ts': '' });
    expect(await faults()).toEqual([expect.stringMatching(/^package\.json:1:\d+ SW9011 /)]);
  });

  test('refuses two configurations, at the one in package.json', async () => {
    await write({ ...config({ registries }), ...inPackage({ registries }), 'a.ts': '' });
    expect(await faults()).toEqual([
      expect.stringMatching(/^package\.json:1:\d+ SW9002 .*`stepwright\.config\.json`.*keep one of the two/),
    ]);
    const named = await planCodegen({ root, configFile: 'stepwright.config.json' });
    expect(named).toMatchObject({ value: {}, diagnostics: [] });
  });

  test('is missing where only a dependency has the name', async () => {
    await write({
      'package.json': '{ "dependencies": { "stepwright": "^1.0.0" } }',
      'tsconfig.json': '{}',
      'a.ts': '',
    });
    expect((await planCodegen({ root })).value?.registries).toEqual([
      { out: 'generated/registry.ts', files: ['a.ts'], patterns: ['**/*'] },
    ]);
    const { diagnostics } = await planCodegen({ root, configFile: 'package.json' });
    expect(diagnostics).toMatchObject([{ code: 'SW9002' }]);
  });
});

describe('the JSON Schema of the configuration', () => {
  const file = path.join(import.meta.dirname, '../../config.schema.json');

  test('is the one that is shipped', async () => {
    const schema = configJsonSchema();
    if (process.env.UPDATE_GOLDEN === '1') await writeFile(file, JSON.stringify(schema, undefined, 2));
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(schema);
  });

  test('describes every setting', () => {
    const settings = (schema: z.core.JSONSchema.BaseSchema): readonly unknown[] =>
      Object.values(schema.properties ?? {}).flatMap((property) => {
        const inner = property as z.core.JSONSchema.BaseSchema;
        const item = inner.items as z.core.JSONSchema.BaseSchema | undefined;
        return [inner.description, ...settings(inner), ...settings(item ?? {})];
      });
    const descriptions = settings(configJsonSchema() as z.core.JSONSchema.BaseSchema);
    expect(descriptions).toHaveLength(21);
    expect(descriptions).not.toContain(undefined);
  });
});

describe('planCodegen without a configuration', () => {
  test('takes the files of tsconfig.json, without tests and build output', async () => {
    await write({
      'tsconfig.json': '{ "extends": "./base.json", "include": ["**/*"] }',
      'base.json': '{ "compilerOptions": { "experimentalDecorators": true } }',
      'src/b.ts': '',
      'src/a.ts': '',
      'src/a.spec.ts': '',
      'src/t.d.ts': '',
      'dist/a.ts': '',
      'generated/registry.ts': '',
    });
    expect((await planCodegen({ root })).value).toEqual({
      tsconfig: 'tsconfig.json',
      loader: { experimentalDecorators: true },
      severity: {},
      moduleLimits: {},
      registries: [{ out: 'generated/registry.ts', files: ['src/a.ts', 'src/b.ts'], patterns: ['**/*'] }],
    });
  });

  test('names what is missing in an empty folder', async () => {
    expect(await faults()).toEqual([expect.stringMatching(/^SW9003 .*both missing/)]);
  });
});

describe('planCodegen beside `.pnp.cjs`', () => {
  const files = {
    '.pnp.cjs': '',
    'packages/app/tsconfig.json': '{ "include": ["src"] }',
    'packages/app/src/a.ts': '',
  };

  test('reports that this process does not find the packages', async () => {
    await write({ ...files, 'packages/app/node_modules/.cache/stepwright/sources.json': '' });
    root = path.join(root, 'packages/app');
    expect(await faults()).toEqual([
      "SW9018 the packages of the project are those of `../../.pnp.cjs`, and this process runs without Yarn's Plug'n'Play",
    ]);
  });

  test('finds the files where packages are installed all the same', async () => {
    await write({ ...files, 'packages/app/node_modules/zod/package.json': '{}' });
    const { value } = await planCodegen({ root: path.join(root, 'packages/app') });
    expect(value?.registries).toMatchObject([{ files: ['src/a.ts'] }]);
  });
});
