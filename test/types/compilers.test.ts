import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { builtPackage } from '../built-package.js';
import { expectedErrors, reportedErrors } from './marks.js';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const cases = casesIn('cases');

/** Cases that `tsc` accepts: codegen reports them. */
const leftToCodegen = [
  '02b-wrong-order-in-arrow.ts',
  '07-undecorated-tool.ts',
  '30b-optional-arg-used-before-declared.ts',
];

/** The projects read the declarations that users get, not the sources: checking those again is not their subject. */
mkdirSync(join(root, 'test/.tmp'), { recursive: true });
const folder = mkdtempSync(join(root, 'test/.tmp/types-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A project of the fixtures in which `stepwright` is the built package. */
function configOf(project: string, include: readonly string[]): string {
  const file = join(folder, `tsconfig.${project}.json`);
  const dist = join(builtPackage(), 'dist');
  const config = {
    extends: join(here, `fixtures/tsconfig.${project}.json`),
    compilerOptions: {
      customConditions: [],
      paths: {
        stepwright: [join(dist, 'index.d.ts')],
        'stepwright/builder': [join(dist, 'formats/builder/index.d.ts')],
        'stepwright/runtime': [join(dist, 'runtime/index.d.ts')],
      },
    },
    include: include.map((name) => join(here, name)),
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

const CASES = ['fixtures/cases', 'accepted'];

const projects = [
  { project: 'legacy', decorators: 'legacy', files: cases },
  { project: 'tc39', decorators: 'tc39', files: cases },
  // `exactOptionalPropertyTypes` accepts what is dropped on the way, and hides none of the faults.
  { project: 'exact', decorators: 'legacy', files: [...cases, ...casesIn('exact')] },
];

const compilers = [
  { name: 'typescript-5', version: '5.9.3', scope: '5' },
  { name: 'typescript', version: '6.0.3', scope: '6' },
  { name: 'typescript-7', version: '7.0.2', scope: '7' },
] as const;

function casesIn(folder: string): readonly { path: string; file: string; source: string }[] {
  return readdirSync(join(here, 'fixtures', folder)).map((file) => {
    const path = `test/types/fixtures/${folder}/${file}`;
    return { path, file, source: readFileSync(join(root, path), 'utf8') };
  });
}

function tsc(compiler: string, ...args: string[]): Promise<string> {
  const bin = join(root, 'node_modules', compiler, 'bin/tsc');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [bin, ...args], { cwd: root, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      // An exit code means errors were reported; anything else means that the compiler did not run.
      if (error && typeof error.code !== 'number') reject(error);
      else if (stderr !== '') reject(new Error(stderr));
      else resolve(stdout);
    });
  });
}

test('every case but those left to codegen expects an error', () => {
  const silent = cases.filter(
    ({ source }) => expectedErrors(source, ['5', '6', '7', 'legacy', 'tc39']).length === 0,
  );
  expect(silent.map(({ file }) => file)).toEqual(leftToCodegen);
});

// Seconds alone, far longer beside other work: a compiler that is merely slow is not a fault.
describe.each(compilers)('TypeScript $version', { timeout: 180_000 }, ({ name, version, scope }) => {
  test('is the version in its name', async () => {
    expect(await tsc(name, '--version')).toBe(`Version ${version}\n`);
  });

  test.each(projects)(
    'reports the marked errors and no others: $project',
    async ({ project, decorators, files }) => {
      const config = configOf(project, project === 'exact' ? [...CASES, 'fixtures/exact'] : CASES);
      const reported = reportedErrors(await tsc(name, '-p', config, '--pretty', 'false'));
      const expected = files
        .map(({ path, source }) => [path, expectedErrors(source, [scope, decorators])] as const)
        .filter(([, errors]) => errors.length > 0);
      expect(Object.fromEntries(reported)).toEqual(Object.fromEntries(expected));
    },
  );

  test('names every type of a workflow by the public entry in declaration files', async () => {
    const project = configOf('declarations', ['accepted']);
    const out = mkdtempSync(join(tmpdir(), 'stepwright-types-'));
    try {
      expect(await tsc(name, '-p', project, '--outDir', out, '--pretty', 'false')).toBe('');
      const named = ['constructs', 'language', 'sample'].flatMap((file) => {
        const written = readFileSync(join(out, `test/types/accepted/${file}.d.ts`), 'utf8');
        return [...written.matchAll(/\b(?:from |import\()["']([^"']+)["']/g)].map((match) => match[1]);
      });
      expect([...new Set(named)].sort()).toEqual(['stepwright']);
    } finally {
      rmSync(out, { recursive: true });
    }
  });
});
