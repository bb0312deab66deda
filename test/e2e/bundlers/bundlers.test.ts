import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { context, build as esbuild } from 'esbuild';
import { build, createLogger, createServer, type HotPayload, type Plugin, type ViteDevServer } from 'vite';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { builtPackage, importBuilt } from '../../built-package.js';

const TOOL = `import { Tool } from 'stepwright';

@Tool({ name: 'count', description: 'Counts' })
export class Count {
  execute({ from }: { from: number }): { end: number } {
    return { end: from };
  }
}
`;

const WORKFLOW = `import { call, done, Step, Workflow } from 'stepwright';
import { Count } from './count.js';

@Workflow({ name: 'once', description: 'count in one step' })
export class Once {
  @Step() first = call(Count, { from: 1 });
  output = done({ end: this.first.end });
}
`;

const FAULTY = WORKFLOW.replace('{ from: 1 }', '{ from: 1, form: 1 }');

const FILES = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      ...{ target: 'ES2022', lib: ['ES2022'], module: 'NodeNext', strict: true, types: [] },
      experimentalDecorators: true,
    },
    include: ['src'],
    exclude: ['src/main.ts'],
  }),
  'src/count.ts': TOOL,
  'src/once.workflow.ts': WORKFLOW,
  'src/main.ts': `import { registry } from '../generated/registry.js';\nexport const names = Object.keys(registry.workflows);\n`,
};

const FILE = 'src/once.workflow.ts';
const REGISTRY = 'generated/registry.ts';

describe('a bundler with the plugin', { timeout: 120_000 }, () => {
  let root = '';
  let vite: typeof import('../../../src/bundlers/vite.js').stepwright;
  let ofEsbuild: typeof import('../../../src/bundlers/esbuild.js').stepwright;

  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  };
  const registry = (): string => readFileSync(path.join(root, REGISTRY), 'utf8');

  beforeAll(async () => {
    const entries = await Promise.all([
      importBuilt<typeof import('../../../src/bundlers/vite.js')>('bundlers/vite.js'),
      importBuilt<typeof import('../../../src/bundlers/esbuild.js')>('bundlers/esbuild.js'),
    ]);
    vite = entries[0].stepwright;
    ofEsbuild = entries[1].stepwright;
  });

  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'stepwright-bundlers-')));
    mkdirSync(path.join(root, 'node_modules'));
    symlinkSync(builtPackage(), path.join(root, 'node_modules/stepwright'), 'junction');
    for (const [file, text] of Object.entries(FILES)) write(file, text);
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  describe('Vite', () => {
    const options = (...plugins: Plugin[]) => ({
      ...{ root, configFile: false as const, logLevel: 'silent' as const, plugins },
      build: { ssr: 'src/main.ts', outDir: 'dist' },
    });

    test('builds with a registry that there was not', async () => {
      await build(options(vite()));
      expect(readFileSync(path.join(root, 'dist/main.js'), 'utf8')).toContain('"count in one step"');
    });

    test('fails a build with the errors of codegen', async () => {
      write(FILE, FAULTY);
      const error = await build(options(vite())).catch((each: unknown) => each);
      expect(error).toMatchObject({
        message: expect.stringContaining(`${FILE}:6:48 - error SW4004: `),
        errors: [
          {
            id: path.join(root, FILE),
            loc: { file: path.join(root, FILE), line: 6, column: 48 },
            plugin: 'stepwright',
            pluginCode: 'SW4004',
          },
        ],
      });
      expect(existsSync(path.join(root, 'dist'))).toBe(false);
    });

    test('passes warnings on', async () => {
      write(
        FILE,
        WORKFLOW.replace('call, done', 'Arg, call, done').replace(
          '  @Step()',
          "  @Arg({ description: 'How' }) mood?: Arg<string>;\n  @Step()",
        ),
      );
      const warnings: string[] = [];
      const customLogger = createLogger('warn');
      customLogger.warn = (text) => void warnings.push(text);
      await build({ ...options(vite()), logLevel: 'warn', customLogger });
      expect(warnings.join('\n')).toContain(`${FILE}:6:32 - warning SW3011: `);
    });

    describe('as a dev server', () => {
      let server: ViteDevServer | undefined;
      let sent: HotPayload[] = [];
      let logged = '';
      let wake = (): void => {};

      const woken = (): Promise<void> =>
        new Promise((resolve) => {
          wake = resolve;
        });
      const listen = async (watch?: null): Promise<ViteDevServer> => {
        sent = [];
        logged = '';
        const customLogger = createLogger('info');
        for (const level of ['info', 'warn', 'error'] as const) {
          customLogger[level] = (text) => {
            logged += `${text}\n`;
          };
        }
        const recorder: Plugin = {
          name: 'recorder',
          configureServer({ ws }) {
            ws.send = (payload: unknown) => {
              sent.push(payload as HotPayload);
              wake();
            };
          },
        };
        const given = watch === undefined ? {} : { watch };
        server = await createServer({
          ...{ ...options(recorder, vite()), logLevel: 'info', customLogger },
          server: { port: 0, ...given },
        });
        return server;
      };
      const payload = async (type: HotPayload['type']): Promise<HotPayload> => {
        for (;;) {
          const found = sent.find((each) => each.type === type);
          if (found !== undefined) return found;
          await woken();
        }
      };

      afterEach(async () => {
        await server?.close();
        server = undefined;
      });

      test('writes the registry before it answers, and again after a change', async () => {
        const { ssrLoadModule } = await listen();
        expect(logged).toContain(`stepwright wrote ${REGISTRY}`);
        expect(await ssrLoadModule('/src/main.ts')).toMatchObject({ names: ['once'] });
        write(FILE, WORKFLOW.replace("name: 'once'", "name: 'twice'"));
        while (!registry().includes("'twice'")) await new Promise((resolve) => setTimeout(resolve, 10));
      });

      test('shows errors in the overlay and in the terminal until they are repaired', async () => {
        await listen();
        write(FILE, FAULTY);
        expect(await payload('error')).toMatchObject({
          err: {
            message: expect.stringContaining(`${FILE}:6:48 - error SW4004: `),
            loc: { file: path.join(root, FILE), line: 6, column: 48 },
            plugin: 'stepwright',
          },
        });
        expect(logged).toContain(`${FILE}:6:48 - error SW4004: `);
        sent = [];
        write(FILE, WORKFLOW);
        expect(await payload('update')).toEqual({ type: 'update', updates: [] });
      });

      test('runs once where it does not watch', async () => {
        await listen(null);
        const before = registry();
        write(FILE, WORKFLOW.replace('from: 1', 'from: 2'));
        await server?.close();
        expect(registry()).toBe(before);
        await listen(null);
        expect(registry()).toContain('"value": 2');
      });
    });
  });

  describe('esbuild', () => {
    const options = () => ({
      ...{ absWorkingDir: root, entryPoints: ['src/main.ts'], outfile: 'dist/main.js', bundle: true },
      ...({ packages: 'external', format: 'esm', logLevel: 'silent' } as const),
      plugins: [ofEsbuild()],
    });

    test('builds with a registry that there was not', async () => {
      expect((await esbuild(options())).warnings).toEqual([]);
      expect(readFileSync(path.join(root, 'dist/main.js'), 'utf8')).toContain('count in one step');
    });

    test('leaves an entry point that is not there to esbuild', async () => {
      const error = await esbuild({ ...options(), entryPoints: ['./src/gone.ts'] }).catch(
        (each: unknown) => each,
      );
      expect(error).toMatchObject({
        errors: [{ text: 'Could not resolve "./src/gone.ts"' }],
        warnings: [],
      });
    });

    test('fails a build with the errors of codegen', async () => {
      await esbuild(options());
      write(FILE, FAULTY.replace('call(Count', '/* ä */ call(Count'));
      const error = await esbuild(options()).catch((each: unknown) => each);
      expect(error).toMatchObject({
        errors: [
          {
            pluginName: 'stepwright',
            text: expect.stringMatching(/^SW4004: /),
            // Columns are bytes from 0, and the umlaut has two.
            location: {
              file: FILE,
              line: 6,
              column: 56,
              length: 1,
              lineText: expect.stringContaining('form: 1'),
            },
            notes: [{ text: expect.stringMatching(/^hint: /) }],
          },
        ],
      });
    });

    test('builds again in watch mode for a source that no module of the bundle imports yet', async () => {
      const ends: number[] = [];
      let wake = (): void => {};
      const counter = {
        name: 'counter',
        setup: ({ onEnd }: import('esbuild').PluginBuild): void =>
          onEnd(({ errors }) => {
            ends.push(errors.length);
            wake();
          }),
      };
      write('src/other.ts', 'export const other = 1;\n');
      const watching = await context({ ...options(), plugins: [ofEsbuild(), counter] });
      try {
        await watching.watch();
        while (ends.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        write('src/other.ts', WORKFLOW.replace("'once'", "'other'").replace('Once', 'Other'));
        while (!registry().includes("'other'"))
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        expect(ends).not.toContain(1);
      } finally {
        await watching.dispose();
      }
    });
  });
});
