import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';
import { ADDITIONS, type Addition, edited, type Part, without } from './additions.js';
import { isTest, ROOT, sourceFiles } from './source-files.js';

const product = sourceFiles('src').filter(({ file }) => !isTest(file));

const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, (path) => readFileSync(path, 'utf8'));

const folder = mkdtempSync(join(tmpdir(), 'stepwright-additions-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the compiler says about a copy of the product with these files in it. */
function compile(changed: ReadonlyMap<string, string>): string {
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const { file, text } of product) write(file, text);
  for (const [file, text] of changed) write(file, text);
  write('package.json', '{ "type": "module" }');
  write('tsconfig.json', JSON.stringify({ compilerOptions: config.compilerOptions, include: ['src'] }));
  symlinkSync(`${ROOT}node_modules`, join(folder, 'node_modules'), 'junction');
  try {
    execFileSync(process.execPath, [`${ROOT}node_modules/typescript-7/bin/tsc`, '-p', folder], {
      encoding: 'utf8',
    });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** The compiler over the product with other texts in place of some files: it looks only at the files it is asked for. */
class Overlay {
  #texts: ReadonlyMap<string, string> = new Map();
  #version = 0;
  readonly #service: ts.LanguageService;

  constructor() {
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
    const overlaid = (path: string): string | undefined => this.#texts.get(path.slice(ROOT.length));
    const host: ts.LanguageServiceHost = {
      getCompilationSettings: () => options,
      getCurrentDirectory: () => ROOT,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      getProjectVersion: () => String(this.#version),
      getScriptFileNames: () =>
        [...new Set([...product.map(({ file }) => file), ...this.#texts.keys()])].map((file) => ROOT + file),
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
  test.each(ADDITIONS.map((addition) => [addition.what, addition] as const))(
    '%s touches few files',
    (_what, { parts, atMost }) => {
      expect(new Set(parts.map(({ file }) => file)).size).toBe(parts.length);
      expect(parts.length).toBeLessThanOrEqual(atMost);
    },
  );

  // Seconds alone, far longer beside other work.
  test('compiles', { timeout: 120_000 }, () => {
    expect(compile(edited(ADDITIONS.flatMap(({ parts }) => parts)))).toBe('');
  });

  const overlay = new Overlay();
  const parts = ADDITIONS.flatMap((addition) =>
    addition.parts.map((part) => ({ what: `${addition.what} in ${part.file}`, addition, part })),
  );

  test.each(parts.flatMap((each) => (each.part.missing ? [{ ...each, missing: each.part.missing }] : [])))(
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

  test.each(parts.flatMap((each) => (each.part.pieces ?? []).map((piece) => ({ ...each, ...piece }))))(
    'is missed by the compiler: `$text` of $what',
    ({ addition, part, message }) => {
      expect(faultsOfShortened(addition, part)).toContainEqual(expect.stringMatching(message));
    },
  );
});
