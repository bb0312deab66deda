import { describe, expect, test } from 'vitest';
import { readTools, type ToolPage } from './listing.js';

const input = { type: 'object', properties: {} };

/** The tools of a server that answers with these pages, one after the other, and how many it was asked for. */
async function read(pages: readonly object[], exclude?: readonly string[], hasHeaders = false) {
  const cursors: unknown[] = [];
  const pageAt = async ({ cursor }: { readonly cursor?: string }) => {
    const page = pages[Math.min(cursors.length, pages.length - 1)];
    cursors.push(cursor);
    return page as ToolPage;
  };
  const settings = exclude === undefined ? {} : { tools: { exclude: [...exclude] } };
  return { ...(await readTools(pageAt, settings, hasHeaders)), cursors };
}

const named = (...names: readonly string[]) => names.map((name) => ({ name, inputSchema: input }));

describe('a list of tools', () => {
  test.each([null, undefined])('ends with a page that has %s as `nextCursor`', async (nextCursor) => {
    const { tools, notes, cursors } = await read([
      { tools: named('a'), nextCursor: 'b' },
      { tools: named('b'), nextCursor },
    ]);
    expect(tools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect([notes, cursors]).toEqual([undefined, [undefined, 'b']]);
  });

  test('with a cursor that does not advance is read to there', async () => {
    const { tools, notes, cursors } = await read([{ tools: named('a', 'b'), nextCursor: 'same' }]);
    expect(tools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(notes).toEqual(["`nextCursor` is 'same' a second time: the list is read to there"]);
    expect(cursors).toHaveLength(2);
  });

  test('with a cursor of another type is read to there', async () => {
    const { notes } = await read([{ tools: named('a'), nextCursor: 7 }]);
    expect(notes).toEqual(['`nextCursor` is a number: the list is read to there']);
  });

  test.each<[unknown, string]>([
    [{ name: 'odd' }, "tool 'odd' is left out: its `inputSchema` is missing"],
    [{ name: 'odd', inputSchema: null }, "tool 'odd' is left out: its `inputSchema` is null"],
    [{ name: 'odd', inputSchema: {} }, 'its `inputSchema.type` has to be "object", and is missing'],
    [{ name: 'odd', inputSchema: { type: 'string' } }, 'and is "string"'],
    [{ name: 'odd', inputSchema: { ...input, properties: [] } }, 'its `inputSchema.properties` is a list'],
    [
      { name: 'odd', inputSchema: { ...input, required: 'a' } },
      '`inputSchema.required` is not a list of names',
    ],
    [{ inputSchema: input }, 'tool number 2 is left out: its `name` is missing'],
    [{ name: '', inputSchema: input }, 'its `name` is empty'],
    ['odd', 'tool number 2 is left out: it is a string'],
  ])('loses a tool that is malformed, and no other: %j', async (odd, note) => {
    const { tools, notes } = await read([{ tools: [...named('a'), odd, ...named('b')] }]);
    expect(tools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(notes).toEqual([expect.stringContaining(note)]);
  });

  test.each<[object, string]>([
    [{ description: 7 }, "tool 'odd' is used without its `description`, which is a number"],
    [
      { outputSchema: { type: 'array' } },
      'without its output schema: its `outputSchema.type` has to be "object"',
    ],
    [{ annotations: { readOnlyHint: 'false' } }, 'without its `annotations.readOnlyHint`, which is a string'],
  ])('leaves out a member that is malformed: %j', async (more, note) => {
    const { tools, notes } = await read([{ tools: [{ name: 'odd', inputSchema: input, ...more }] }]);
    expect(tools).toMatchObject([{ name: 'odd', inputSchema: input }]);
    expect(JSON.stringify(tools)).not.toContain(JSON.stringify(Object.values(more)[0]));
    expect(notes).toEqual([expect.stringContaining(note)]);
  });

  test('takes absent members that are written as null', async () => {
    const tool = { name: 'a', inputSchema: input, title: null, description: null, outputSchema: null };
    expect(await read([{ tools: [tool] }])).toMatchObject({ tools: named('a') });
    expect((await read([{ tools: [tool] }])).notes).toBeUndefined();
  });

  test('with two tools of one name says so, where they differ', async () => {
    const other = { name: 'a', description: 'another', inputSchema: input };
    const { tools, notes } = await read([{ tools: [...named('a', 'a'), other] }]);
    expect(tools).toEqual(named('a'));
    expect(notes).toEqual(["tool 'a' is listed twice, in two forms: the first one is used"]);
  });

  test('is without excluded tools, odd ones among them', async () => {
    const { tools, notes } = await read(
      [{ tools: [...named('a', 'wipe'), { name: 'odd' }] }],
      ['wipe', 'odd', 'wip'],
    );
    expect(tools).toEqual(named('a'));
    expect(notes).toEqual([
      expect.stringContaining(
        "`tools.exclude` of the configuration has 'wip', which the server does not list",
      ),
    ]);
  });

  const region = { type: 'string', 'x-mcp-header': 'Region' };

  test.each<[string, object, string]>([
    ['no name', { properties: { a: { type: 'string', 'x-mcp-header': 'a b' } } }, 'not the name of a header'],
    ['no text', { properties: { a: { type: 'string', 'x-mcp-header': 7 } } }, 'not the name of a header'],
    ['another type', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }, '.a` has an'],
    [
      'a list',
      { properties: { a: { type: 'array', items: region } } },
      '.a` has an `x-mcp-header` that is not',
    ],
    ['an alternative', { oneOf: [{ properties: { a: region } }] }, 'is not at an input'],
    ['the whole input', { 'x-mcp-header': 'All' }, 'is not at an input'],
    [
      'one header for two inputs',
      { properties: { a: region, b: { properties: { c: { ...region, 'x-mcp-header': 'REGION' } } } } },
      ".b.c` has an `x-mcp-header` that another input has: 'REGION'",
    ],
  ])('loses a tool that repeats in headers %s, where calls have headers', async (_, more, note) => {
    const pages = [{ tools: [{ name: 'odd', inputSchema: { ...input, ...more } }, ...named('a')] }];
    const { tools, notes } = await read(pages, undefined, true);
    expect([tools, notes]).toEqual([named('a'), [expect.stringContaining(note)]]);
    expect((await read(pages)).notes).toBeUndefined();
  });

  test('has tools that repeat inputs in headers', async () => {
    const nested = { type: 'object', properties: { c: { ...region, 'x-mcp-header': 'C' } } };
    const inputSchema = { ...input, properties: { a: region, b: nested } };
    const { tools, notes } = await read([{ tools: [{ name: 'a', inputSchema }] }], undefined, true);
    expect([tools, notes]).toEqual([[{ name: 'a', inputSchema }], undefined]);
  });
});
