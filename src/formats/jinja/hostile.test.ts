import { describe, expect, test } from 'vitest';
import { render } from './render.fixture.js';

const long = (text: string, count = 100_000): Record<string, Record<string, string>> => ({
  state: { t: text.repeat(count) },
});
const padded = { state: { t: `x${' '.repeat(100_000)}x` } };

describe('templates that ask for too much', () => {
  test.each([
    "{{ '' | center(10000000000) }}",
    "{{ 'a' | indent(10000000000) }}",
    '{{ [1] | tojson(indent=10000000000) }}',
    "{{ '\t'.expandtabs(10000000000) }}",
    "{{ 'a'.ljust(10000000000) }}",
    '{{ [1] | slice(10000000000) }}',
    '{{ [1] | slice(10000000) }}',
    '{{ [1] | batch(10000000000, 0) }}',
    '{{ [1] | batch(5000000, 0) }}',
    "{{ 'a' * 100000000 }}",
    '{{ [1] * 100000000 }}',
    `{% set a = 'aaaaaaaaaa' %}${'{% set a = a ~ a %}'.repeat(40)}{{ a }}`,
    `{% set a = [1, 2] %}${'{% set a = [a, a] %}'.repeat(40)}{{ a }}`,
    '{% for a in range(1000) %}{% for b in range(1000) %}x{% endfor %}{% endfor %}',
    '{% set l = range(2000) | list %}{% for x in l %}{{ l.count(x) }}{% endfor %}',
  ])('%s exceeds the budget', (template) => {
    expect(render(template, 'text', {})).toMatchObject({ error: 'E_BUDGET' });
  });

  test.each([
    `{{ ${Array(50_000).fill('1').join('+')} }}`,
    `{{ ${Array(5_000).fill('1').join(' and ')} }}`,
    `{{ 'a'${'|upper'.repeat(5_000)} }}`,
    `{{ 'a'${'.b'.repeat(5_000)} is defined }}`,
    `{{ ${'1 ** '.repeat(5_000)} 1 }}`,
    `{{ ${'not '.repeat(5_000)} 1 }}`,
    `{{ ${'('.repeat(5_000)} 1 ${')'.repeat(5_000)} }}`,
    '{% set a = 1 %}'.repeat(3_000),
    '{% if 1 %}{% set a = 1 %}{% endif %}'.repeat(3_000),
  ])('a deep template is a fault', (template) => {
    expect(render(template, 'text', {})).toMatchObject({
      error: 'fault',
      message: expect.stringMatching(/nested deeper than \d+ levels/),
    });
  });

  test('comparisons within a comparison are lowered once', () => {
    let inner = '1';
    for (let depth = 0; depth < 40; depth += 1) inner = `1 < (${inner}) < 1`;
    expect(render(`{{ ${inner} }}`, 'value', {})).toEqual({ value: false });
  });

  test.each([
    ['{{ state.t | strip | length }}', padded, '100002'],
    ['{{ state.t | trim | length }}', padded, '100002'],
    ['{{ state.t | int }}', padded, '0'],
    ['{{ state.t.rsplit() | length }}', long('x '), '100000'],
    ['{{ state.t | striptags | length }}', long('<'), '100000'],
    ['{{ state.t | striptags | length }}', long('<!--', 30_000), '120000'],
  ])('%s takes time in proportion to the text', (template, context, value) => {
    expect(render(template, 'text', context)).toEqual({ value });
  });

  test('a width below zero is not a width', () => {
    expect(render("{{ 'a\nb' | indent(-1) }}{{ [1] | tojson(indent=-1) }}", 'text', {})).toEqual({
      value: 'a\nb[\n1\n]',
    });
  });

  test('a text is padded by one character', () => {
    expect(render("{{ 'a'.ljust(9, 'ab') }}", 'text', {})).toMatchObject({ error: 'E_VALUE' });
  });

  test('a result that is not finite is an error', () => {
    expect(render("{{ 1e300 | round(50, 'ceil') }}", 'value', {})).toMatchObject({ error: 'E_NUMBER' });
  });
});

describe('templates that ask for the host', () => {
  test.each(['__proto__', 'constructor', 'prototype', 'toString', '__class__', '#ms', 'toJSON'])(
    '`%s` is not there',
    (name) => {
      const context = { state: { o: {}, l: [1], s: 'a', n: 1 } };
      for (const of of ['state.o', 'state.l', 'state.s', 'state.n', '1.0', 'now()', 'inputs', "{'a': 1}"]) {
        const templates = [
          `{{ (${of})['${name}'] is defined }}`,
          `{{ (${of} | attr('${name}')) is defined }}`,
          `{{ [${of}] | map(attribute='${name}') | first is defined }}`,
        ];
        for (const template of templates) {
          const result = render(template, 'value', context);
          if ('value' in result) expect(result, template).toEqual({ value: false });
        }
      }
    },
  );
});
