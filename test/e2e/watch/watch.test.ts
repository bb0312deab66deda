import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CodegenWatcher, WatchedRun } from '../../../src/codegen/index.js';
import { builtPackage, importBuilt } from '../../built-package.js';
import { nightlyTest } from '../../nightly.js';

const tool = (name: string): string => `import { Tool } from 'stepwright';

@Tool({ name: '${name}', description: 'Counts' })
export class ${name[0]?.toUpperCase()}${name.slice(1)} {
  execute({ from }: { from: number }): { end: number } {
    return { end: from };
  }
}
`;

const WORKFLOW = `import { call, done, Step, Workflow } from 'stepwright';
import { Count } from '../tools/count.js';

@Workflow({ name: 'once', description: 'count in one step' })
export class Once {
  @Step() first = call(Count, { from: 1 });
  output = done({ end: this.first.end });
}
`;

const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'ES2022', lib: ['ES2022'], module: 'NodeNext', strict: true, types: [] },
    experimentalDecorators: true,
  },
  include: ['src'],
};

const FILES = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': JSON.stringify(TSCONFIG),
  'src/tools/count.ts': tool('count'),
  'src/flows/once.workflow.ts': WORKFLOW,
};

const REGISTRY = 'generated/registry.ts';

describe('codegen that watches', { timeout: 120_000 }, () => {
  let root = '';
  let watcher: CodegenWatcher | undefined;
  let watchCodegen: typeof import('../../../src/codegen/index.js').watchCodegen;
  let runs: WatchedRun[] = [];
  let wake = (): void => {};

  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  };
  const registry = (): string => readFileSync(path.join(root, REGISTRY), 'utf8');
  const edit = (steps: number): void =>
    write('src/flows/once.workflow.ts', WORKFLOW.replace('from: 1', `from: ${steps}`));

  const woken = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  /** The next run that no earlier call has returned. */
  const nextRun = async (): Promise<WatchedRun> => {
    while (runs.length === 0) await woken();
    return runs.shift() as WatchedRun;
  };
  /** Proves that nothing before it has caused a run: its own is the next one. */
  const expectNoFurtherRun = async (): Promise<void> => {
    edit(Math.floor(performance.now()) + 1000);
    expect(await nextRun()).toMatchObject({ changes: ['src/flows/once.workflow.ts'] });
  };
  const start = async (options: { readonly debounceMs?: number } = {}): Promise<WatchedRun> => {
    watcher = watchCodegen({
      ...{ root, ...options },
      onRun: (run) => {
        runs.push(run);
        wake();
      },
    });
    return nextRun();
  };
  const codes = ({ result }: WatchedRun) => result?.diagnostics.map(({ code }) => code);

  beforeAll(async () => {
    ({ watchCodegen } =
      await importBuilt<typeof import('../../../src/codegen/index.js')>('codegen/index.js'));
  });

  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'stepwright-watch-')));
    runs = [];
    mkdirSync(path.join(root, 'node_modules'));
    symlinkSync(builtPackage(), path.join(root, 'node_modules/stepwright'), 'junction');
    for (const [file, text] of Object.entries(FILES)) write(file, text);
  });

  afterEach(async () => {
    await watcher?.close();
    watcher = undefined;
    rmSync(root, { recursive: true, force: true });
  });

  test('builds once, and again for a change; what it writes itself causes no run', async () => {
    expect(await start()).toMatchObject({ changes: [], result: { written: [REGISTRY] } });
    edit(2);
    const run = await nextRun();
    expect(run).toMatchObject({ changes: ['src/flows/once.workflow.ts'], result: { written: [REGISTRY] } });
    expect(registry()).toContain('"value": 2');
    await expectNoFurtherRun();
  });

  test('takes the same bytes, and files that no registry depends on, for no change', async () => {
    await start();
    write('src/flows/once.workflow.ts', WORKFLOW);
    write('README.md', 'text');
    write('build/out.js', 'export {};');
    await expectNoFurtherRun();
  });

  test('sees a change that follows at once on a run', async () => {
    await start({ debounceMs: 1 });
    for (const steps of [2, 3, 4, 5]) {
      edit(steps);
      expect(await nextRun()).toMatchObject({ result: { written: [REGISTRY] } });
    }
  });

  nightlyTest('survives a syntax error', async () => {
    await start();
    const before = registry();
    write('src/flows/once.workflow.ts', WORKFLOW.replace('call(', 'call(('));
    const broken = await nextRun();
    expect(broken.result?.diagnostics[0]).toMatchObject({
      severity: 'error',
      place: { file: 'src/flows/once.workflow.ts' },
    });
    expect(registry()).toBe(before);
    edit(3);
    expect(codes(await nextRun())).toEqual([]);
    expect(registry()).toContain('"value": 3');
  });

  nightlyTest('starts on a project with errors', async () => {
    write('tsconfig.json', '{');
    expect(codes(await start())).toEqual(['SW9002']);
    write('tsconfig.json', JSON.stringify(TSCONFIG));
    expect(await nextRun()).toMatchObject({ changes: ['tsconfig.json'], result: { written: [REGISTRY] } });
  });

  test('follows a folder that is renamed', async () => {
    await start();
    renameSync(path.join(root, 'src/flows'), path.join(root, 'src/workflows'));
    let run = await nextRun();
    while (!registry().includes('../src/workflows/once.workflow.js')) run = await nextRun();
    expect(codes(run)).toEqual([]);
    write('src/workflows/once.workflow.ts', WORKFLOW.replace('from: 1', 'from: 4'));
    expect(await nextRun()).toMatchObject({ changes: ['src/workflows/once.workflow.ts'] });
    expect(registry()).toContain('"value": 4');
  });

  nightlyTest('finds files and folders that are new, and those that are deleted and made again', async () => {
    await start();
    write('src/more/deep/tally.ts', tool('tally'));
    while (!registry().includes('tally')) await nextRun();
    rmSync(path.join(root, 'src/more'), { recursive: true });
    while (registry().includes('tally')) await nextRun();
    write('src/more/deep/tally.ts', tool('tally'));
    while (!registry().includes('tally')) await nextRun();
    rmSync(path.join(root, 'src/tools/count.ts'));
    let run = await nextRun();
    while (codes(run)?.length === 0) run = await nextRun();
    write('src/tools/count.ts', tool('count'));
    while (codes(run)?.length !== 0) run = await nextRun();
  });

  test('outlives a folder of sources that becomes a file', async () => {
    await start();
    rmSync(path.join(root, 'src/tools'), { recursive: true });
    write('src/tools', '');
    const broken = await nextRun();
    expect(broken.changes).toEqual(['src/tools/count.ts']);
    expect(codes(broken)).toEqual(['SW3007']);
    rmSync(path.join(root, 'src/tools'));
    write('src/tools/count.ts', tool('count'));
    expect(codes(await nextRun())).toEqual([]);
  });

  test('follows spec files that are new, changed and deleted', async () => {
    const flow = (name: string, from: number): string =>
      `workflows:\n  ${name}:\n    description: counts\n    graph:\n      a: { call: count, args: { from: ${from} } }\n`;
    write('stepwright.config.json', JSON.stringify({ specs: ['specs/**/*.yaml'] }));
    write('specs/first.yaml', flow('first', 11));
    await start();
    expect(registry()).toContain('"value": 11');
    write('specs/first.yaml', flow('first', 12));
    expect(await nextRun()).toMatchObject({ changes: ['specs/first.yaml'] });
    expect(registry()).toContain('"value": 12');
    write('specs/deep/second.yaml', flow('second', 13));
    expect(await nextRun()).toMatchObject({ changes: ['specs/deep/second.yaml'] });
    expect(registry()).toContain('second');
    write('specs/first.yaml', flow('first', 14).replace('count,', 'cuont,'));
    expect(codes(await nextRun())).toEqual(['SW4001']);
    write('specs/first.yaml', flow('first', 15));
    expect(codes(await nextRun())).toEqual([]);
    rmSync(path.join(root, 'specs/deep/second.yaml'));
    expect(await nextRun()).toMatchObject({ changes: ['specs/deep/second.yaml'] });
    expect(registry()).not.toContain('second');
    write('notes.yaml', 'a: 1');
    await expectNoFurtherRun();
  });

  nightlyTest('runs once for hundreds of files that change together', async () => {
    const git = (...args: string[]): void => {
      const { status, stderr } = spawnSync(
        'git',
        ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args],
        { cwd: root, encoding: 'utf8' },
      );
      if (status !== 0) throw new Error(stderr);
    };
    const names = Array.from({ length: 300 }, (_, index) => `tool${index}`);
    write('.gitignore', 'node_modules\ngenerated\n');
    for (const name of names) write(`src/all/${name}.ts`, `export const ${name} = 1;\n`);
    git('init', '-q', '-b', 'first');
    git('add', '.');
    git('commit', '-qm', 'first');
    git('checkout', '-qb', 'second');
    for (const name of names) write(`src/all/${name}.ts`, `export const ${name} = 2;\n`);
    rmSync(path.join(root, 'src/flows'), { recursive: true });
    write('src/other/tally.ts', tool('tally'));
    git('add', '-A');
    git('commit', '-qm', 'second');
    await start({ debounceMs: 500 });
    git('checkout', '-q', 'first');
    const there = await nextRun();
    expect(there.changes.length).toBeGreaterThan(300);
    expect(registry()).not.toContain('tally');
    git('checkout', '-q', 'second');
    expect((await nextRun()).changes.length).toBeGreaterThan(300);
    expect(registry()).toContain('tally');
    write('src/other/tally.ts', tool('talon'));
    expect(await nextRun()).toMatchObject({ changes: ['src/other/tally.ts'] });
  });

  test('follows sources behind links', async () => {
    const real = realpathSync(mkdtempSync(path.join(tmpdir(), 'stepwright-watched-')));
    try {
      renameSync(path.join(root, 'src/flows'), path.join(real, 'flows'));
      symlinkSync(path.join(real, 'flows'), path.join(root, 'src/flows'));
      await start();
      edit(2);
      expect((await nextRun()).result).toMatchObject({ diagnostics: [], written: [REGISTRY] });
      expect(registry()).toContain('"value": 2');
      write('src/flows/twice.workflow.ts', WORKFLOW.replace("name: 'once'", "name: 'twice'"));
      expect((await nextRun()).result?.found.workflows).toBe(2);
    } finally {
      rmSync(real, { recursive: true });
    }
  });

  test('follows the configuration, and writes a registry again that was deleted', async () => {
    await start();
    const registries = [{ include: ['src/tools/**'], out: 'generated/tools.ts' }];
    write('stepwright.config.json', JSON.stringify({ registries }));
    expect(await nextRun()).toMatchObject({
      changes: ['stepwright.config.json'],
      result: { written: ['generated/tools.ts'] },
    });
    rmSync(path.join(root, 'generated'), { recursive: true });
    let run = await nextRun();
    while (run.result?.written.length === 0) run = await nextRun();
    expect(run.result?.written).toEqual(['generated/tools.ts']);
    rmSync(path.join(root, 'stepwright.config.json'));
    expect(await nextRun()).toMatchObject({ result: { written: [REGISTRY] } });
    write('tsconfig.json', JSON.stringify({ ...TSCONFIG, include: ['src/tools'] }));
    expect(await nextRun()).toMatchObject({ changes: ['tsconfig.json'], result: { written: [REGISTRY] } });
  });

  nightlyTest('follows text that a resource embeds, and a module that only a tool loads', async () => {
    write('src/guide.md', 'first\n');
    write(
      'src/guide.resource.ts',
      `import { Resource } from 'stepwright';
@Resource({ name: 'guide', description: 'A guide', file: './guide.md' })
export class Guide { static readonly uri = 'guide://all'; }
`,
    );
    write('lib/limits.js', 'export const MOST = 7;\n');
    write('lib/limits.d.ts', 'export const MOST: number;\n');
    write(
      'src/tools/limited.ts',
      `import { Tool } from 'stepwright';
import { z } from 'zod';
import { MOST } from '../../lib/limits.js';
@Tool({ name: 'limited', description: 'Counts', input: z.object({ from: z.number().max(MOST) }) })
export class Limited { execute({ from }: { from: number }): { end: number } { return { end: from }; } }
`,
    );
    symlinkSync(path.resolve('node_modules/zod'), path.join(root, 'node_modules/zod'), 'junction');
    expect(codes(await start())).toEqual([]);
    write('src/guide.md', 'second\n');
    expect(await nextRun()).toMatchObject({ changes: ['src/guide.md'], result: { written: [REGISTRY] } });
    write('lib/limits.js', 'export const MOST = 8;\n');
    expect(await nextRun()).toMatchObject({ changes: ['lib/limits.js'], result: { written: [REGISTRY] } });
    expect(registry()).toContain('"maximum": 8');
  });

  test('calls nobody once it is closed', async () => {
    const first: WatchedRun[] = [];
    const closed = watchCodegen({ root, onRun: (run) => first.push(run) });
    await closed.close();
    await start();
    edit(5);
    expect(await nextRun()).toMatchObject({ changes: ['src/flows/once.workflow.ts'] });
    expect(first).toEqual([]);
  });

  describe('over the command line', () => {
    let child: ChildProcess | undefined;
    let printed = { out: '', err: '' };

    const command = (...args: string[]): void => {
      printed = { out: '', err: '' };
      const main = path.join(builtPackage(), 'dist/cli/main.js');
      const started = spawn(process.execPath, [main, 'codegen', '--watch', ...args], { cwd: root });
      child = started;
      for (const [stream, name] of [
        [started.stdout, 'out'],
        [started.stderr, 'err'],
      ] as const) {
        stream.on('data', (data: Buffer) => {
          printed[name] += data.toString('utf8');
          wake();
        });
      }
    };
    const until = async (name: 'out' | 'err', text: string): Promise<void> => {
      while (!printed[name].includes(text)) await woken();
    };
    const end = async (signal: 'SIGINT' | 'SIGTERM'): Promise<unknown> => {
      child?.kill(signal);
      const [code] = await once(child as ChildProcess, 'exit');
      child = undefined;
      return code;
    };

    afterEach(() => child?.kill('SIGKILL'));

    test('prints a line for each change, the text of errors, and ends on SIGINT', async () => {
      command();
      await until('out', ' s)\n');
      edit(2);
      await until('out', 'changed src/flows/once.workflow.ts');
      write('src/flows/once.workflow.ts', WORKFLOW.replace('from: 1', 'form: 1'));
      await until('out', 'errors (');
      await until('err', 'Found 2 errors.');
      expect(printed.err).toContain('src/flows/once.workflow.ts:6:31 - error SW4003');
      expect(printed.out.replaceAll(/\d+\.\d\d s/g, 'N s')).toBe(
        [
          'watching: wrote generated/registry.ts (N s)',
          'changed src/flows/once.workflow.ts: wrote generated/registry.ts (N s)',
          'changed src/flows/once.workflow.ts: 2 errors (N s)',
          '',
        ].join('\n'),
      );
      expect(await end('SIGINT')).toBe(0);
    });

    nightlyTest('with JSON keeps to it on stdout, and ends on SIGTERM', async () => {
      write('src/flows/once.workflow.ts', WORKFLOW.replace('from: 1', 'form: 1'));
      command('--format', 'json');
      await until('err', 'watching: ');
      expect(
        printed.out
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toMatchObject([{ code: 'SW4003' }, { code: 'SW4004' }]);
      expect(await end('SIGTERM')).toBe(0);
    });

    test('refuses to check and to watch', () => {
      const main = path.join(builtPackage(), 'dist/cli/main.js');
      const { status, stderr } = spawnSync(process.execPath, [main, 'codegen', '--check', '--watch'], {
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: 'stepwright: `stepwright codegen` takes `--check` or `--watch`, not both\n',
      });
    });
  });
});
