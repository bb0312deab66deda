import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ROOT, type SourceText, sourceFiles } from './source-files.js';

const MAX_WIDTH = 200;

/** A code of a rule, as `E11`: the letter says which part of the design it came from. */
const CODE = /[EGLNQ]\d+/;

const page = readFileSync(`${ROOT}docs/semantics.md`, 'utf8');

/** What is wrong with a page of rules. */
function pageFaults(markdown: string): string[] {
  const lines = markdown.split('\n');
  const named = new Set([...markdown.matchAll(/\[([A-Z]\d+)\](?!:)/g)].map(([, code = '']) => code));
  const targets = new Map(
    [...markdown.matchAll(/^\[([A-Z]\d+)\]: #(.*)$/gm)].map(([, code = '', to = '']) => [code, to]),
  );
  const anchors = [...markdown.matchAll(/<a id="([^"]*)"><\/a>/g)].map(([, id = '']) => id);
  return [
    ...lines.flatMap((line, index) => (line.length > MAX_WIDTH ? [`line ${index + 1} is too long`] : [])),
    ...[...named].filter((code) => !targets.has(code)).map((code) => `[${code}] is not a link`),
    ...[...targets].filter(([code]) => !named.has(code)).map(([code]) => `[${code}] is in no rule`),
    ...[...targets].filter(([, to]) => !anchors.includes(to)).map(([code]) => `[${code}] leads nowhere`),
    ...anchors.filter((id, index) => anchors.indexOf(id) !== index).map((id) => `${id} is there twice`),
    ...anchors.filter((id) => ![...targets.values()].includes(id)).map((id) => `${id} is not in a rule`),
  ];
}

/** The codes of rules that the names of a file's tests begin with: `test('E8, G15: …')`. */
function codesIn({ text }: SourceText): string[] {
  const names = text.matchAll(/\b(?:test|describe)(?:\.each\(.*\))?\('((?:[A-Z]\d+, )*[A-Z]\d+): /g);
  return [...names].flatMap(([, codes = '']) => codes.split(', ')).filter((code) => CODE.test(code));
}

test('the page of rules has short lines, and every code in brackets leads to its rule', () => {
  expect(pageFaults(page)).toEqual([]);
});

test('every rule that a test names is on the page', () => {
  const codes = new Set(sourceFiles('src', 'test').flatMap(codesIn));
  expect(codes.size).toBeGreaterThan(30);
  expect([...codes].filter((code) => !page.includes(`\n[${code}]: #`))).toEqual([]);
});

describe('the rules', () => {
  test('find lines and codes that are wrong', () => {
    const markdown = `${'x'.repeat(MAX_WIDTH + 1)}\n<a id="e1"></a><a id="e1"></a>[E1] [E2]\n\n[E1]: #e1\n[E3]: #e3\n`;
    expect(pageFaults(markdown)).toEqual([
      'line 1 is too long',
      '[E2] is not a link',
      '[E3] is in no rule',
      '[E3] leads nowhere',
      'e1 is there twice',
    ]);
  });

  test('find the codes in the names of tests', () => {
    const text =
      "test('E8, G15: ends', () => {}); describe('N7: asks', () => {}); test('L: no code', () => {});";
    expect(codesIn({ file: 'a.test.ts', text })).toEqual(['E8', 'G15', 'N7']);
  });
});
