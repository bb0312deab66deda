import { describe, expect, test } from 'vitest';
import { graphOf, returns, step } from '../../check/check-graph.fixture.js';
import { dict, list, literal, ref } from '../../graph/expression/build.fixture.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { JsonSchema } from '../../graph/json.js';
import { breaksOf, breakText, changesOf, type RecordedTool } from './drift.js';
import type { UpstreamTool } from './port.js';

const object = (properties: Record<string, JsonSchema>, required = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const string = { type: 'string' };
const number = { type: 'number' };

interface Versions {
  readonly input?: readonly [was: JsonSchema, is: JsonSchema];
  readonly output?: readonly [was: JsonSchema | undefined, is: JsonSchema | undefined];
  readonly passes?: Readonly<Record<string, Expr>>;
  readonly reads?: Expr;
}

const anything = object({});

function toolOf(inputSchema: JsonSchema, outputSchema: JsonSchema | undefined): RecordedTool {
  return {
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    upstream: { server: 's', tool: 't' },
  };
}

/** The breaks of a workflow of one call, by their texts. */
function broken({
  input = [anything, anything],
  output = [anything, anything],
  passes = {},
  reads,
}: Versions) {
  const graph = graphOf([step(3, 'a', 's_t', passes), ...(reads === undefined ? [] : [returns(4, reads)])]);
  const live: UpstreamTool = { name: 't', ...toolOf(input[1], output[1]) };
  const found = breaksOf(graph, { s_t: toolOf(input[0], output[0]) }, new Map([['s', [live]]]));
  return found.map((each) => breakText(each).replaceAll("tool 't' of the upstream server 's'", 'T'));
}

describe('the output that a workflow reads', () => {
  const out = (...path: (string | number)[]) => ref('steps', 'a', ...path);
  const page = (title: JsonSchema, more: Record<string, JsonSchema> = {}, required?: string[]) =>
    object({ pages: { type: 'array', items: object({ title, ...more }, required) } });

  test.each<[string, Versions, string[]]>([
    ['is as it was', { output: [page(string), page(string)], reads: out('pages', 0, 'title') }, []],
    ['has more than before', { output: [page(string), page(string, { id: number })], reads: out() }, []],
    [
      'is gone',
      { output: [object({ a: string, b: string }), object({ b: string })], reads: out('a') },
      ["'a' in the output of T is not in the output any more"],
    ],
    [
      'lacks something else',
      { output: [object({ a: string, b: string }), object({ b: string })], reads: out('b') },
      [],
    ],
    [
      'has another type',
      { output: [page(string), page(number)], reads: out('pages', 0, 'title') },
      ["'pages[].title' in the output of T is a number, where it has to be a string"],
    ],
    [
      'is an integer, and was a number',
      { output: [object({ a: number }), object({ a: { type: 'integer' } })], reads: out('a') },
      [],
    ],
    [
      'may be null now',
      { output: [object({ a: string }), object({ a: { type: ['string', 'null'] } })], reads: out('a') },
      ["'a' in the output of T is a string or null, where it has to be a string"],
    ],
    [
      'may be missing now',
      { output: [object({ a: string }), object({ a: string }, [])], reads: out('a') },
      ["'a' in the output of T may be missing now"],
    ],
    [
      'may be anything now',
      { output: [object({ a: string }), object({ a: {} })], reads: out('a') },
      ["'a' in the output of T may be anything now, and is used as a string"],
    ],
    [
      'has changed deep inside what is read as a whole',
      { output: [page(string), page(number)], reads: out() },
      ["'pages[].title' in the output of T is a number, where it has to be a string"],
    ],
    [
      'has a value that was not listed',
      { output: [object({ a: { enum: ['x'] } }), object({ a: { enum: ['x', 'y'] } })], reads: out('a') },
      [`'a' in the output of T may be "y", which is not one of "x"`],
    ],
    [
      'has fewer values',
      { output: [object({ a: { enum: ['x', 'y'] } }), object({ a: { const: 'x' } })], reads: out('a') },
      [],
    ],
    [
      'has no schema any more',
      { output: [object({ a: string }), undefined], reads: out('a') },
      ['the output of T has no schema any more'],
    ],
    [
      'has a schema now',
      { output: [undefined, object({ a: string })], reads: out('a') },
      ['the output of T has a schema now, and with it another form'],
    ],
    ['is not read', { output: [object({ a: string }), undefined] }, []],
    ['was not there before', { output: [object({ a: string }), object({ a: string })], reads: out('b') }, []],
    [
      'is in a wrapping',
      {
        output: [
          { ...object({ result: page(string) }), 'x-fastmcp-wrap-result': true },
          { ...object({ result: page(number) }), 'x-fastmcp-wrap-result': true },
        ],
        reads: out('pages', 0, 'title'),
      },
      ["'pages[].title' in the output of T is a number, where it has to be a string"],
    ],
  ])('%s', (_, versions, texts) => {
    expect(broken(versions)).toEqual(texts);
  });
});

describe('the input that a workflow passes', () => {
  const task = ref('inputs', 'task');

  test.each<[string, Versions, string[]]>([
    ['is accepted', { input: [object({ a: string }), object({ a: string })], passes: { a: task } }, []],
    [
      'is not known any more',
      { input: [object({ a: string }), object({})], passes: { a: task } },
      ["'a' in the input of T is not accepted any more"],
    ],
    ['leaves out what is gone', { input: [object({ a: string }, []), object({})] }, []],
    [
      'has another type',
      { input: [object({ a: string }), object({ a: number })], passes: { a: task } },
      ["'a' in the input of T is a string, where it has to be a number"],
    ],
    [
      'may be more than before',
      { input: [object({ a: string }), object({ a: { type: ['string', 'null'] } })], passes: { a: task } },
      [],
    ],
    [
      'lacks what is required now',
      { input: [object({ a: string }, []), object({ a: string })] },
      ["'a' in the input of T is required now"],
    ],
    [
      'has what is required now',
      { input: [object({ a: string }, []), object({ a: string })], passes: { a: task } },
      [],
    ],
    [
      'is a text that is not listed any more',
      { input: [object({ a: string }), object({ a: { enum: ['x'] } })], passes: { a: literal('y') } },
      [`'a' in the input of T is not accepted any more: it is \`"y"\`, not \`"x"\``],
    ],
    [
      'is a text that is listed',
      { input: [object({ a: string }), object({ a: { enum: ['x'] } })], passes: { a: literal('x') } },
      [],
    ],
    [
      'is any text, where some are listed now',
      { input: [object({ a: string }), object({ a: { enum: ['x'], type: 'string' } })], passes: { a: task } },
      [`'a' in the input of T has to be one of "x"`],
    ],
    [
      'has changed inside a list of objects',
      {
        input: [
          object({ all: { type: 'array', items: object({ name: string, more: string }, ['name']) } }),
          object({ all: { type: 'array', items: object({ name: string, kind: string }) } }),
        ],
        passes: { all: list(dict({ name: task })) },
      },
      ["'all[].kind' in the input of T is required now"],
    ],
    [
      'is an object of a step, which may have what is not accepted any more',
      {
        input: [
          object({ all: object({ name: string, more: string }, ['name']) }),
          object({ all: object({ name: string }) }),
        ],
        passes: { all: ref('inputs', 'project') },
      },
      ["'all.more' in the input of T is not accepted any more"],
    ],
    [
      'is a list, which is not accepted any more',
      {
        input: [object({ all: { type: 'array', items: string } }), object({ all: string })],
        passes: { all: list(task) },
      },
      ["'all' in the input of T is an array, where it has to be a string"],
    ],
  ])('%s', (_, versions, texts) => {
    expect(broken(versions)).toEqual(texts);
  });
});

test('a tool that is not offered any more breaks what calls it', () => {
  const graph = graphOf([step(3, 'a', 's_t'), step(4, 'b', 'own')]);
  const tools = { s_t: toolOf(anything, undefined), own: { inputSchema: anything } };
  const [found, ...others] = breaksOf(graph, tools, new Map([['s', []]]));
  expect(others).toEqual([]);
  expect(found).toMatchObject({ workflow: 'add-task', step: 'a', server: 's', tool: 't', part: 'tool' });
  expect(found && breakText(found)).toBe("tool 't' of the upstream server 's' is not offered any more");
  // A server that was not asked is not compared.
  expect(breaksOf(graph, tools, new Map())).toEqual([]);
});

test('a recursive schema is compared as far as it goes', () => {
  const node = (type: string): JsonSchema => ({
    $ref: '#/$defs/Node',
    $defs: {
      Node: object({ name: { type }, children: { type: 'array', items: { $ref: '#/$defs/Node' } } }),
    },
    type: 'object',
  });
  const reads = ref('steps', 'a');
  expect(broken({ output: [node('string'), node('string')], reads })).toEqual([]);
  expect(broken({ output: [node('string'), node('number')], reads })).toHaveLength(1);
});

test('all changes are listed, used or not', () => {
  const tool = (more: Partial<UpstreamTool>): UpstreamTool => ({ name: 't', inputSchema: anything, ...more });
  const changes = (was: Partial<UpstreamTool>, is: Partial<UpstreamTool>) =>
    changesOf([tool(was)], [tool(is)]).map(({ tool: name, what }) => `${name} ${what}`);
  expect(changes({}, {})).toEqual([]);
  expect(changes({ name: 'a' }, { name: 'b' })).toEqual(['a is not offered any more', 'b is new']);
  expect(
    changes(
      { title: 'a', description: 'a', annotations: { readOnlyHint: true } },
      { title: 'b', description: 'b', annotations: { readOnlyHint: false } },
    ),
  ).toEqual(['t has another title', 't has another description', 't has other annotations']);
  expect(
    changes(
      { inputSchema: object({ a: string, b: string, c: string }) },
      { inputSchema: object({ b: number, c: string, d: string }, ['b']) },
    ),
  ).toEqual([
    't has no `a` of its input any more',
    't has changed `b` of its input',
    't has changed `c` of its input',
    't has a new `d` of its input',
  ]);
  expect(changes({}, { outputSchema: anything })).toEqual(['t has a schema of its output']);
  expect(changes({ outputSchema: anything }, {})).toEqual(['t has no schema of its output any more']);
  expect(changes({}, { inputSchema: { ...anything, additionalProperties: true } })).toEqual([
    't has changed the schema of its input',
  ]);
});
