import { createHash } from 'node:crypto';
import { chmod, cp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { builtPackage } from '../built-package.js';
import { nightlyDescribe, nightlyTest, smoke } from '../nightly.js';
import { createProject, type Project, type Ran, run, runModule, stepwright, tsc } from './project.fixture.js';

const tool = `import { Tool } from 'stepwright';
import { z } from 'zod';
const name = z.string().trim().refine(Boolean);
@Tool({ name: 'find-page', description: 'Finds a page', input: z.object({ name }), output: z.object({ path: z.string() }) })
export class FindPage {
  execute({ name }: { name: string }): { path: string } {
    return { path: name };
  }
}
`;

const workflow = `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { FindPage } from './tool.js';
@Workflow({ name: 'find', description: 'Finds 1' })
export class Find {
  @Arg({ description: 'Page' }) page!: Arg<string>;
  @Step() found = call(FindPage, { name: this.page });
  output = done({ path: this.found.path });
}
`;

const files = { 'src/tool.ts': tool, 'src/find.ts': workflow };
const OUT = 'generated/registry.ts';
const CACHE = 'node_modules/.cache/stepwright';
const written: Ran = { code: 0, stdout: `wrote ${OUT}\n`, stderr: '' };
const current: Ran = { code: 0, stdout: `${OUT} is current\n`, stderr: '' };

let project: Project;
beforeEach(async () => {
  project = await createProject(files);
});
afterEach(async () => {
  await chmod(path.join(project.root, CACHE), 0o755).catch(() => {});
  await project.remove();
});

const at = (file: string): string => path.join(project.root, file);

const codegen = (...args: string[]): Promise<Ran> => stepwright(['codegen', ...args], project.root);

/** Runs codegen in a process in which a piece of code has changed `node:fs` or the like before. */
async function codegenAfter(code: string, ...args: string[]): Promise<Ran> {
  await writeFile(
    at('change.mjs'),
    `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';\n${code}\nsyncBuiltinESMExports();`,
  );
  return stepwright(['codegen', ...args], project.root, { NODE_OPTIONS: `--import=${at('change.mjs')}` });
}

/** Runs codegen as a user who may do what the modes of files allow: the superuser may do all, but for this. */
function codegenAsUser(): Promise<Ran> {
  const args = [path.join(builtPackage(), 'dist/cli/main.js'), 'codegen'];
  if (process.getuid?.() !== 0) return run(args, project.root);
  const start = ['--bounding-set=-all', '--inh-caps=-all', process.execPath, ...args];
  const code = `const { spawnSync } = require('node:child_process');
    process.exitCode = spawnSync('setpriv', ${JSON.stringify(start)}, { stdio: 'inherit' }).status;`;
  return run(['-e', code], project.root);
}

/** Changes what the registry contains, and no length of a file. */
async function edit(): Promise<void> {
  await project.write({ 'src/find.ts': workflow.replace('Finds 1', 'Finds 2') });
}

/** The files beside the registry and in the cache that have no place there. */
async function remains(): Promise<string[]> {
  const all = [
    ...(await readdir(at('generated')).catch(() => [])),
    ...(await readdir(at(CACHE)).catch(() => [])),
  ];
  return all.filter((name) => name.endsWith('.tmp'));
}

// Each test starts Node processes with a compiler in them.
describe('an output', { timeout: 240_000 }, () => {
  nightlyTest('in a folder that cannot be written to is reported, and the former one is kept', async () => {
    expect(await codegen()).toEqual(written);
    const before = await project.read(OUT);
    await edit();
    await chmod(at('generated'), 0o555);
    expect(await codegenAsUser()).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(
        `error SW9005: \`${OUT}\` cannot be written: it is not permitted to write there`,
      ),
    });
    expect(await project.read(OUT)).toBe(before);
    await chmod(at('generated'), 0o755);
    expect(await codegenAsUser()).toEqual(written);
    expect(await project.read(OUT)).toContain('Finds 2');
  });

  test.each(
    smoke([
      [
        'in mid-write',
        'writeFileSync',
        "original(file, text.slice(0, 200)); process.kill(process.pid, 'SIGKILL');",
      ],
      ['before the rename', 'renameSync', "process.kill(process.pid, 'SIGKILL');"],
    ]),
  )('of a process that is killed %s is the former one', async (_, name, code) => {
    expect(await codegen()).toEqual(written);
    const before = await project.read(OUT);
    await edit();
    const { [name]: original } = { writeFileSync: 'file, text', renameSync: 'file, target' } as Record<
      string,
      string
    >;
    const killed = await codegenAfter(`const original = fs.${name};
      fs.${name} = (${original}, ...more) => {
        if (String(file).includes('registry.ts')) { ${code} }
        return original(${original}, ...more);
      };`);
    expect(killed).toMatchObject({ code: null, stdout: '' });
    expect(await project.read(OUT)).toBe(before);
    expect(await remains()).toHaveLength(1);
    expect(await codegen()).toEqual(written);
    expect(await project.read(OUT)).toContain('Finds 2');
    expect(await remains()).toEqual([]);
  });

  nightlyTest('is the same from several processes at once', async () => {
    expect(await codegen('--no-cache')).toEqual(written);
    const expected = await project.read(OUT);
    await rm(at(OUT));
    const all = await Promise.all([codegen(), codegen(), codegen('--no-cache'), codegen()]);
    for (const each of all) expect([written, current]).toContainEqual(each);
    expect(await project.read(OUT)).toBe(expected);
    expect(await remains()).toEqual([]);
    expect(await codegen('--check')).toEqual(current);
  });
});

nightlyDescribe('a cache', { timeout: 240_000 }, () => {
  /** Spoils each entry as if it had been written so: the memory of readings has a header and further lines. */
  async function rewrite(change: (entry: Record<string, unknown>) => unknown): Promise<void> {
    for (const name of await readdir(at(CACHE))) {
      const text = await project.read(`${CACHE}/${name}`);
      const isRecord = name.startsWith('sources');
      const [first = '', ...lines] = (isRecord ? text : text.slice(text.indexOf('\n') + 1)).split('\n');
      const body = [JSON.stringify(change(JSON.parse(first))), ...lines].join('\n');
      const hash = createHash('sha256').update(body).digest('hex');
      await writeFile(at(`${CACHE}/${name}`), isRecord ? body : `${hash}\n${body}`);
    }
  }

  test.each([
    [
      'of another version',
      (entry: Record<string, unknown>) => ({ ...entry, key: 'another', run: {}, classes: [] }),
    ],
    ['of a version with another form', () => ({ version: 99 })],
    ['of a version that wrote lists', () => []],
    ['of a version that wrote nothing', () => null],
  ])('%s is not used, and replaced', async (_, change) => {
    expect(await codegen()).toEqual(written);
    await rewrite(change);
    expect(await codegen()).toEqual(current);
    await rewrite(change);
    await edit();
    expect(await codegen()).toEqual(written);
    expect(await project.read(OUT)).toContain('Finds 2');
  });

  test.each([
    ['with files', 0o000, 0o755],
    ['with a folder', 0o644, 0o000],
    ['with a folder for reading', 0o444, 0o555],
  ])('of another user, %s, is left alone', async (_, ofFiles, ofFolder) => {
    expect(await codegen()).toEqual(written);
    const names = await readdir(at(CACHE));
    for (const name of names) await chmod(at(`${CACHE}/${name}`), ofFiles);
    await chmod(at(CACHE), ofFolder);
    expect(await codegenAsUser()).toEqual(current);
    await edit();
    expect(await codegenAsUser()).toEqual(written);
    expect(await project.read(OUT)).toContain('Finds 2');
    expect((await readdir(at(CACHE))).sort()).toEqual(names.sort());
  });

  test('of a process that is killed in mid-write is not used', async () => {
    const killed = await codegenAfter(`const original = fs.writeFileSync;
      fs.writeFileSync = (file, text, ...more) => {
        if (!String(file).includes('.cache')) return original(file, text, ...more);
        original(file, text.slice(0, text.length / 2));
        process.kill(process.pid, 'SIGKILL');
      };`);
    expect(killed).toMatchObject({ code: null, stdout: '' });
    expect(await remains()).toHaveLength(1);
    const { code, stderr } = await codegen();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await project.read(OUT)).toContain('Finds 1');
    expect(await remains()).toEqual([]);
  });

  test('is not read for a clock that jumps', async () => {
    expect(await codegen()).toEqual(written);
    const stamp = new Date('2031-01-01');
    for (const file of [...Object.keys(files), 'tsconfig.json']) await utimes(at(file), stamp, stamp);
    await utimes(at(OUT), new Date('1999-01-01'), new Date('1999-01-01'));
    expect(await codegen()).toEqual(current);
    await edit();
    await utimes(at('src/find.ts'), stamp, stamp);
    const jumps = `const now = Date.now; let calls = 0;
      Date.now = () => now() + (calls++ % 2 === 0 ? 1 : -1) * 1e12;`;
    expect(await codegenAfter(jumps)).toEqual(written);
    expect(await project.read(OUT)).toContain('Finds 2');
    expect(await codegen('--check')).toEqual(current);
  });
});

nightlyDescribe('the sources', { timeout: 240_000 }, () => {
  test('may contain loops of links', async () => {
    await symlink('..', at('src/parent'), 'dir');
    await symlink('.', at('src/self'), 'dir');
    await symlink('b.ts', at('src/a.ts'));
    await symlink('a.ts', at('src/b.ts'));
    const first = await codegen();
    expect(first).toEqual(written);
    const expected = await project.read(OUT);
    await project.write({
      'stepwright.config.json': JSON.stringify({ registries: [{ include: ['**/*.ts'], out: OUT }] }),
    });
    expect(await codegen()).toEqual(current);
    expect(await project.read(OUT)).toBe(expected);
  });

  test('may be deleted before they are read, which is reported', async () => {
    expect(await codegen()).toEqual(written);
    const before = await project.read(OUT);
    await edit();
    const gone = await codegenAfter(
      `const original = fs.readFileSync;
      fs.readFileSync = (file, ...more) => {
        if (String(file).endsWith('src/find.ts')) fs.rmSync(file, { force: true });
        return original(file, ...more);
      };`,
      '--no-cache',
    );
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain('src/find.ts:1:1 - error SW1001: the file cannot be read\n');
    expect(await project.read(OUT)).toBe(before);
    expect(await codegen()).toEqual(written);
    expect(await project.read(OUT)).not.toContain('find.js');
  });

  test('may be deleted after they were read: the next run finds it', async () => {
    await project.write({
      'src/tool.ts': `import { rmSync } from 'node:fs';\nrmSync(new URL('find.ts', import.meta.url), { force: true });\n${tool}`,
    });
    expect(await codegen()).toEqual(written);
    expect(await project.read(OUT)).toContain("'../src/find.js'");
    expect(await codegen()).toEqual(written);
    expect(await project.read(OUT)).not.toContain('find.js');
  });
});

nightlyDescribe('a second copy of this package', { timeout: 240_000 }, () => {
  const COPY = 'src/tools/node_modules/stepwright';

  beforeEach(async () => {
    await rm(at('src/tool.ts'));
    await project.write({
      'src/tools/tool.ts': tool,
      'src/find.ts': workflow.replace('./tool.js', './tools/tool.js'),
    });
  });

  test('may decorate a tool', async () => {
    await cp(builtPackage(), at(COPY), { recursive: true });
    expect(await codegen()).toEqual(written);
    await project.write({
      'src/use.ts': `import { createServer } from 'stepwright/runtime';
import { registry } from '../generated/registry.js';
// It compares the fingerprint of each entry with its class.
createServer(registry);
console.log(registry.tools['find-page'].class.name);
`,
    });
    expect(await tsc(project)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await runModule(project, 'src/use.ts')).toEqual({ code: 0, stdout: 'FindPage\n', stderr: '' });
  });

  test('of a version that records other things is named, and nothing is written', async () => {
    await project.write({
      [`${COPY}/package.json`]: '{ "name": "stepwright", "type": "module", "exports": "./index.js" }',
      [`${COPY}/index.js`]: 'export const Tool = () => () => {};',
    });
    const { code, stderr } = await codegen();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^src\/tools\/tool\.ts:\d+:\d+ - error SW6007: `FindPage` differs from its source/,
    );
    expect(stderr).toContain('`npm ls stepwright` shows it');
    expect(await readdir(project.root)).not.toContain('generated');
  });
});
