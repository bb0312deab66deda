import { describe, expect, test } from 'vitest';
import { checkToolHints } from './tool-hints.js';

describe('hints of a client', () => {
  const tools = new Set(['search', 'open', 'files__search']);

  test('may name a tool without hints whose name ends the name of another', () => {
    const hints = { open: { requires: ['search'] }, files__search: { requires: ['open'] } };
    expect(checkToolHints(hints, tools)).toEqual({ ok: true, hints });
  });

  test('are refused where tools require each other', () => {
    const hints = { open: { requires: ['search'] }, search: { requires: ['open'] } };
    expect(checkToolHints(hints, tools)).toEqual({
      ok: false,
      problems: ["'requires' of 'search' and 'open' name each other: leave one out"],
    });
  });
});
