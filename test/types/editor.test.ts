import typescript from 'typescript';
import typescript5 from 'typescript-5';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { smoke } from '../nightly.js';
import { type Editor, serverEditor, serviceEditor } from './editors.js';

const source = `
import { Agent, Arg, type ArgsOf, ask, attempt, call, chain, delegate, done, forEach, get, match, parallel, prompt, type ResultOf, run, read, Resource, set, State, Step, Tool, Workflow } from 'stepwright';
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

@Resource({ name: 'guide', description: 'a guide' })
export class Guide {
  static readonly uri = 'guide://x';
  read(): string { return 'a'; }
}

@State({ name: 's' })
export class S { value!: { latest: string }; }

@Agent({ name: '@aide' })
export class Aide { reply!: { advice: string }; }

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
  @Step() each = forEach(this.both.right.lines, (line) => run(V, { chosen: line, height: this.both.left.total }), { agent: Aide });
  @Step() helped = delegate(Aide, this.task);
  @Step() sum = this.tried.above.error === undefined ? this.tried.above.total : this.each[0]?.total;
  @Step() undone = call(T, { folder: 'c' }, { compensate: (out) => call(T, { folder: out.lines[0] ?? get(S).latest }) });
  @Step() saved = set(S, { latest: this.undone.lines[0] ?? this.tried.below });
  @Step() noted = call(Zod, { marked: this.task });
  @Step() text = read(Page, { id: this.noted.kept });
  @Step() told = ask.info(prompt\`Use \${T}, then \${V} for \${this.task}, as \${Guide} says of \${this.noted.kept}\`);
  @Step() asked = ask.text(prompt\`See \${Guide}: \${this.found.lines[0] ?? 'none'}\`, { after: [this.found, this.told] });
  @Step({ guidance: 'For {told}', summary: 'As {told} says' })
  last = call(Zod, { marked: this.asked + this.helped.advice }, { after: [this.asked, this.told, this.noted] });
  output = done({ first: this.found.lines[0] ?? this.again.lines[0] });
}

export const args: ArgsOf<W> = { task: 'a', limit: 1 };
export const pick = (result: ResultOf<W>) => result.first;
`;

/** Positions of every occurrence of a word. */
function occurrences(word: string): number[] {
  return [...source.matchAll(new RegExp(`\\b${word}\\b`, 'g'))].map(({ index }) => index);
}

/** Tools, inputs, keys of zod, bindings, fields of outputs, arguments, classes in texts, and what `after` names. */
const NAMES = [
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
  ...['asked', 'T', 'V', 'S', 'Zod', 'Page', 'Guide'],
  ...['Aide', 'advice', 'helped'],
];

const exactly = { exactOptionalPropertyTypes: true };
const loosely = { exactOptionalPropertyTypes: false };

const EDITORS: readonly [string, () => Editor | Promise<Editor>][] = [
  ['7.0', () => serverEditor(source)],
  ['6.0', () => serviceEditor(typescript, source, loosely)],
  ['6.0 and exact optional properties', () => serviceEditor(typescript, source, exactly)],
  ['5.9', () => serviceEditor(typescript5 as unknown as typeof typescript, source, loosely)],
];

describe.each(smoke(EDITORS))('an editor with TypeScript %s', { timeout: 180_000 }, (_version, open) => {
  let editor: Editor;
  beforeAll(async () => {
    editor = await open();
  }, 180_000);
  afterAll(() => editor.close());

  test('finds no error in the source', async () => {
    expect(await editor.errors()).toEqual([]);
  });

  test.each(NAMES)('renames `%s` everywhere at once, and finds all its references', async (word) => {
    const all = occurrences(word);
    for (const position of all) {
      expect(await editor.renames(position)).toEqual(all);
      expect(await editor.references(position)).toEqual(all);
    }
  });

  test.each(NAMES)('goes from every use of `%s` to where it is declared', async (word) => {
    const all = occurrences(word);
    for (const position of all) expect(await editor.definitions(position)).toEqual([all[0]]);
  });

  test('knows no placeholder in guidance and summary, which codegen checks', async () => {
    const all = occurrences('told');
    const inText = all.filter((position) => source.slice(position - 1, position + 5) === '{told}');
    const inCode = all.filter((position) => !inText.includes(position));
    expect([inText.length, inCode.length]).toEqual([2, 3]);
    for (const position of inText) expect(await editor.definitions(position)).toEqual([]);
    for (const position of inCode) {
      expect(await editor.renames(position)).toEqual(inCode);
      expect(await editor.references(position)).toEqual(inCode);
      expect(await editor.definitions(position)).toEqual([inCode[0]]);
    }
  });

  test('renames a variable of a template in its method alone: `tsc` and codegen report the other uses', async () => {
    const [, declared = 0, used = 0, given = 0] = occurrences('id');
    expect(await editor.renames(used)).toEqual([declared, used]);
    expect(await editor.references(declared)).toEqual([declared, used]);
    expect(await editor.definitions(used)).toEqual([declared]);
    expect(await editor.renames(given)).toEqual([given]);
  });

  test('offers the properties of an input', async () => {
    expect(await editor.completions(source.indexOf('folder: this.task'))).toEqual(['folder', 'depth']);
  });
});
