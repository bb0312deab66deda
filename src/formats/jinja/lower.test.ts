import { describe, expect, test } from 'vitest';
import { lowerTemplate } from './lower.js';
import { render } from './render.fixture.js';
import { TemplateFault } from './tokens.js';

const scope = { inputs: ['name'], state: ['count', 'items'] };

function faultOf(template: string, position: 'value' | 'text' | 'condition' = 'value'): TemplateFault {
  try {
    lowerTemplate(template, position, scope);
  } catch (fault) {
    if (fault instanceof TemplateFault) return fault;
    throw fault;
  }
  throw new Error('there is no fault');
}

describe('a template', () => {
  test('that is one output is its value, and otherwise text', () => {
    const context = { state: { count: 2, items: [1, 2] } };
    expect(render(' {{ state.items }} ', 'value', context)).toEqual({ value: [1, 2] });
    expect(render('{{ state.count }}{{ state.count }}', 'value', context)).toEqual({ value: '22' });
    expect(render('{{ state.count }}', 'text', context)).toEqual({ value: '2' });
    expect(render('{% if true %}[1]{% endif %}', 'value', context)).toEqual({ value: '[1]' });
    expect(render('no template', 'value', context)).toEqual({ value: 'no template' });
  });

  test('has an error for a missing value, but nothing in a text for a reader, and false as a condition', () => {
    const context = { state: { count: null } };
    expect(render('{{ state.count.deep }}', 'value', context)).toMatchObject({ error: 'E_UNDEFINED' });
    expect(render('x{{ state.count.deep }}', 'text', context)).toMatchObject({ error: 'E_UNDEFINED' });
    expect(render('x{{ state.count.deep }}', 'reader', context)).toEqual({ value: 'x' });
    expect(render('{{ state.count.deep }}', 'condition', context)).toEqual({ value: undefined });
    expect(render('{{ state.count.deep | length }}', 'value', context)).toEqual({ value: 0 });
    expect(render('{{ state.count.deep | default(3) }}', 'value', context)).toEqual({ value: 3 });
    expect(render('{{ state.count.deep is defined }}', 'value', context)).toEqual({ value: false });
  });

  test('names the path of a value that is missing', () => {
    const context = { state: { count: { deep: {} } } };
    const messageOf = (template: string): unknown => {
      const rendered = render(template, 'text', context);
      return 'message' in rendered ? rendered.message : rendered;
    };
    const missing = '`state.count.deep.est` has no value: it is undefined';
    for (const template of [
      '{{ state.count.deep.est }}',
      '{{ state.count.deep.est | upper }}',
      '{{ 1 + state.count.deep.est }}',
      "{{ 'a'.replace(state.count.deep.est, 'b') }}",
    ])
      expect(messageOf(template)).toBe(missing);
    expect(messageOf("{{ ([] | first) ~ 'a' }}")).toBe('a side of `~` has no value: it is undefined');
  });

  test('that a value of the run looks like is not rendered', () => {
    const context = { state: { count: '{{ 1 + 1 }}' } };
    expect(render('a {{ state.count }}', 'text', context)).toEqual({ value: 'a {{ 1 + 1 }}' });
  });

  test('reads state by a computed name among the declared fields alone', () => {
    const context = { state: { count: 1, other: 2 }, inputs: { name: 'count' } };
    expect(render('{{ state[inputs.name] }}', 'value', context)).toEqual({ value: 1 });
    const secret = { state: { count: 1 }, inputs: { name: 'secret' } };
    for (const template of [
      '{{ state[inputs.name] }}',
      '{{ state[inputs.name] | default(1) }}',
      '{{ state[inputs.name] is defined }}',
    ])
      expect(render(template, 'value', secret)).toMatchObject({ error: 'E_ACCESS' });
  });

  test('has a budget', () => {
    expect(render("{{ 'x' * 10000000 }}", 'value', {})).toMatchObject({ error: 'E_BUDGET' });
    expect(
      render('{% for a in range(1000) %}{% for b in range(1000) %}x{% endfor %}{% endfor %}', 'text', {}),
    ).toMatchObject({ error: 'E_BUDGET' });
    expect(render('{{ range(1000000) }}', 'value', {})).toMatchObject({ error: 'E_VALUE' });
    const long = { state: { count: 'a'.repeat(50_000) } };
    expect(render("{{ state.count | regex_search('(a+)+$') | length }}", 'value', long)).toEqual({
      value: 1,
    });
  });
});

describe('a fault', () => {
  test.each([
    ['{{ state.count', 0, '`{{` has no end', 'write `}}` behind it'],
    ['{{ stat.count }}', 3, '`stat` is not known here', 'did you mean `state`?'],
    ['{{ count }}', 3, '`count` is not known here', 'write `state.count`'],
    ['{{ inputs.nam }}', 10, 'there is no input `nam`', 'did you mean `name`?'],
    ['{{ state.count | lenght }}', 17, 'there is no filter `lenght`', 'did you mean `length`?'],
    ['{{ state.count is definde }}', 18, 'there is no test `definde`', 'did you mean `defined`?'],
    ["{{ 'a'.uper() }}", 7, 'there is no method `uper`', 'did you mean `upper`?'],
    ['{{ length(state.items) }}', 3, 'there is no function `length`', 'write it as a filter: `| length`'],
    ['{{ state.count && true }}', 15, '`&` is not part of an expression', 'write `and`'],
    [
      "{% include 'x' %}",
      3,
      '`include` is not part of this language',
      'a template is one text: write the content here',
    ],
    ['{% if state.count %}', 0, '`if` has no end', 'write `{% endif %}` behind it'],
    ['{% endfor %}', 3, '`endfor` has no beginning', undefined],
    ['{{ state.count | round(2, precision=1) }}', 26, '`round` is given `precision` twice', undefined],
    ['{{ state.items | join(1, 2, 3) }}', 17, '`join` takes at most 2 arguments', undefined],
    [
      '{% for x in state.items %}{{ loop.indx }}{% endfor %}',
      34,
      '`loop` has no `indx`',
      'did you mean `index`?',
    ],
    ['{{ a.b(*c) }}', 7, 'arguments cannot be unpacked', 'write each argument'],
  ])('%s', (template, start, message, hint) => {
    const fault = faultOf(template, template.startsWith('{%') ? 'text' : 'value');
    expect([fault.message, fault.start, fault.hint]).toEqual([message, start, hint]);
  });

  test('is reported with the others of its template, in the order of their places', () => {
    const template =
      '{{ a | b(c.d) }} {{ e f }} {% for x in g %}{{ x | upper | h }}{% endfor %}{% set i = 1 %}{{ i }}';
    const fault = faultOf(template, 'text');
    expect([fault, ...fault.further].map(({ message, start }) => [message, template[start]])).toEqual([
      ['`a` is not known here', 'a'],
      ['there is no filter `b`', 'b'],
      ['the end of the tag is expected, not `f`', 'f'],
      ['`g` is not known here', 'g'],
      ['there is no filter `h`', 'h'],
    ]);
  });

  test('is one of at most 20', () => {
    const fault = faultOf('{{ a }}'.repeat(50), 'text');
    expect(fault.further).toHaveLength(19);
  });

  test('of a condition that is several tags', () => {
    expect(faultOf('{{ state.count }} == 1', 'condition').message).toBe('a condition is one `{{ … }}`');
  });
});
