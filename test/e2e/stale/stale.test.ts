import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { builtPackage, runCommand } from '../../built-package.js';
import { nightlyTest } from '../../nightly.js';

const TOOLS = `import { Tool } from 'stepwright';
import { MOST } from '../lib/most.js';

@Tool({ name: 'count', description: 'Counts up' })
export class Count {
  execute({ from, steps }: { from: number; steps: number }): { end: number } {
    return { end: Math.min(from + steps, MOST) };
  }
}
`;

const WORKFLOW = `import { call, done, Step, Workflow } from 'stepwright';
import { MOST } from '../lib/most.js';
import { Count } from './tools.js';

@Workflow({ name: 'count-once', description: 'count in one step' })
export class CountOnce {
  @Step() first = call(Count, { from: MOST, steps: 1 });
  output = done({ end: this.first.end });
}
`;

const PROGRAM = `import { serve } from 'stepwright/runtime';
import { registry } from '../generated/registry.js';

await serve(registry);
`;

const FILES = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      ...{ target: 'ES2022', lib: ['ES2022'], module: 'NodeNext', strict: true, types: [] },
      experimentalDecorators: true,
    },
    include: ['src'],
  }),
  'lib/most.ts': 'export const MOST = 7;\n',
  'src/tools.ts': TOOLS,
  'src/count.workflow.ts': WORKFLOW,
  'program/main.ts': PROGRAM,
};

describe('a start in development', { timeout: 120_000 }, () => {
  let root = '';

  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  };
  const edit = (file: string, from: string, to: string): void => {
    const text = readFileSync(path.join(root, file), 'utf8');
    expect(text).toContain(from);
    write(file, text.replace(from, to));
  };
  const node = (args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = root) => {
    const { STEPWRIGHT_SOURCE_CHECK: _, NODE_ENV: __, ...given } = process.env;
    const all = { ...given, ...env };
    // A server over stdio ends where its client hangs up.
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      ...{ cwd, env: all, input: '', encoding: 'utf8' },
    });
    return { code: status, out: stdout, err: stderr };
  };
  const stepwright = (args: readonly string[], env?: NodeJS.ProcessEnv, cwd?: string) =>
    node([path.join(builtPackage(), 'dist/cli/main.js'), ...args], env, cwd);
  /** A program as a bundler makes it. */
  const compile = (outfile: string): void => {
    buildSync({
      ...{ entryPoints: [path.join(root, 'program/main.ts')], outfile: path.join(root, outfile) },
      ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', target: 'es2022' },
      ...{ keepNames: true, logLevel: 'error', absWorkingDir: root },
    });
  };
  const STALE = 'the generated registry is stale:\n';
  const REPAIR = 'Run `npx stepwright codegen`.\n';

  beforeEach(async () => {
    root = mkdtempSync(path.join(tmpdir(), 'stepwright-stale-'));
    mkdirSync(path.join(root, 'node_modules'));
    symlinkSync(builtPackage(), path.join(root, 'node_modules/stepwright'), 'junction');
    for (const [file, text] of Object.entries(FILES)) write(file, text);
    expect(await runCommand(builtPackage(), ['codegen'], root)).toMatchObject({ code: 0, stderr: '' });
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  nightlyTest('refuses a step that was edited after codegen ran', () => {
    expect(stepwright(['serve'])).toMatchObject({ code: 0, err: '' });
    edit('src/count.workflow.ts', 'steps: 1', 'steps: 2');
    const refused = `stepwright: ${STALE}  - \`src/count.workflow.ts\` changed after codegen ran\n${REPAIR}`;
    expect(stepwright(['serve'])).toEqual({ code: 1, out: '', err: refused });
    expect(stepwright(['run', 'count-once'])).toEqual({ code: 1, out: '', err: refused });
    expect(stepwright(['serve', '--root', root], {}, tmpdir())).toEqual({ code: 1, out: '', err: refused });
    expect(stepwright(['codegen'])).toMatchObject({ code: 0 });
    expect(stepwright(['serve'])).toMatchObject({ code: 0, err: '' });
  });

  nightlyTest('refuses what a constant outside the sources changes, and a class that was added', () => {
    edit('lib/most.ts', '7', '8');
    expect(stepwright(['serve'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('`lib/most.ts` changed after codegen ran'),
    });
    edit('lib/most.ts', '8', '7');
    write('src/other.workflow.ts', WORKFLOW.replace('count-once', 'other').replace('CountOnce', 'Other'));
    expect(stepwright(['serve'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('a source was added or removed after codegen ran'),
    });
  });

  nightlyTest('accepts an edit that leaves the registry as it is, and asks the compiler once', () => {
    edit('src/tools.ts', 'return { end:', 'return { end: 0 +');
    const file = path.join(root, 'node_modules/.cache/stepwright/sources.json');
    const before = readFileSync(file, 'utf8');
    expect(stepwright(['serve'])).toMatchObject({ code: 0, err: '' });
    const after = readFileSync(file, 'utf8');
    expect(after).not.toBe(before);
    expect(stepwright(['serve'])).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(file, 'utf8')).toBe(after);
  });

  nightlyTest('accepts other line ends', () => {
    write('src/count.workflow.ts', WORKFLOW.replaceAll('\n', '\r\n'));
    const file = path.join(root, 'node_modules/.cache/stepwright/sources.json');
    const before = readFileSync(file, 'utf8');
    expect(stepwright(['serve'])).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  nightlyTest('refuses a former registry on a machine where codegen has not run', () => {
    rmSync(path.join(root, 'node_modules/.cache'), { recursive: true });
    expect(stepwright(['serve'])).toMatchObject({ code: 0, err: '' });
    rmSync(path.join(root, 'node_modules/.cache'), { recursive: true });
    edit('src/count.workflow.ts', 'steps: 1', 'steps: 2');
    expect(stepwright(['serve'])).toMatchObject({
      code: 1,
      err: `stepwright: ${STALE}  - \`generated/registry.ts\` differs from its sources\n${REPAIR}`,
    });
  });

  nightlyTest('refuses a spec file that was edited, added or removed', () => {
    const flow = (steps: number) =>
      `workflows:\n  twice:\n    description: counts\n    graph:\n      a: { call: count, args: { from: 1, steps: ${steps} } }\n`;
    write('stepwright.config.json', JSON.stringify({ specs: ['flows/**/*.yaml'] }));
    write('flows/twice.yaml', flow(1));
    expect(stepwright(['codegen'])).toMatchObject({ code: 0, err: '' });
    expect(stepwright(['serve'])).toMatchObject({ code: 0, err: '' });
    const run = stepwright(['run', 'flows/twice.yaml']);
    expect(run).toMatchObject({ code: 0, out: '{\n  "end": 2\n}\n' });
    write('flows/twice.yaml', flow(1).replaceAll('\n', '\r\n'));
    expect(stepwright(['serve'])).toMatchObject({ code: 0, err: '' });
    write('flows/twice.yaml', flow(2));
    const refused = `stepwright: ${STALE}  - \`flows/twice.yaml\` changed after codegen ran\n${REPAIR}`;
    expect(stepwright(['serve'])).toEqual({ code: 1, out: '', err: refused });
    write('flows/twice.yaml', flow(1));
    write('flows/deep/thrice.yaml', flow(3).replace('twice', 'thrice'));
    const added = expect.stringContaining('a source was added or removed after codegen ran');
    expect(stepwright(['serve'])).toMatchObject({ code: 1, err: added });
    expect(stepwright(['codegen'])).toMatchObject({ code: 0, err: '' });
    expect(stepwright(['serve'])).toMatchObject({ code: 0, err: '' });
    rmSync(path.join(root, 'flows/deep'), { recursive: true });
    const removed = expect.stringContaining('`flows/deep/thrice.yaml` was removed');
    expect(stepwright(['serve'])).toMatchObject({ code: 1, err: removed });
  });

  nightlyTest('names the configuration that codegen needs', () => {
    const registries = [{ include: ['src/**/*.ts'], out: 'generated/other.ts' }];
    write('other.json', JSON.stringify({ registries }));
    expect(stepwright(['codegen', '--config', 'other.json'])).toMatchObject({ code: 0 });
    expect(stepwright(['serve', '--config', 'other.json'])).toMatchObject({ code: 0, err: '' });
    edit('src/count.workflow.ts', 'steps: 1', 'steps: 2');
    expect(stepwright(['codegen'])).toMatchObject({ code: 0 });
    expect(stepwright(['serve', '--config', 'other.json'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Run `npx stepwright codegen --config other.json`.'),
    });
  });

  nightlyTest('of a program: refuses an edit, and a build of a former registry', () => {
    compile('build/main.mjs');
    expect(node(['build/main.mjs'])).toMatchObject({ code: 0, err: '' });
    edit('src/count.workflow.ts', 'steps: 1', 'steps: 2');
    const refused = `${STALE}  - \`src/count.workflow.ts\` changed after codegen ran\n${REPAIR}`;
    expect(node(['build/main.mjs'])).toEqual({ code: 1, out: '', err: refused });
    expect(node([path.join(root, 'build/main.mjs')], {}, tmpdir())).toMatchObject({ code: 1, err: refused });
    expect(stepwright(['codegen'])).toMatchObject({ code: 0 });
    expect(node(['build/main.mjs'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('build the program again'),
    });
  });

  test('names the file beside a decorator that changed', () => {
    edit('src/tools.ts', 'Counts up', 'Counts on');
    expect(stepwright(['serve'])).toMatchObject({
      code: 1,
      err: `stepwright: ${STALE}  - tool \`count\`: the decorators of Count changed after codegen ran\n  - \`src/tools.ts\` changed after codegen ran\n${REPAIR}`,
    });
  });

  test('in production, without sources, and where it is switched off, compares nothing', () => {
    compile('build/main.mjs');
    edit('src/count.workflow.ts', 'steps: 1', 'steps: 2');
    expect(node(['build/main.mjs'], { NODE_ENV: 'production' })).toMatchObject({ code: 0, err: '' });
    expect(node(['build/main.mjs'], { STEPWRIGHT_SOURCE_CHECK: 'off' })).toMatchObject({ code: 0, err: '' });
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'stepwright-deployed-'));
    for (const each of ['package.json', 'build', 'node_modules'])
      cpSync(path.join(root, each), path.join(elsewhere, each), { recursive: true });
    expect(node(['build/main.mjs'], {}, elsewhere)).toMatchObject({ code: 0, err: '' });
    rmSync(elsewhere, { recursive: true });
  });
});
