import typescript from 'typescript';
import typescript5 from 'typescript-5';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Editor, serverEditor, serviceEditor } from './editors.js';

const source = `
import { Arg, type ArgsOf, attempt, call, chain, done, forEach, get, match, parallel, type ResultOf, run, read, Resource, set, State, Step, Tool, Workflow } from 'stepwright';
import { z } from 'zod';

@Tool({ name: 't', description: 't' })
export class T {
  execute(input: { folder: string; depth?: number }): { lines: string[] } { return { lines: [input.folder] }; }
}

const schema = z.object({ marked: z.string() });

@Tool({ name: 'z', description: 'z', input: schema })
export class Zod {
  execute(input: z.infer<typeof schema>): { kept: string } { return { kept: input.marked }; }
}

@Resource({ name: 'page', description: 'a page', mimeType: 'text/plain' })
export class Page {
  static readonly uriTemplate = 'page://{id}';
  read(variables: { id: string }): string { return variables.id; }
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
  @Step() noted = call(Zod, { marked: this.task });
  @Step() text = read(Page, { id: this.noted.kept });
  output = done({ first: this.found.lines[0] ?? this.again.lines[0] });
}

export const args: ArgsOf<W> = { task: 'a', limit: 1 };
export const pick = (result: ResultOf<W>) => result.first;
`;

/** Positions of every occurrence of a word. */
function occurrences(word: string): number[] {
  return [...source.matchAll(new RegExp(`\\b${word}\\b`, 'g'))].map(({ index }) => index);
}

const exactly = { exactOptionalPropertyTypes: true };
const loosely = { exactOptionalPropertyTypes: false };

describe.each<[string, () => Editor | Promise<Editor>]>([
  ['5.9', () => serviceEditor(typescript5 as unknown as typeof typescript, source, loosely)],
  ['6.0', () => serviceEditor(typescript, source, loosely)],
  ['6.0 and exact optional properties', () => serviceEditor(typescript, source, exactly)],
  ['7.0', () => serverEditor(source)],
])('an editor with TypeScript %s', { timeout: 180_000 }, (_version, open) => {
  let editor: Editor;
  beforeAll(async () => {
    editor = await open();
  }, 180_000);
  afterAll(() => editor.close());

  test('finds no error in the source', async () => {
    expect(await editor.errors()).toEqual([]);
  });

  test.each([
    ...[
      'task',
      'limit',
      'found',
      'folder',
      'depth',
      'lines',
      'first',
      'all',
      'again',
      'kept',
      'noted',
      'marked',
    ],
    ...['chosen', 'height', 'total', 'both', 'left', 'right', 'above', 'below', 'each', 'undone', 'latest'],
    ...['T', 'V', 'S', 'Zod', 'Page'],
  ])('renames `%s` everywhere at once, and finds all its references', async (word) => {
    const all = occurrences(word);
    for (const position of all) {
      expect(await editor.renames(position)).toEqual(all);
      expect(await editor.references(position)).toEqual(all);
    }
  });

  test.each([
    ...['task', 'limit', 'folder', 'depth', 'chosen', 'height', 'total', 'left', 'latest'],
    ...['T', 'V', 'S', 'Zod', 'Page', 'kept', 'noted', 'marked'],
  ])('goes from the last `%s` to where it is declared', async (word) => {
    const all = occurrences(word);
    expect(await editor.definitions(all.at(-1)!)).toEqual([all[0]]);
  });

  test('offers the properties of an input', async () => {
    expect(await editor.completions(source.indexOf('folder: this.task'))).toEqual(['folder', 'depth']);
  });
});
