import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { isNightly, smoke } from '../../../test/nightly.js';
import type { CheckEnvironment } from '../../check/check-graph.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../graph/json.js';
import { loadWorkflowFiles } from '../load-files.js';
import { parseWorkflows } from '../spec-files.js';
import { specSchema } from './dialects.js';
import { keysOf, misplacedKeys, SPEC_KINDS, type SpecKind } from './orchestrator/node-specs.js';

const TOOLS: Readonly<Record<string, JsonSchema>> = {
  search: {
    type: 'object',
    properties: {
      origin: { type: 'string', description: 'Where it starts', minLength: 3 },
      cabin: { enum: ['economy', 'business'] },
      seats: { type: 'integer' },
      near: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      passenger: { $ref: '#/$defs/person' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['origin'],
    additionalProperties: false,
    $defs: {
      person: {
        type: 'object',
        properties: { name: { type: 'string' }, of: { $ref: '#/$defs/person' } },
        required: ['name'],
      },
    },
  },
  undo: { type: 'object', properties: { id: { type: 'string' } }, additionalProperties: false },
  any: { type: 'object' },
};

const named = Object.entries(TOOLS).map(([name, inputSchema]) => ({
  name,
  description: `Does ${name}`,
  inputSchema,
}));

const environment: CheckEnvironment = {
  tools: new Map(named.map(({ name, inputSchema }) => [name, { inputSchema }])),
  resources: new Map(),
};

function validatorOf(schema: JsonObject): (value: unknown) => readonly string[] {
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
  return (value) =>
    validate(value) ? [] : (validate.errors ?? []).map((each) => `${each.instancePath} ${each.message}`);
}

const check = validatorOf(specSchema({ tools: named, workflows: [] }));

test('a tool may be written by its upstream server, with the arguments of the tool', () => {
  const [tool] = named.filter(({ name }) => name === 'undo');
  if (tool === undefined) throw new Error('no tool');
  const upstream = { server: 'files', tool: 'remove' };
  const faults = validatorOf(specSchema({ tools: [{ ...tool, upstream }], workflows: [] }));
  const calling = (call: string, args: JsonObject) => ({
    workflows: { w: { description: 'd', graph: { a: { call, args, error_as_data: true } } } },
  });
  for (const call of ['undo', 'files/remove', 'files.remove']) {
    expect(faults(calling(call, { id: '$x' }))).toEqual([]);
    expect(faults(calling(call, { di: '$x' }))).not.toEqual([]);
  }
  expect(faults(calling('files/delete', {}))).not.toEqual([]);
});

/** Every key of the dialect. */
const WHOLE = {
  $schema: 'x.json',
  domain: 'travel',
  version: '1.0',
  description: 'All of it',
  rules: ['Be kind'],
  docs: '# Docs',
  'x-own': 1,
  workflows: {
    all: {
      title: 'All',
      description: 'Uses every key',
      params: {
        origin: { type: 'str', required: true, description: 'Where', title: 'Origin', min_length: 1 },
        when: { type: 'date', default: '2026-01-01', secret: true },
        tags: { type: 'list', items: { type: 'str', pattern: '^a' }, min_items: 0, max_items: 3 },
        codes: { type: 'list', items: 'str', default: [] },
        cabin: { type: 'str', enum: ['economy', 'business'], format: 'email', max_length: 9 },
        seats: { type: 'int', minimum: 1, maximum: 9 },
      },
      expose: ['tool', 'resource'],
      fail_fast: false,
      on_failure: 'compensate',
      max_concurrency: 3,
      task: true,
      task_support: 'required',
      graph: {
        start: {
          call: 'search',
          title: 'Search',
          args: { origin: '$origin', seats: '$seats?', tags: ['$origin'], passenger: { name: 'Ann' } },
          output: 'found',
          timeout: '30s',
          join: 'all_success',
          when: "$origin != 'x'",
          on_error: {
            retry: 2,
            delay: 1000,
            backoff: 'exponential',
            max_delay: '2m',
            jitter: 0.5,
            fallback: 'sorry',
          },
          compensate: { call: 'undo', args: { id: '$origin' } },
          'x-note': 'own',
        },
        decide: {
          type: 'branch',
          depends_on: 'start',
          on: [
            { when: '$seats > 1', goto: 'many' },
            { default: null, goto: 'few' },
          ],
        },
        many: {
          type: 'parallel',
          branches: { a: { call: 'any', args: { b: 1 } }, c: { steps: [{ id: 'd', call: 'any' }] } },
          on_partial_failure: 'repair',
          concurrency: 2,
        },
        few: {
          items: '$tags',
          as: 'tag',
          step: { call: 'any', args: { tag: '$tag' } },
          max_iterations: 5,
          concurrency: 1,
          on_item_error: 'continue',
        },
        asked: { depends_on: ['start'], message: 'Who?', expects: { name: { type: 'str' } } },
        nested: { workflow: 'travel/other', depends_on: ['asked'], args: { who: '$asked.name' } },
        repair: { type: 'compensate', steps: [{ call: 'undo', args: { id: 'x' }, ignore_error: true }] },
        sorry: { type: 'error', message: 'No: $error.message', code: 'sorry' },
      },
      returns: { nested: '$nested?', start: '$found?' },
    },
    other: {
      description: 'Another',
      params: { who: { type: 'any' } },
      graph: { only: { call: 'any', args: { who: '$who?' } } },
    },
  },
};

/** The codes of the errors that the loader reports. */
async function errorsOf(document: Json, registered = environment): Promise<readonly string[]> {
  const text = JSON.stringify(document);
  const { diagnostics } = await parseWorkflows(text, { file: 'f.json', format: 'json', registered });
  return diagnostics.flatMap(({ code, severity, message }) =>
    severity === 'error' ? [`${code} ${message}`] : [],
  );
}

describe('the schema for editors', () => {
  test('accepts a file with every key', async () => {
    expect(await errorsOf(WHOLE)).toEqual([]);
    expect(check(WHOLE)).toEqual([]);
  });

  const folder = path.join(import.meta.dirname, '../../../test/formats/spec-files');
  test.each(readdirSync(folder).filter((file) => /\.(?:yaml|json)$/.test(file)))(
    'accepts %s',
    async (file) => {
      const others = file === 'book-trip.yaml' ? ['book-flight.yaml'] : [];
      const { diagnostics } = await loadWorkflowFiles([file, ...others], { root: folder });
      expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      const text = readFileSync(path.join(folder, file), 'utf8');
      const calls = JSON.stringify(parse(text)).matchAll(/"call":"(\w+)"/g);
      const called = new Set([...calls].map(([, tool = '']) => tool));
      const tools = [...called].map((name) => ({ name, description: '', inputSchema: { type: 'object' } }));
      expect(tools).not.toEqual([]);
      expect(validatorOf(specSchema({ tools, workflows: [] }))(parse(text))).toEqual([]);
      expect(check(parse(text))).not.toEqual([]);
    },
  );

  test.each([
    ['an unknown tool', { call: 'serch' }],
    ['an unknown argument', { call: 'search', args: { origin: 'x', orign: 'y' } }],
    ['a missing argument', { call: 'search', args: {} }],
    ['no arguments where some are required', { call: 'search' }],
    ['a value of another type', { call: 'search', args: { origin: 'x', seats: 'many' } }],
    ['a value that is none of the known ones', { call: 'search', args: { origin: 'x', cabin: 'first' } }],
    ['a key inside a value', { call: 'search', args: { origin: 'x', passenger: { name: 1 } } }],
    ['an unknown key', { call: 'any', argz: {} }],
    ['a key of another kind of node', { call: 'any', items: [1] }],
    ['an unknown tool that undoes', { call: 'any', compensate: { call: 'serch' } }],
    ['an unknown tool in a loop', { items: [1], step: { call: 'serch' } }],
    ['an unknown tool in a branch', { branches: { a: { steps: [{ call: 'serch' }] } } }],
    ['a word that is none of the known ones', { call: 'any', join: 'all' }],
  ])('refuses %s', (_, node) => {
    const file = (inner: object) => ({ workflows: { w: { description: 'd', graph: { n: inner } } } });
    expect(check(file({ call: 'any', args: { more: 1 } }))).toEqual([]);
    expect(check(file(node))).not.toEqual([]);
  });

  test('accepts references in the place of any value', () => {
    const args = {
      origin: '$a',
      cabin: '$b.c',
      seats: '$d?',
      near: '$e',
      passenger: '$f',
      tags: '$steps.n.status',
    };
    const graph = { n: { call: 'search', args } };
    expect(check({ workflows: { w: { description: 'd', graph } } })).toEqual([]);
  });

  test('knows the keys of every kind of node', () => {
    const { definitions } = specSchema({ tools: named, workflows: [] }) as { definitions: JsonObject };
    const text = JSON.stringify(definitions);
    for (const kind of SPEC_KINDS) {
      const misplaced = misplacedKeys(kind);
      for (const key of keysOf(kind))
        if (!misplaced.has(key)) expect(text).toContain(`"${key}":{"description"`);
    }
  });

  test('is the same for tools in another order', () => {
    const reversed = specSchema({ tools: [...named].reverse(), workflows: [] });
    expect(JSON.stringify(reversed)).toBe(JSON.stringify(specSchema({ tools: named, workflows: [] })));
  });

  test('names no tool where there is none', () => {
    const empty = validatorOf(specSchema({ tools: [], workflows: [] }));
    expect(empty({ workflows: { w: { description: 'd', graph: { n: { call: 'any' } } } } })).toEqual([]);
  });
});

/** All places of a document, as paths. */
function placesIn(value: Json, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  const inner: (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...value.entries()]
    : isJsonObject(value)
      ? (Object.entries(value) as [string, Json][])
      : [];
  return [at, ...inner.flatMap(([key, part]) => placesIn(part, [...at, key]))];
}

/** The schema looks into lists and objects of arguments, which the checker leaves to the run. */
function isInLiteral(at: readonly (string | number)[]): boolean {
  const args = at.indexOf('args');
  return args !== -1 && (at.length > args + 2 || at[args + 1] === 'passenger');
}

type Edit = (parent: Record<string | number, Json>, key: string | number) => void;

const VALUES: readonly Json[] = [null, true, 3, 'text', '$origin', [], ['start'], {}, { goto: 'few' }];

const edits = fc.oneof(
  fc.constant<Edit>((parent, key) => {
    delete parent[key];
  }),
  fc.constantFrom(...VALUES).map(
    (value): Edit =>
      (parent, key) => {
        parent[key] = value;
      },
  ),
  fc.constantFrom(...SPEC_KINDS.flatMap(keysOf), 'x-more', 'goto', 'default').chain((name) =>
    fc.constantFrom(...VALUES).map(
      (value): Edit =>
        (parent, key) => {
          const inside = parent[key];
          if (isJsonObject(inside ?? null)) (inside as Record<string, Json>)[name] = value;
        },
    ),
  ),
);

test('the schema accepts what the loader accepts', { timeout: 120_000 }, async () => {
  const places = placesIn(WHOLE as Json).filter((at) => at.length > 0 && !isInLiteral(at));
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...places), edits), { maxLength: 2 }), async (all) => {
      const document = structuredClone(WHOLE) as unknown as Record<string, Json>;
      for (const [at, edit] of all) {
        const parent = at
          .slice(0, -1)
          .reduce<Json | undefined>(
            (value, key) => (value as Record<string | number, Json>)?.[key],
            document,
          );
        if (typeof parent === 'object' && parent !== null)
          edit(parent as Record<string | number, Json>, at.at(-1) ?? '');
      }
      if ((await errorsOf(document)).length > 0) return;
      accepted += 1;
      expect(check(document)).toEqual([]);
    }),
    { numRuns: isNightly ? 300 : 60, seed: 1369268080 },
  );
  expect(accepted).toBeGreaterThan(isNightly ? 20 : 6);
});

/** A node of each kind, with the keys that it needs. */
const NODES: Readonly<Record<SpecKind, JsonObject>> = {
  call: { call: 'any' },
  workflow: { workflow: 'other' },
  branch: { on: [{ when: "$p == 'x'", goto: 'target' }] },
  parallel: { branches: { inner: { call: 'any' } } },
  foreach: { items: '$list', step: { call: 'any' } },
  repeat: { repeat: { call: 'any' }, until: "$p == 'x'", max_iterations: 3 },
  yield: { message: 'Who?', expects: { name: { type: 'str' } } },
  wait: { wait: '1s' },
  compensate: { type: 'compensate', steps: [{ call: 'undo' }] },
  error: { type: 'error', message: 'No' },
};

/** Where a node is named by its key, or may have an id of its own. */
const POSITIONS: Readonly<Record<string, (node: Json) => JsonObject>> = {
  'a graph': (node) => ({ node }),
  branches: (node) => ({ outer: { branches: { node } } }),
  steps: (node) => ({ outer: { items: '$list', as: 'each', steps: [node] } }),
  'a repetition': (node) => ({ outer: { repeat: [node], until: "$p == 'x'", max_iterations: 3 } }),
  'a loop': (node) => ({ outer: { items: '$list', as: 'each', step: node } }),
};

/** What editors know: keys, and types of values. What names mean is checked when the file is read. */
const KEY_FAULTS = /^SW50(?:05|06|18) /;

describe.each(smoke(SPEC_KINDS, 4))('every key of a node of kind %s', (kind) => {
  const params = { p: { type: 'str' }, list: { type: 'list' } };
  const other = { description: 'd', graph: { only: { call: 'any' } } };
  const documentOf = (graph: JsonObject): JsonObject => ({
    workflows: { w: { description: 'd', params, graph: { target: { call: 'any' }, ...graph } }, other },
  });
  const keys = [...new Set(SPEC_KINDS.flatMap(keysOf))];

  test.each(smoke(Object.entries(POSITIONS)))(
    'in %s is accepted by the loader and the schema alike',
    async (_, at) => {
      const different: string[] = [];
      for (const key of keys) {
        for (const value of VALUES) {
          const document = documentOf(at({ ...NODES[kind], [key]: value }));
          const errors = await errorsOf(document);
          const faults = check(document);
          const isRefused = errors.some((error) => KEY_FAULTS.test(error));
          if (errors.length === 0 ? faults.length > 0 : isRefused && faults.length === 0)
            different.push(`${key}: ${JSON.stringify(value)}: ${errors[0] ?? faults[0]}`);
        }
      }
      expect(different).toEqual([]);
    },
  );
});
