import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { globSync } from 'tinyglobby';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nightlyTest } from '../nightly.js';
import { ADDITIONS, type Addition, edited, type Part, without } from './additions.js';
import { isTest, ROOT, sourceFiles } from './source-files.js';

const product = sourceFiles('src').filter(({ file }) => !isTest(file));

const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => readFileSync(path, 'utf8'));

const folder = mkdtempSync(join(tmpdir(), 'stepwright-additions-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a copy of the product with these files in it. */
function writeCopy(changed: ReadonlyMap<string, string>): void {
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const { file, text } of product) write(file, text);
  for (const [file, text] of changed) write(file, text);
  write('package.json', '{ "type": "module" }');
  write('tsconfig.json', JSON.stringify({ compilerOptions: config.compilerOptions, include: ['src'] }));
  symlinkSync(`${ROOT}node_modules`, join(folder, 'node_modules'), 'junction');
}

/** What the compiler says about the copy. */
function compile(): string {
  try {
    execFileSync(
      process.execPath,
      [`${ROOT}node_modules/typescript-7/bin/tsc`, '--checkers', '1', '-p', folder],
      {
        encoding: 'utf8',
      },
    );
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

const TOOL = `import { Tool } from 'stepwright';

@Tool({ name: 'hello', description: 'Says hello' })
export class Hello {
  execute(): { said: string } {
    return { said: 'hello' };
  }
}
`;

/** Uses the copy of the product on files in the dialect that was added. */
const PROGRAM = `import { writeFileSync } from 'node:fs';
import { dispatch } from './dist/cli/dispatch.js';

const code = {};
const printed = {};
const run = async (name, ...args) => {
  const texts = [];
  const print = (text) => void texts.push(text);
  code[name] = await dispatch(args, { out: print, err: print, color: false });
  printed[name] = texts.join('');
};
await run('codegen', 'codegen');
if (code.codegen !== 0) throw new Error(JSON.stringify(printed));
await run('validate', 'validate', 'project/again.yaml');
await run('fault', 'validate', 'project/faulty.yaml');
await run('run', 'run', 'project/again.yaml');
const { createServer } = await import('./dist/runtime/index.js');
const { registry } = await import('./generated/registry.ts');
const server = createServer(registry, { specs: { files: ['project/again.yaml'] } });
await server.start();
printed.served = server.listTools().tools.map(({ name }) => name).filter((name) => name.startsWith('w_'));
await server.stop();
writeFileSync('used.json', JSON.stringify({ code, printed }));
process.exit();
`;

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

interface Used {
  readonly code: Readonly<Record<string, number>>;
  readonly printed: Readonly<Record<string, unknown>>;
}

/** Runs codegen and commands of the copy, compiled, and serves a file, in a process of its own. */
function useDialect(): Used {
  const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as Manifest;
  const exports = Object.entries(manifest.exports).map(([name, entry]) => {
    if (typeof entry === 'string') return [name, entry];
    return [name, { types: entry['@stepwright/source'], default: entry.default }];
  });
  const registry = { include: ['project/*.ts'], out: 'generated/registry.ts', specs: ['project/twice.yaml'] };
  const { customConditions: _, ...compilerOptions } = config.compilerOptions;
  const files = {
    'package.json': JSON.stringify({
      ...manifest,
      exports: Object.fromEntries(exports),
      // Of the files that the build writes this is the only one that is no module of the sources.
      imports: { '#re2js': 're2js' },
    }),
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['project'] }),
    'project/tool.ts': TOOL,
    'project/twice.yaml': 'list: twice\ncalls: [hello]\n',
    'project/again.yaml': 'list: again\ncalls: [hello]\n',
    'project/faulty.yaml': 'list: faulty\ncalls: [helo]\n',
    'stepwright.config.json': JSON.stringify({ registries: [registry] }),
    'use.mjs': PROGRAM,
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  buildSync({
    entryPoints: globSync('src/**/*.{ts,mjs}', { cwd: folder, absolute: true }),
    outbase: join(folder, 'src'),
    outdir: join(folder, 'dist'),
    loader: { '.mjs': 'copy' },
    format: 'esm',
    target: 'es2022',
  });
  const { status, stdout, stderr } = spawnSync(process.execPath, ['use.mjs'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the copy fails:\n${stdout}${stderr}`);
  const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const { code, printed } = read('used.json') as Used;
  return { code, printed: { ...printed, schema: read('generated/registry.specs.schema.json') } };
}

/** The files that the compiler is asked about. The rest of the product is there as far as they import it. */
const roots = ADDITIONS.flatMap(({ parts }) =>
  parts.flatMap(({ file, missing }) => [file, ...(missing === undefined ? [] : [missing.file])]),
);

/** The compiler over the product with other texts in place of some files: it looks only at the files it is asked for. */
class Overlay {
  #texts: ReadonlyMap<string, string> = new Map();
  #version = 0;
  readonly #service: ts.LanguageService;

  constructor() {
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
    const existing = new Set(product.map(({ file }) => file));
    const overlaid = (path: string): string | undefined => this.#texts.get(path.slice(ROOT.length));
    const host: ts.LanguageServiceHost = {
      getCompilationSettings: () => options,
      getCurrentDirectory: () => ROOT,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      getProjectVersion: () => String(this.#version),
      getScriptFileNames: () =>
        [...new Set([...roots.filter((file) => existing.has(file)), ...this.#texts.keys()])].map(
          (file) => ROOT + file,
        ),
      getScriptVersion: (path) => (overlaid(path) === undefined ? '' : String(this.#version)),
      getScriptSnapshot: (path) => {
        const text = overlaid(path) ?? ts.sys.readFile(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      fileExists: (path) => overlaid(path) !== undefined || ts.sys.fileExists(path),
      readFile: (path) => overlaid(path) ?? ts.sys.readFile(path),
      directoryExists: ts.sys.directoryExists,
      getDirectories: ts.sys.getDirectories,
    };
    this.#service = ts.createLanguageService(host);
  }

  /** The faults of a file, each a sentence. */
  faults(texts: ReadonlyMap<string, string>, file: string): string[] {
    this.#texts = texts;
    this.#version += 1;
    return this.#service
      .getSemanticDiagnostics(ROOT + file)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  }
}

/**
 * The files of an addition, where a part has each of its pieces left out once. A new file declares its last constant
 * again for each piece, so that one program shows all faults.
 */
function withShortened({ parts }: Addition, part: Part): ReadonlyMap<string, string> {
  const texts = (part.pieces ?? []).map(({ text }) => edited([without(part, text)]).get(part.file) ?? '');
  const [first, ...others] = texts.map((text) => text.split(/^(?=export const )/m));
  if (first === undefined) throw new Error(`${part.file} has no pieces`);
  const copies = others.map((blocks, index) => (blocks.at(-1) ?? '').replace(/const \w+/, `$&${index}`));
  return new Map([...edited(parts), [part.file, [...first, ...copies].join('')]]);
}

describe('what is added to the product', () => {
  beforeAll(() => writeCopy(edited(ADDITIONS.flatMap(({ parts }) => parts))));

  test.each(ADDITIONS.map((addition) => [addition.what, addition] as const))(
    '%s touches few files',
    (_what, { parts, atMost }) => {
      expect(new Set(parts.map(({ file }) => file)).size).toBe(parts.length);
      expect(parts.length).toBeLessThanOrEqual(atMost);
    },
  );

  // Seconds alone, far longer beside other work.
  nightlyTest('compiles', { timeout: 120_000 }, () => {
    expect(compile()).toBe('');
  });

  test('takes the dialect of a spec file everywhere', { timeout: 240_000 }, () => {
    const { printed, code } = useDialect();
    expect(code).toEqual({ codegen: 0, validate: 0, fault: 1, run: 0 });
    expect(printed.fault).toContain('faulty.yaml:2:9 - error SW4001');
    expect(printed.run).toContain('"said": "hello"');
    expect(printed.served).toEqual(['w_again', 'w_twice']);
    expect(printed.schema).toMatchObject({
      definitions: { list: { definitions: { tool: { enum: ['hello'] } } } },
      if: { required: ['steps'] },
      else: { if: { required: ['list', 'calls'] } },
    });
  });

  const overlay = new Overlay();
  const parts = ADDITIONS.flatMap((addition) =>
    addition.parts.map((part) => ({ what: `${addition.what} in ${part.file}`, addition, part })),
  );

  const missing = parts.flatMap((each) =>
    each.part.missing ? [{ ...each, missing: each.part.missing }] : [],
  );
  nightlyTest.each(missing)(
    'is missed by the compiler: $what',
    ({ addition, part, missing: { file, message } }) => {
      const rest = edited(addition.parts.filter((other) => other !== part));
      expect(overlay.faults(rest, file)).toContainEqual(expect.stringMatching(message));
    },
  );

  const shortened = new Map<Part, string[]>();
  const faultsOfShortened = (addition: Addition, part: Part): string[] => {
    const faults = shortened.get(part) ?? overlay.faults(withShortened(addition, part), part.file);
    shortened.set(part, faults);
    return faults;
  };

  nightlyTest.each(parts.flatMap((each) => (each.part.pieces ?? []).map((piece) => ({ ...each, ...piece }))))(
    'is missed by the compiler: `$text` of $what',
    ({ addition, part, message }) => {
      expect(faultsOfShortened(addition, part)).toContainEqual(expect.stringMatching(message));
    },
  );
});
