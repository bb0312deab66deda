import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageOf, readProperties, samePageName } from '../../../examples/logseq/page.js';

describe('pageOf', () => {
  test('takes the name from the file, with Logseq’s escapes undone', () => {
    expect(pageOf('Website___Login.md', '- text')).toEqual({
      name: 'Website/Login',
      path: 'pages/Website___Login.md',
      aliases: [],
    });
    expect(pageOf('Q%3A A.md', '')?.name).toBe('Q: A');
    expect(pageOf('100%.md', '')?.name).toBe('100%');
  });

  test('prefers `title::`, and reads aliases with and without brackets', () => {
    const page = pageOf('x.md', 'title:: The Site\nalias:: Site, [[Home page]],, \n\n- body');
    expect(page).toMatchObject({ name: 'The Site', aliases: ['Site', 'Home page'] });
  });

  test.each(['a%0Ab.md', 'a%00.md', 'a]].md', '[[a.md', '.md'])(
    'leaves out %j, which no link can name',
    (file) => {
      expect(pageOf(file, '')).toBeUndefined();
    },
  );

  test('any resulting name fits into a link on one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (file, text) => {
        const page = pageOf(`${file}.md`, text);
        expect(page?.name ?? 'x').not.toMatch(/[\r\n\0\u2028\u2029]|\[\[|\]\]|^$/u);
      }),
    );
  });
});

describe('readProperties', () => {
  test('reads the block at the top only', () => {
    const text = '\uFEFF- type:: project\r\n  Owner::  [[Ada]] \r\n\r\nlate:: no\r\n';
    expect([...readProperties(text)]).toEqual([
      ['type', 'project'],
      ['owner', '[[Ada]]'],
    ]);
  });

  test('text is not a property', () => {
    expect(readProperties('- see std::vector\nalias:: no').size).toBe(0);
  });
});

test('page names compare without case and in any encoding of accents', () => {
  expect(samePageName(' CAFÉ', 'cafe\u0301')).toBe(true);
  expect(samePageName('Website', 'Website/Login')).toBe(false);
});
