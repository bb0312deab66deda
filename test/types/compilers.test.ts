import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtPackage } from '../built-package.js';
import { smoke } from '../nightly.js';
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

const projects = smoke([
  // `exactOptionalPropertyTypes` accepts what is dropped on the way, and hides none of the faults.
  { project: 'exact', decorators: 'legacy', files: [...cases, ...casesIn('exact')] },
  { project: 'tc39', decorators: 'tc39', files: cases },
  { project: 'legacy', decorators: 'legacy', files: cases },
]);

/** The first one is the fastest. */
const compilers = [
  { name: 'typescript-7', version: '7.0.2', scope: '7' },
  { name: 'typescript', version: '6.0.3', scope: '6' },
  { name: 'typescript-5', version: '5.9.3', scope: '5' },
] as const;

function casesIn(folder: string): readonly { path: string; file: string; source: string }[] {
  return readdirSync(join(here, 'fixtures', folder)).map((file) => {
    const path = `test/types/fixtures/${folder}/${file}`;
    return { path, file, source: readFileSync(join(root, path), 'utf8') };
  });
}

/** What a compiler says of the projects, each a configuration file and where its declarations go. */
interface Run {
  readonly version: string;
  readonly outputs: readonly string[];
}

/** TypeScript 5 and 6 check all projects in one process; the native compiler has no such interface. */
async function runCompiler(
  compiler: string,
  checked: readonly { config: string; out?: string }[],
): Promise<Run> {
  if (compiler !== 'typescript-7') {
    return JSON.parse(await node(join(here, 'check-projects.mjs'), compiler, JSON.stringify(checked))) as Run;
  }
  const tsc = join(root, 'node_modules', compiler, 'bin/tsc');
  const version = (await node(tsc, '--version')).trim().replace('Version ', '');
  const outputs: string[] = [];
  for (const { config, out } of checked) {
    const outDir = out === undefined ? [] : ['--outDir', out];
    outputs.push(await node(tsc, '--checkers', '1', '-p', config, ...outDir, '--pretty', 'false'));
  }
  return { version, outputs };
}

function node(...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: root, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
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
describe.each(smoke(compilers))('TypeScript $version', { timeout: 180_000 }, ({ name, version, scope }) => {
  const out = mkdtempSync(join(folder, 'declarations-'));
  let run: Run;
  beforeAll(async () => {
    const checked = projects.map(({ project }) => ({
      config: configOf(project, project === 'exact' ? [...CASES, 'fixtures/exact'] : CASES),
    }));
    run = await runCompiler(name, [...checked, { config: configOf('declarations', ['accepted']), out }]);
  }, 180_000);

  test('is the version in its name', () => {
    expect(run.version).toBe(version);
  });

  test.each(projects.map((project, index) => ({ ...project, index })))(
    'reports the marked errors and no others: $project',
    ({ decorators, files, index }) => {
      const reported = reportedErrors(run.outputs[index] ?? '');
      const expected = files
        .map(({ path, source }) => [path, expectedErrors(source, [scope, decorators])] as const)
        .filter(([, errors]) => errors.length > 0);
      expect(Object.fromEntries(reported)).toEqual(Object.fromEntries(expected));
    },
  );

  test('names no type in a message that authors do not know', () => {
    const names =
      /\b(?:Flat|FromCaller|WithDefault|KnownArms|VariableValues|StepFault|MarkedIn|Unmark|TypedOptions)\b/;
    const lines = run.outputs.flatMap((output) => output.split('\n'));
    expect(lines.filter((line) => names.test(line))).toEqual([]);
    const messages = [
      "type '{ line: string; project?: string | undefined; }'",
      "type '{ readonly bug: unknown; readonly feature: unknown; }'",
      "type '{ readonly name: string | number; }'",
      "type 'ArgOptions & { readonly default?: undefined; readonly enum?: undefined; ",
      '"task" & ["declare this field as Arg<T>"]',
    ];
    const missing = messages.filter((message) => !lines.some((line) => line.includes(message)));
    expect(missing).toEqual([]);
  });

  test('names every type of a workflow by the public entry in declaration files', () => {
    expect(run.outputs[projects.length]).toBe('');
    const named = ['constructs', 'language', 'sample'].flatMap((file) => {
      const written = readFileSync(join(out, `test/types/accepted/${file}.d.ts`), 'utf8');
      return [...written.matchAll(/\b(?:from |import\()["']([^"']+)["']/g)].map((match) => match[1]);
    });
    expect([...new Set(named)].sort()).toEqual(['stepwright']);
  });
});
