import { describe, expect, test } from 'vitest';
import { dict, literal } from '../graph/expression/build.fixture.js';
import type { JsonSchema } from '../graph/json.js';
import type { AskNode, Graph } from '../graph/model.js';
import { nodesOf } from '../graph/nodes.js';
import { withFedSchemas } from './compile-registry.js';
import type { LinkedWorkflow } from './declarations.js';

const common = { after: [], join: 'none_failed', executor: 'server' } as const;
const ask = (path: readonly (string | number)[], node = 'added'): AskNode => ({
  ...{ kind: 'ask', id: 'asked', ...common, mode: 'model' },
  ...{ message: literal('?'), expects: { type: 'string' }, feeds: { node, path } },
});
const graph: Graph = {
  ...{ graphVersion: 1, name: 'a', description: 'a', instructions: [] },
  inputs: [{ name: 'text', description: 't', schema: { type: 'string', minLength: 2 }, required: true }],
  nodes: [],
};
const added = { kind: 'call', id: 'added', ...common, tool: 'add', input: dict({}) } as const;
const sub = { kind: 'workflow', id: 'sub', ...common, workflow: 'a', input: dict({}) } as const;
const short = { type: 'string', maxLength: 9 };
const input: JsonSchema = {
  type: 'object',
  properties: {
    text: short,
    tags: { type: 'array', items: short },
    pair: { type: 'array', prefixItems: [{ type: 'number' }], items: short },
    block: { $ref: '#/$defs/Block' },
    either: { anyOf: [{ type: 'object', properties: { a: short } }, { type: 'null' }] },
  },
  additionalProperties: { type: 'boolean' },
  $defs: { Block: { type: 'object', properties: { inner: { $ref: '#/$defs/Block' }, line: short } } },
};

function filled(asked: AskNode): JsonSchema | undefined {
  const body = { nodes: [asked, added, sub] };
  const branch = {
    ...{ kind: 'branch', id: 'b', ...common },
    cases: [{ id: 'yes', when: literal(true), body }],
  } as const;
  const linked = { graph: { ...graph, nodes: [branch] } } as unknown as LinkedWorkflow;
  const [made] = withFedSchemas([linked], (name) => (name === 'add' ? input : undefined));
  const node = nodesOf(made?.graph ?? graph).find(({ id }) => id === 'asked');
  return node?.kind === 'ask' ? node.expects : undefined;
}

describe('the schema of a value that a model supplies', () => {
  test.each([
    ['an input', ['text'], short],
    ['an item', ['tags', 3], short],
    ['an item of a tuple', ['pair', 0], { type: 'number' }],
    ['an item after a tuple', ['pair', 1], short],
    ['a part of a shared schema', ['block', 'line'], short],
    ['another key', ['other'], { type: 'boolean' }],
  ])('for %s is that of the tool', (_, path, schema) => {
    expect(filled(ask(path))).toEqual(schema);
  });

  test('keeps the definitions that it refers to', () => {
    expect(filled(ask(['block', 'inner']))).toMatchObject({ type: 'object', $defs: input.$defs });
  });

  test('is that of its type where the input depends on the rest', () => {
    expect(filled(ask(['either', 'a']))).toEqual({ type: 'string' });
    expect(filled(ask(['text'], 'unknown'))).toEqual({ type: 'string' });
  });

  test('is that of the argument of a workflow', () => {
    expect(filled(ask(['text'], 'sub'))).toEqual({ type: 'string', minLength: 2 });
  });
});
