import { join, resolve } from 'node:path';
import typescript from 'typescript';
import typescript5 from 'typescript-5';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const file = join(import.meta.dirname, 'accepted/editor.ts');

const source = `
import { Arg, type ArgsOf, attempt, call, chain, done, forEach, get, match, parallel, type ResultOf, run, set, State, Step, Tool, Workflow } from 'stepwright';

@Tool({ name: 't', description: 't' })
export class T {
  execute(input: { folder: string; depth?: number }): { lines: string[] } { return { lines: [input.folder] }; }
}

@State({ name: 's' })
export class S { value!: { latest: string }; }

@Workflow({ name: 'v', description: 'v' })
export class V {
  @Arg({ description: 'a' }) chosen!: Arg<string>;
  @Arg({ description: 'a', default: 1 }) height!: Arg<number, 'default'>;
  output = done({ total: this.chosen.length * this.height });
}

@Workflow({ name: 'w', description: 'w' })
export class W {
  @Arg({ description: 'a' }) task!: Arg<string>;
  @Arg({ description: 'a', default: 1 }) limit!: Arg<number, 'default'>;
  @Step() found = call(T, { folder: this.task });
  @Step() all = call(T, { folder: this.task, depth: this.limit }, { transform: (out) => out.lines });
  @Step() again = chain(call(T, { folder: this.all[0] ?? this.task }), (out) => attempt(call(T, { folder: 'a' }), () => out));
  @Step() both = parallel({ left: run(V, { chosen: this.task }), right: call(T, { folder: 'b' }) });
  @Step() tried = parallel({ above: run(V, { chosen: this.task, height: 2 }), below: 'c' }, { onPartialFailure: 'continue' });
  @Step() each = forEach(this.both.right.lines, (line) => run(V, { chosen: line, height: this.both.left.total }));
  @Step() sum = this.tried.above.error === undefined ? this.tried.above.total : this.each[0]?.total;
  @Step() undone = call(T, { folder: 'c' }, { compensate: (out) => call(T, { folder: out.lines[0] ?? get(S).latest }) });
  @Step() saved = set(S, { latest: this.undone.lines[0] ?? this.tried.below });
  output = done({ first: this.found.lines[0] ?? this.again.lines[0] });
}

export const args: ArgsOf<W> = { task: 'a', limit: 1 };
export const pick = (result: ResultOf<W>) => result.first;
`;

type Service = Pick<
  typescript.LanguageService,
  'findRenameLocations' | 'getDefinitionAtPosition' | 'getCompletionsAtPosition' | 'getSemanticDiagnostics'
>;

function service(ts: typeof typescript, exactOptionalPropertyTypes: boolean): Service {
  const options: typescript.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes,
    experimentalDecorators: true,
    skipLibCheck: true,
    types: [],
    customConditions: ['@stepwright/source'],
  };
  return ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const text = path === file ? source : ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: (path) => (path === file ? source : ts.sys.readFile(path)),
    directoryExists: ts.sys.directoryExists,
  });
}

/** Positions of every occurrence of a word. */
function occurrences(word: string): number[] {
  return [...source.matchAll(new RegExp(`\\b${word}\\b`, 'g'))].map(({ index }) => index);
}

describe.each([
  ['6.0', typescript, false],
  ['6.0 and exact optional properties', typescript, true],
  // The two packages differ in name alone as far as the language service goes.
  ['5.9', typescript5 as unknown as typeof typescript, false],
])('an editor with TypeScript %s', { timeout: 180_000 }, (_version, ts, isExact) => {
  const editor = service(ts, isExact);

  test('finds no error in the source', () => {
    expect(editor.getSemanticDiagnostics(file)).toEqual([]);
  });

  test.each([
    ...['task', 'limit', 'found', 'folder', 'depth', 'lines', 'first', 'all', 'again'],
    ...['chosen', 'height', 'total', 'both', 'left', 'right', 'above', 'below', 'each', 'undone', 'latest'],
  ])('renames `%s` everywhere at once', (word) => {
    const all = occurrences(word);
    for (const position of all) {
      const found = editor.findRenameLocations(file, position, false, false, {});
      expect(found?.map(({ textSpan }) => textSpan.start).sort((a, b) => a - b)).toEqual(all);
    }
  });

  test.each(['task', 'limit', 'folder', 'depth', 'chosen', 'height', 'total', 'left', 'latest'])(
    'goes from the last `%s` to where it is declared',
    (word) => {
      const all = occurrences(word);
      const definitions = editor.getDefinitionAtPosition(file, all.at(-1)!);
      expect(definitions?.map(({ textSpan }) => textSpan.start)).toEqual([all[0]]);
    },
  );

  test('offers the properties of an input', () => {
    const entries = editor.getCompletionsAtPosition(file, source.indexOf('folder: this.task'), {})?.entries;
    expect(entries?.map(({ name }) => name)).toEqual(['folder', 'depth']);
  });
});
