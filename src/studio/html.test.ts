import { expect, test } from 'vitest';
import { Html, html, json, status } from './html.js';
import { leftOut, queryOf } from './runs-page.js';

test('texts in HTML are escaped, lists are joined, and missing pieces leave no text', () => {
  const names = ['<b>', `"'`];
  expect(
    html`<p>${names.map((name) => html`<i>${name}</i>`)}${undefined}${false}${1 > 2 && 'x'}</p>`.text,
  ).toBe('<p><i>&lt;b&gt;</i><i>&quot;&#39;</i></p>');
  expect(html`${new Html('<br>')}\n`.text).toBe('<br>\n');
});

test('a status of any name is a class of a known form', () => {
  expect(status('failed').text).toBe('<span class="status failed">failed</span>');
  expect(status('x" onclick="').text).toContain('class="status other"');
});

test('a long value is cut, and says by how much', () => {
  expect(json('x'.repeat(20_005)).text).toContain('… 5 more characters');
  expect(json({ a: 1 }).text).toContain('&quot;a&quot;: 1');
});

test('the address of a list is read, and what is malformed is left out', () => {
  const read = (text: string) => queryOf(new URLSearchParams(text));
  expect(read('')).toEqual({ limit: 50 });
  expect(read('status=completed&workflow=pay&owner=ada&text=x&before=7&limit=5')).toEqual({
    ...{ state: 'succeeded', workflow: 'pay', owner: 'ada', text: 'x', before: 7, limit: 5 },
  });
  expect(read('status=done&before=-1&limit=1e9&text=%20')).toEqual({ limit: 50 });
  expect(read('limit=99999')).toEqual({ limit: 500 });
});

test('what a list does not apply of its address is named', () => {
  const named = (text: string) => leftOut(new URLSearchParams(text));
  expect(named('status=completed&workflow=pay&owner=&text=x%20&before=7&limit=50')).toEqual([]);
  expect(named('status=nope&limit=abc&state=failed&workflow=pay')).toEqual([
    ...['status=nope', 'limit=abc', 'state=failed'],
  ]);
  expect(named('limit=501')).toEqual(['limit=501']);
});
