import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json, JsonObject } from '../../graph/json.js';
import type { CallNode, Input } from '../../graph/model.js';
import { jsonText, oneLine } from '../../graph/printable-text.js';
import { graph, input, lit, Run } from '../engine/graph.fixture.js';
import { RunMask } from './run-mask.js';

const of = (name: string, options: Partial<Input> = {}): Input => ({
  name,
  description: name,
  schema: {},
  required: true,
  ...options,
});

const flow = graph([], {
  inputs: [of('token', { secret: true }), of('key', { secret: true, default: 'default-key' }), of('user')],
});

describe('RunMask', () => {
  test('no secret is left in a value or a text that carries it', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-f\n"\\]{12,20}$/), fc.string(), (secret, other) => {
        const secrets = new RunMask(flow, { argumentTexts: [['token', secret]] });
        const shown = jsonText(secrets.json({ [secret]: [secret, `${other}${secret}`, { deep: secret }] }));
        expect(shown).not.toContain(jsonText(secret).slice(1, -1));
        expect(secrets.text(oneLine(`failed for ${secret}!`))).not.toContain(oneLine(secret));
      }),
    );
  });

  test('a short secret is masked alone, not inside other words', () => {
    const secrets = new RunMask(flow, { argumentTexts: [['token', 'a']] });
    expect(secrets.json({ a: 'a', b: 'banana' })).toEqual({ '••••': '••••', b: 'banana' });
  });

  test('a number is masked as its text is', () => {
    const secrets = new RunMask(flow, { argumentTexts: [['token', '4711']] });
    expect(secrets.json([4711, 4712])).toEqual(['••••', 4712]);
  });

  test('a default counts as a secret, other inputs do not', () => {
    const secrets = new RunMask(flow, { argumentTexts: [['user', 'ada-lovelace']] });
    expect(secrets.text('ada-lovelace has default-key')).toBe('ada-lovelace has ••••');
  });

  test('what was computed from a secret alone is masked whatever it looks like', () => {
    const secrets = new RunMask(flow);
    const value: Json = { token: 7, list: ['x', 'y'], user: 'ada' };
    const list = { kind: 'list', items: [{ value: input('key') }, { value: lit('y') }] } as const;
    const expr = {
      kind: 'dict',
      entries: [
        { key: 'token', value: input('token') },
        { key: 'list', value: list },
        { key: 'user', value: input('user') },
      ],
    } as const;
    expect(secrets.json(value, expr)).toEqual({ token: '••••', list: ['••••', 'y'], user: 'ada' });
  });

  test('a part of a secret, and what is computed from one, is masked however short', () => {
    const secrets = new RunMask(flow);
    const pin: Expr = { kind: 'get', of: input('token'), key: lit('pin') };
    expect(secrets.json(7, pin)).toBe('••••');
    expect(secrets.json('7', { kind: 'call', fn: 'coalesce', args: [pin, lit('0')] })).toBe('••••');
    const line: Expr = { kind: 'text', style: 'js', parts: ['pin ', pin, ' of ', input('user')] };
    expect(secrets.json('pin 7 of ada', line)).toBe('pin •••• of ••••');
    expect(secrets.json('of ada', { ...line, parts: ['of ', input('user')] })).toBe('of ada');
  });

  test('what a secret input holds is masked leaf by leaf, in JSON as well', () => {
    const value = { user: 'ada-lovelace', key: 'a"b"c', on: true, no: 4711 };
    const secrets = new RunMask(flow, {
      argumentTexts: [['token', JSON.stringify(value)]],
      input: { token: value },
    });
    expect(secrets.text('ada-lovelace 4711 true a"b"c {"k":"a\\"b\\"c"}')).toBe(
      '•••• •••• true •••• {"k":"••••"}',
    );
  });

  describe('of tools', () => {
    const { state } = new Run(graph([]));
    const issued = (tool: string, given: JsonObject) =>
      ({ kind: 'callIssued', node: 'a', command: 'a#1', tool, input: given, attempt: 1 }) as const;
    const tools = { id: 'a', after: [], join: 'none_failed', executor: 'server', kind: 'call' } as const;
    const dict = (value: Expr) =>
      ({
        kind: 'dict',
        entries: [
          { key: 'token', value },
          { key: 'note', value: lit('x') },
        ],
      }) as const;
    const secretsOf = (token: Expr, given: [string, string][] = []) => {
      const node: CallNode = { ...tools, tool: 'deploy', input: dict(token) };
      const inputsOf = (tool: string) => (tool === 'deploy' ? ['token'] : []);
      const secrets = new RunMask(graph([node], { inputs: [of('user')] }), {
        argumentTexts: given,
        secretInputs: inputsOf,
      });
      return { secrets, node };
    };

    test('are masked in the call, and from then on wherever they turn up', () => {
      const { secrets, node } = secretsOf({ kind: 'ref', root: 'steps', path: ['b'] });
      expect(secrets.text('it was hunter22')).toBe('it was hunter22');
      secrets.observe(issued('other', { token: 'hunter22' }), state);
      expect(secrets.text('it was hunter22')).toBe('it was hunter22');
      secrets.observe(issued('deploy', { token: 'hunter22', note: 'x' }), state);
      expect(secrets.text('it was hunter22')).toBe('it was ••••');
      expect(secrets.json({ token: 'anything', note: 'x' }, node.input)).toEqual({
        token: '••••',
        note: 'x',
      });
      expect(secrets.pending(node, { token: 'anything', note: 'x' })).toEqual({ token: '••••', note: 'x' });
    });

    test('are known before the call where they are written in the workflow', () => {
      expect(secretsOf(lit('hunter22')).secrets.text('it was hunter22')).toBe('it was ••••');
    });

    test('make the input of the workflow they come from a secret', () => {
      const { secrets, node } = secretsOf(input('user'), [['user', 'hunter22']]);
      expect(secrets.hasName('user')).toBe(true);
      expect(secrets.text('it was hunter22')).toBe('it was ••••');
      // A placeholder says where the value comes from.
      expect(secrets.pending(node, { token: '<user>' })).toEqual({ token: '<user>' });
    });
  });
});
