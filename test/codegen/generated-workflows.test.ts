import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { printLiteral } from '../../src/codegen/emit/literal.js';
import { extract } from '../../src/codegen/extract/extract.js';
import { link } from '../../src/codegen/link/link.js';
import { openSourceHost } from '../../src/codegen/source-host.js';
import { hashGraph } from '../../src/graph/canonical.js';
import { type CheckEnvironment, checkGraph } from '../../src/graph/check/check-graph.js';
import type { Diagnostic } from '../../src/graph/diagnostics/diagnostic.js';
import type { Json, JsonObject, JsonSchema } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { parseGraph } from '../../src/graph/schema.js';
import type { CallPort } from '../../src/runtime/catalogue/port.js';
import { runInProcess } from '../../src/runtime/hosts/in-process/run-in-process.js';
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

/** Compiles workflows in one program, since opening one is what takes time. */
function compile(workflows: readonly (readonly GeneratedStep[])[]) {
  let text = SURROUNDINGS;
  const lines = workflows.map((steps, index) => {
    const first = text.split('\n').length;
    text += printWorkflow(`w${index}`, steps);
    return { first, last: text.split('\n').length - 1 };
  });
  text += 'const hidden = (text: string): string => text;\n';
  const overlay = new Map([['generated.ts', text]]);
  const tsconfig = '../../../tsconfig.json';
  const host = openSourceHost({ root: FIXTURES, tsconfig, files: ['generated.ts'], overlay });
  const extracted = extract(host.sourceFiles());
  const linked = link(extracted.value);
  const checked = linked.value.flatMap(({ graph }) => checkGraph(graph, environment));
  const errors = [...extracted.diagnostics, ...linked.diagnostics, ...checked].filter(
    ({ severity }) => severity === 'error',
  );
  const graphs = new Map(linked.value.map(({ graph }) => [graph.name, graph]));
  return workflows.map((steps, index) => {
    const { first = 0, last = 0 } = lines[index] ?? {};
    const own = errors.filter(({ place }) => place && place.span[0] >= first && place.span[0] <= last);
    // Three lines of arguments stand between the class and its steps.
    const stepAt = ({ place }: Diagnostic) => steps[(place?.span[0] ?? 0) - first - 5]?.name;
    return {
      errors: own.map((error) => ({ code: error.code, step: stepAt(error) })),
      graph: graphs.get(`w${index}`),
    };
  });
}

const UPPER = (text: string, times?: number): string => text.toUpperCase() + '!'.repeat(times ?? 1);
const size = (out: { text: string; list: string[] }): number => out.text.length + out.list.length;

/** What the variables of a template become in an address (RFC 6570), as far as generated texts go. */
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
    // The compiler has seen to it that these are what the functions take.
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
  const { outputText } = ts.transpileModule(`function run() { ${source} }`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, useDefineForClassFields: true },
  });
  let broken: { code: string; message: string; attempts: number } | undefined;
  const verbs = {
    input,
    Echo: 'echo',
    Broken: 'broken',
    Guide: 'notes://guide',
    Page: 'page',
    shout: UPPER,
    size,
    call: (tool: string, given: object, options?: { transform?: (value: unknown) => unknown }) => {
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
  const start = new Function(...Object.keys(verbs), `${outputText}; return run();`);
  return JSON.parse(JSON.stringify(start(...Object.values(verbs)))) as Json;
}

describe('generated workflows', { timeout: 120_000 }, () => {
  const seed = Date.now();
  const workflows = fc.sample(generatedWorkflow, { numRuns: 150, seed });

  test('have no errors, and give what the same source gives as plain TypeScript', async () => {
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

  test('are the same graphs when they are loaded again', () => {
    for (const { graph } of compile(workflows.slice(0, 50).map(({ steps }) => steps))) {
      if (graph === undefined) throw new Error(`no graph, seed ${seed}`);
      const json: unknown = JSON.parse(JSON.stringify(graph));
      const parsed = parseGraph(json);
      expect(parsed).toEqual({ ok: true, graph });
      const printed: unknown = new Function(`return (${printLiteral(json as Json)});`)();
      expect(printed).toEqual(json);
      expect(hashGraph(printed as Graph)).toBe(hashGraph(graph));
    }
  });

  test('report every fault that is put into them, at the step it is put into', () => {
    const spoilt = fc.sample(
      fc.tuple(generatedWorkflow, fc.constantFrom(...faults), fc.nat()).map(([{ steps }, fault, at]) => {
        const index = at % (steps.length - 1);
        return { fault, name: spoiltName(steps, index, fault), steps: spoil(steps, index, fault) };
      }),
      { numRuns: 120, seed },
    );
    const compiled = compile(spoilt.map(({ steps }) => steps));
    for (const [index, { fault, name, steps }] of spoilt.entries()) {
      const about = { seed, index, code: fault.code, steps };
      const { errors } = compiled[index] ?? { errors: [] };
      const found = errors.some(({ code, step }) => code === fault.code && step === name);
      expect({ ...about, errors, found }).toEqual({ ...about, errors, found: true });
      // What follows from a fault is none, but for steps that count on a value of another form.
      const others = errors.filter(({ code, step }) => step !== name && !code.startsWith('SW40'));
      expect({ ...about, others }).toEqual({ ...about, others: [] });
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
