import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { type CheckEnvironment, checkGraph } from '../../src/check/check-graph.js';
import { assemble } from '../../src/codegen/compile-registry.js';
import { emitRegistry } from '../../src/codegen/emit/registry.js';
import { extract } from '../../src/codegen/extract/extract.js';
import { link } from '../../src/codegen/link/link.js';
import { SourceHost } from '../../src/codegen/source/source-host.js';
import { registryChecksum } from '../../src/decorators/metadata.js';
import { canonicalGraph, hashGraph } from '../../src/graph/canonical.js';
import type { Diagnostic } from '../../src/graph/diagnostics/diagnostic.js';
import type { Json, JsonObject, JsonSchema } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { bundle } from '../../src/graph/nodes.js';
import { parseGraph } from '../../src/graph/schema/parse-graph.js';
import { runInProcess } from '../../src/runtime/runs/run/run-in-process.js';
import type { CallPort } from '../../src/runtime/tools/port.js';
import type { Registry } from '../../src/runtime/tools/registry.js';
import * as runtime from '../../src/runtime/tools/registry.js';
import { isNightly } from '../nightly.js';
import { PROPERTY_SEED } from '../property-seed.js';
import { FIXTURES } from './fixture.js';
import {
  type Fault,
  faults,
  type GeneratedStep,
  type GeneratedWorkflow,
  generatedWorkflow,
  printWorkflow,
  SURROUNDINGS,
} from './generated-workflow.fixture.js';

const closed = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const texts: JsonSchema = { type: 'array', items: { type: 'string' } };
const echoFields = { text: { type: 'string' }, n: { type: 'number' }, list: texts };
const outputSchema = closed(echoFields, ['text', 'n', 'list']);

const environment: CheckEnvironment = {
  tools: new Map([
    [
      'echo',
      { inputSchema: closed(echoFields, ['text']), outputSchema, annotations: { idempotentHint: true } },
    ],
    ['broken', { inputSchema: closed({ text: { type: 'string' } }, []), outputSchema }],
  ]),
  resources: new Map([
    ['guide', { uri: 'notes://guide' }],
    ['page', { uri: 'notes://pages/{name}/{+rest}' }],
  ]),
};

/** Reads one module as codegen does. */
function read(text: string) {
  const overlay = new Map([['generated.ts', text]]);
  const tsconfig = '../tsconfig.fixtures.json';
  const host = new SourceHost({ root: FIXTURES, tsconfig, files: ['generated.ts'], overlay });
  const extracted = extract(host.sourceFiles());
  return { extracted, linked: link(extracted.value) };
}

/** The text of the registry of a module without faults. */
function emitted(text: string): { readonly registry: string; readonly graphs: readonly Graph[] } {
  const { extracted, linked } = read(text);
  const { value: declarations, diagnostics } = extracted;
  expect([...diagnostics, ...linked.diagnostics].filter(({ severity }) => severity === 'error')).toEqual([]);
  const fingerprint = 'f';
  const schemas = {
    tools: new Map(declarations.tools.map((tool) => [tool, { inputSchema: closed({}, []), fingerprint }])),
    resources: new Map(declarations.resources.map((resource) => [resource, { fingerprint }])),
    untyped: [],
  };
  const parts = { workflows: linked.value, prompts: [], hints: new Map() };
  const registry = emitRegistry(assemble(declarations, schemas, parts), 'generated/registry.ts');
  return { registry, graphs: linked.value.map(({ graph }) => graph) };
}

/** Runs the text of a registry; each export of the module it imports is an object that holds its name. */
function load(registry: string): Registry {
  const { outputText } = ts.transpileModule(registry, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const named = new Map<string | symbol, object>();
  const source = new Proxy(
    { __esModule: true },
    {
      get: (_, name) => {
        if (name === '__esModule') return true;
        const known = named.get(name) ?? { export: name };
        named.set(name, known);
        return known;
      },
    },
  );
  const exports: { registry?: Registry } = {};
  const required = (path: string): unknown => (path === 'stepwright/runtime' ? runtime : source);
  new Function('exports', 'require', outputText)(exports, required);
  if (exports.registry === undefined) throw new Error('no registry');
  return exports.registry;
}

/** Compiles workflows in one program, since opening a program is slow. */
function compile(workflows: readonly (readonly GeneratedStep[])[]) {
  let text = SURROUNDINGS;
  const lines = workflows.map((steps, index) => {
    const first = text.split('\n').length;
    text += printWorkflow(`w${index}`, steps);
    return { first, last: text.split('\n').length - 1 };
  });
  text += 'const hidden = (text: string): string => text;\n';
  const { extracted, linked } = read(text);
  const known = new Map(linked.value.map(({ graph }) => [graph.name, graph]));
  const beside = { ...environment, workflows: known };
  const checked = linked.value.flatMap(({ graph }) => checkGraph(graph, beside));
  const errors = [...extracted.diagnostics, ...linked.diagnostics, ...checked].filter(
    ({ severity }) => severity === 'error',
  );
  const whole = (graph: Graph | undefined) => graph && bundle(graph, (name) => known.get(name));
  return workflows.map((steps, index) => {
    const { first = 0, last = 0 } = lines[index] ?? {};
    const own = errors.filter(({ place }) => place && place.span[0] >= first && place.span[0] <= last);
    // There are three lines of arguments between the class and its steps.
    const stepAt = ({ place }: Diagnostic) => steps[(place?.span[0] ?? 0) - first - 5]?.name;
    return {
      errors: own.map((error) => ({ code: error.code, step: stepAt(error) })),
      graph: errors.length > 0 ? known.get(`w${index}`) : whole(known.get(`w${index}`)),
    };
  });
}

const UPPER = (text: string, times?: number): string => text.toUpperCase() + '!'.repeat(times ?? 1);
const size = (out: { text: string; list: string[] }): number => out.text.length + out.list.length;

/** Expands the variables of a template in an address (RFC 6570), for the characters of generated texts. */
const encoded = (text: string): string => encodeURIComponent(text).replaceAll('!', '%21');
const encodedInPart = (text: string): string => encodeURI(text).replace(/%25([0-9A-Fa-f]{2})/g, '%$1');

const calls: CallPort = {
  async callTool(name, input) {
    if (name === 'echo') return { ok: true, value: { n: 0, list: [], ...input } };
    return { ok: false, attempted: true, failure: { code: 'E_TOOL_ERROR', message: 'it broke' } };
  },
  async readResource(_name, uri) {
    return { ok: true, value: { uri, text: `text of ${uri}` } };
  },
  async evaluate({ name }, args) {
    const [first, second] = args;
    // The compiler has checked that the functions accept these.
    const value = name === 'shout' ? UPPER(first as string, second as number) : size(first as never);
    return { ok: true, value };
  },
};

async function run(graph: Graph, input: JsonObject) {
  const context = { requestId: '1', progress: () => {} };
  const { status, result, failure } = await runInProcess({ graph, input, runId: 'r', calls, context });
  return { status, result, failure };
}

/** The same workflow as plain TypeScript, with verbs that act at once: fields are initialised in order there as well. */
function evaluateDirectly({ steps, input }: GeneratedWorkflow): Json {
  const fields = steps.map(({ name, initializer }) => `  ${name} = ${initializer};`).join('\n');
  const source = `class W { task = input.task; limit = input.limit; note = input.note;\n${fields}\n}\nreturn new W().output;`;
  const { outputText } = ts.transpileModule(`function begin() { ${source} }`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, useDefineForClassFields: true },
  });
  const state = new Map([['last', 'none yet']]);
  let broken: { code: string; message: string; attempts: number } | undefined;
  const verbs = {
    input,
    Echo: 'echo',
    Broken: 'broken',
    Guide: 'notes://guide',
    Page: 'page',
    shout: UPPER,
    size,
    call: (tool: string, given: object = {}, options?: { transform?: (value: unknown) => unknown }) => {
      if (tool === 'broken') broken = { code: 'E_TOOL_ERROR', message: 'it broke', attempts: 1 };
      const value = { n: 0, list: [], ...JSON.parse(JSON.stringify(given)) };
      return options?.transform === undefined ? value : options.transform(value);
    },
    read: (resource: string, variables?: { name: string; rest: string }) =>
      variables === undefined
        ? `text of ${resource}`
        : `text of notes://pages/${encoded(variables.name)}/${encodedInPart(variables.rest)}`,
    link: (uri: string) => ({ uri }),
    prompt: (parts: TemplateStringsArray, ...values: readonly unknown[]) =>
      String.raw({ raw: parts }, ...values),
    Sub: 'sub',
    Last: 'last',
    run: (_: string, { text, n = 1 }: { text: string; n?: number }) => ({
      ...{ text: text + text, n },
      list: [state.get('last')],
    }),
    match: (value: string | number, arms: Record<string, unknown>) => arms[value],
    parallel: (branches: object) => branches,
    forEach: (items: readonly unknown[], body: (item: unknown, index: number) => unknown) =>
      items.map((item, index) => body(item, index) ?? null),
    set: (field: string, value: string) => {
      state.set(field, value);
      return value;
    },
    get: (field: string) => state.get(field),
    fail: () => {
      throw new Error('a value was missing');
    },
    done: (value: unknown) => value,
    chain: (first: unknown, ...rest: readonly ((value: unknown) => unknown)[]) =>
      rest.reduce((value, next) => next(value), first),
    attempt: (value: unknown, fallback: (error: unknown) => unknown) => {
      const error = broken;
      broken = undefined;
      return error === undefined ? value : fallback(error);
    },
  };
  const start = new Function(...Object.keys(verbs), `${outputText}; return begin();`);
  return JSON.parse(JSON.stringify(start(...Object.values(verbs)))) as Json;
}

const WORKFLOWS = isNightly ? 150 : 5;

describe('generated workflows', { timeout: 120_000 }, () => {
  const seed = PROPERTY_SEED;
  // Sampled once for all tests: to generate workflows takes longer than to compile them.
  const workflows = fc.sample(generatedWorkflow, { numRuns: WORKFLOWS, seed });

  test('have no errors, and the same results as their source as plain TypeScript', async () => {
    const compiled = compile(workflows.map(({ steps }) => steps));
    for (const [index, workflow] of workflows.entries()) {
      const about = { seed, index, steps: workflow.steps, input: workflow.input };
      const { errors, graph } = compiled[index] ?? { errors: ['not compiled'] };
      expect({ ...about, errors }).toEqual({ ...about, errors: [] });
      if (graph === undefined) throw new Error(`no graph: ${JSON.stringify(about)}`);
      const outcome = await run(graph, workflow.input);
      const result = evaluateDirectly(workflow);
      expect({ ...about, ...outcome }).toEqual({ ...about, status: 'succeeded', failure: undefined, result });
    }
  });

  test('are the same graphs in the emitted registry', () => {
    const classes = workflows.slice(0, 50).map(({ steps }, index) => printWorkflow(`w${index}`, steps));
    const { registry, graphs } = emitted(SURROUNDINGS + classes.join(''));
    const loaded = load(registry);
    expect(registryChecksum(loaded)).toBe(loaded.checksum);
    expect(Object.keys(loaded.workflows)).toHaveLength(graphs.length);
    for (const graph of graphs) {
      const about = { seed, name: graph.name };
      const entry = loaded.workflows[graph.name];
      if (entry === undefined) throw new Error(`not loaded: ${JSON.stringify(about)}`);
      expect({ ...about, graph: entry.graph }).toEqual({
        ...about,
        graph: JSON.parse(canonicalGraph(graph)),
      });
      expect(entry.hash).toBe(hashGraph(graph));
      expect(hashGraph(entry.graph)).toBe(hashGraph(graph));
      // A stored run is restored from its JSON.
      const json: unknown = JSON.parse(JSON.stringify(entry.graph));
      expect(parseGraph(json)).toEqual({ ok: true, graph: entry.graph });
    }
  });

  test('report every injected fault, at its step', () => {
    const puts = fc.sample(fc.tuple(fc.constantFrom(...faults), fc.nat()), {
      numRuns: WORKFLOWS * 0.8,
      seed,
    });
    const spoilt = puts.map(([fault, at], which) => {
      const { steps } = workflows[which] as GeneratedWorkflow;
      const index = at % (steps.length - 1);
      return { fault, name: spoiltName(steps, index, fault), steps: spoil(steps, index, fault) };
    });
    const compiled = compile(spoilt.map(({ steps }) => steps));
    for (const [index, { fault, name, steps }] of spoilt.entries()) {
      const about = { seed, index, code: fault.code, steps };
      const { errors } = compiled[index] ?? { errors: [] };
      const found = errors.some(({ code, step }) => code === fault.code && step === name);
      expect({ ...about, errors, found }).toEqual({ ...about, errors, found: true });
      // Consequences of a fault are not reported, except for steps that need a value of another form.
      const others = errors.filter(({ code, step }) => step !== name && !code.startsWith('SW40'));
      expect({ ...about, others }).toEqual({ ...about, others: [] });
    }
  });

  test('report all injected faults of one workflow', () => {
    const several = fc.tuple(fc.shuffledSubarray([...faults], { minLength: 2, maxLength: 4 }), fc.nat());
    const spoilt = fc.sample(several, { numRuns: WORKFLOWS * 0.5, seed }).map(([chosen, start], which) => {
      const { steps } = workflows[which] as GeneratedWorkflow;
      const places = steps.length - 1;
      const put = chosen.slice(0, places).map((fault, each) => ({ fault, at: (start + each) % places }));
      const expected = put.map(({ fault, at }) => ({ code: fault.code, step: steps[at]?.name }));
      return { steps: put.reduce((now, { fault, at }) => spoil(now, at, fault), steps), expected };
    });
    const compiled = compile(spoilt.map(({ steps }) => steps));
    for (const [index, { steps, expected }] of spoilt.entries()) {
      const { errors } = compiled[index] ?? { errors: [] };
      const about = { seed, index, steps, errors };
      expect({ ...about, found: expected.filter((fault) => has(errors, fault)) }).toEqual({
        ...about,
        found: expected,
      });
    }
  });
});

const has = (errors: readonly object[], fault: object): boolean =>
  errors.some((error) => isDeepStrictEqual(error, fault));

describe('the names of handles', { timeout: 120_000 }, () => {
  const seed = PROPERTY_SEED;
  const names = fc.oneof(
    fc.stringMatching(/^[a-z][a-z0-9_-]{0,20}$/),
    fc.constantFrom('constructor', 'prototype', 'default', 'a-b_c-', 'x'.repeat(62)),
  );
  // Names that the registry declares itself, names of globals, and names that are not ASCII.
  const classNames = fc.oneof(
    fc.stringMatching(/^[A-Z_$][A-Za-z0-9_$]{0,8}$/),
    fc.constantFrom(
      'registry',
      'defineRegistry',
      'ToolName',
      'ArgsOf',
      'InstanceType',
      'Object',
      'Größe',
      'é',
    ),
  );
  const handles = fc.uniqueArray(
    fc.record({ name: names, className: classNames, exported: fc.constantFrom('itself', 'renamed') }),
    { minLength: 1, maxLength: 60, selector: ({ name }) => name },
  );
  const RESERVED = /^(?:call|done|link|prompt|Resource|Step|Tool|Workflow|Uses)$/;

  test('are in the registry, each with its class', () => {
    for (const sampled of fc.sample(handles, { numRuns: isNightly ? 12 : 2, seed })) {
      const known = new Set<string>();
      const tools = sampled.filter(({ className }) => {
        const isFree = !known.has(className) && !RESERVED.test(className);
        known.add(className);
        return isFree;
      });
      const text = tools.map(({ name, className, exported }, index) =>
        [
          `@Tool({ name: '${name}', description: 'x' })`,
          `${exported === 'itself' ? 'export ' : ''}class ${className} { execute() { return {}; } }`,
          exported === 'renamed' ? `export { ${className} as Renamed${index} };` : '',
          `@Resource({ name: 'r-${index}', description: 'x' })`,
          `export class Resource${index} { static readonly uri = 'test://${name}/${index}'; read() { return ''; } }`,
        ].join('\n'),
      );
      const steps = tools.map(
        ({ className }, index) =>
          `@Step() s${index} = call(${className}); @Step() t${index} = prompt\`\${${className}} \${Resource${index}}\`;`,
      );
      const { registry } = emitted(`import { call, prompt, Resource, Step, Tool, Workflow } from 'stepwright';
${text.join('\n')}
@Workflow({ name: 'uses', description: 'x' })
export class Uses { ${steps.join('\n')} }
`);
      const about = { seed, tools };
      const loaded = load(registry);
      const classes = Object.entries(loaded.tools).map(([name, entry]) => [name, entry.class]);
      expect({ ...about, classes: new Map(classes as [string, unknown][]) }).toEqual({
        ...about,
        classes: new Map(
          tools.map(({ name, className, exported }, index) => [
            name,
            { export: exported === 'itself' ? className : `Renamed${index}` },
          ]),
        ),
      });
      const nodes = loaded.workflows.uses?.graph.nodes ?? [];
      const called = nodes.flatMap((node) => (node.kind === 'call' ? [node.tool] : []));
      const written = nodes.flatMap((node) =>
        node.kind === 'compute' && node.value.kind === 'text' ? [node.value.parts.join('')] : [],
      );
      expect({ ...about, called }).toEqual({ ...about, called: tools.map(({ name }) => name) });
      expect({ ...about, written }).toEqual({
        ...about,
        written: tools.map(({ name }, index) => `${name} test://${name}/${index}`),
      });
    }
  });
});

function spoil(steps: readonly GeneratedStep[], index: number, fault: Fault): readonly GeneratedStep[] {
  return steps.map((step, each) => (each === index ? fault.spoil(step) : step));
}

function spoiltName(steps: readonly GeneratedStep[], index: number, fault: Fault): string | undefined {
  const step = steps[index];
  return step && fault.spoil(step).name;
}
