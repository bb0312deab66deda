import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import type { CheckEnvironment } from '../../check/check-graph.js';
import { parsePath } from '../../graph/guidance.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../graph/json.js';
import { runInProcess } from '../../runtime/runs/run/run-in-process.js';
import type { SequentialBuilder } from './builders.js';
import {
  constant,
  type DataSource,
  DuplicateNameError,
  fromResource,
  fromStep,
  InvalidMappingError,
  MissingToolError,
  promptArg,
  resourceHandle,
  sequential,
  step,
  toolHandle,
  UnknownBindingError,
  type WorkflowError,
} from './index.js';

/** A source of a generated step; `step` counts back from the step that has it. */
type Source =
  | { readonly kind: 'argument'; readonly name: string }
  | { readonly kind: 'step'; readonly back: number; readonly path?: string }
  | { readonly kind: 'constant'; readonly value: Json }
  | { readonly kind: 'resource'; readonly uri: string };

interface Step {
  readonly tool: string;
  readonly args: Readonly<Record<string, Source>>;
  readonly transform?: string;
}

const ARGUMENTS = ['task', 'date', 'äöü', '$x'];
const TOOLS = ['echo', 'say-again', 't_2'];
const URIS = ['res://a', 'file:///b', 'logseq://c/d'];
/** Every path of what an echo gives: `{ given, list: [{ c: text }, [1, 2]] }`. */
const PATHS = ['list', 'list.0', 'list.0.c', 'list.1.1', 'given', 'list.length'];

const outputSchema: JsonSchema = {
  type: 'object',
  properties: {
    given: { type: 'object' },
    list: {
      type: 'array',
      prefixItems: [
        { type: 'object', properties: { c: { type: 'string' } }, additionalProperties: false },
        { type: 'array', items: { type: 'integer' } },
      ],
      items: false,
    },
  },
  required: ['given', 'list'],
  additionalProperties: false,
};

const environment: CheckEnvironment = {
  tools: new Map(TOOLS.map((name) => [name, { inputSchema: { type: 'object' }, outputSchema }])),
  resources: new Map(URIS.map((uri, index) => [`resource-${index}`, { uri }])),
};

const echo = (given: JsonObject): JsonObject => ({ given, list: [{ c: 'deep' }, [1, 2]] });

const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.stringify(value))
  // No constant may have this key.
  .filter((text) => !text.includes('"__proto__"'))
  .map((text) => JSON.parse(text) as Json);

const source: fc.Arbitrary<Source> = fc.oneof(
  fc.record({ kind: fc.constant('argument' as const), name: fc.constantFrom(...ARGUMENTS) }),
  fc.record(
    {
      kind: fc.constant('step' as const),
      back: fc.integer({ min: 1, max: 10 }),
      path: fc.constantFrom(...PATHS),
    },
    { requiredKeys: ['kind', 'back'] },
  ),
  fc.record({ kind: fc.constant('constant' as const), value: json }),
  fc.record({ kind: fc.constant('resource' as const), uri: fc.constantFrom(...URIS) }),
);

const generated: fc.Arbitrary<Step[]> = fc
  .array(
    fc.record(
      {
        tool: fc.constantFrom(...TOOLS),
        args: fc.dictionary(fc.constantFrom('x', 'y', 'the thing', 'z-1'), source, { maxKeys: 4 }),
        transform: fc.constantFrom(...PATHS),
      },
      { requiredKeys: ['tool', 'args'] },
    ),
    { minLength: 1, maxLength: 10 },
  )
  // A path is read from a whole output; what a transform has left is read as a whole.
  .map((steps) =>
    steps.map((each, index) => ({
      ...each,
      args: Object.fromEntries(
        Object.entries(each.args)
          .filter(([, given]) => given.kind !== 'step' || given.back <= index)
          .map(([name, given]) => {
            if (given.kind !== 'step' || steps[index - given.back]?.transform === undefined)
              return [name, given];
            return [name, { kind: given.kind, back: given.back }];
          }),
      ),
    })),
  );

function toSource(given: Source, index: number): DataSource {
  switch (given.kind) {
    case 'argument':
      return promptArg(given.name);
    case 'step':
      return fromStep(`s${index - given.back}`, given.path);
    case 'constant':
      return constant(given.value);
    case 'resource':
      return fromResource(resourceHandle(given.uri));
  }
}

function toStep({ tool, args, transform }: Step, index: number) {
  const bound = step(toolHandle(tool)).bind(`s${index}`);
  const given = Object.entries(args).reduce(
    (built, [name, from]) => built.arg(name, toSource(from, index)),
    bound,
  );
  return transform === undefined ? given : given.transform(transform);
}

function toWorkflow(steps: readonly Step[]): SequentialBuilder {
  const start = ARGUMENTS.reduce(
    (built, name) => built.argument(name, 'Something', true),
    sequential('generated', 'try it'),
  );
  return steps.reduce((built, each, index) => built.step(toStep(each, index)), start);
}

const INPUT: JsonObject = Object.fromEntries(ARGUMENTS.map((name, index) => [name, `${name} ${index}`]));

function read(value: Json | undefined, path: string | undefined): Json | undefined {
  return (path === undefined ? [] : (parsePath(path) ?? [])).reduce<Json | undefined>((of, key) => {
    if (key === 'length' && Array.isArray(of)) return of.length;
    if (Array.isArray(of)) return of[Number(key)];
    return isJsonObject(of) ? of[key] : undefined;
  }, value);
}

/** What every call is given, worked out without a graph. */
function expectedCalls(steps: readonly Step[]): { tool: string; input: JsonObject }[] {
  const values: (Json | undefined)[] = [];
  return steps.map(({ tool, args, transform }, index) => {
    const input = Object.fromEntries(
      Object.entries(args).map(([name, given]): [string, Json | undefined] => {
        switch (given.kind) {
          case 'argument':
            return [name, INPUT[given.name]];
          case 'step':
            return [name, read(values[index - given.back], given.path)];
          case 'constant':
            return [name, given.value];
          case 'resource':
            return [name, `text of ${given.uri}`];
          default:
            return given satisfies never;
        }
      }),
    ) as JsonObject;
    values.push(read(echo(input), transform));
    return { tool, input };
  });
}

describe('every generated workflow', () => {
  test('has no diagnostics, and all its references have values in a run', async () => {
    await fc.assert(
      fc.asyncProperty(generated, async (steps) => {
        const { graph } = toWorkflow(steps).build(environment);
        const calls: { tool: string; input: JsonObject }[] = [];
        const { status } = await runInProcess({
          graph,
          input: INPUT,
          runId: 'run-1',
          context: { requestId: '1', progress() {} },
          calls: {
            async callTool(tool, input) {
              calls.push({ tool, input });
              return { ok: true, value: echo(input) };
            },
            async readResource(name, uri) {
              expect(environment.resources.get(name)?.uri).toBe(uri);
              return { ok: true, value: { uri, text: `text of ${uri}` } };
            },
            async evaluate() {
              throw new Error('nothing is to be evaluated');
            },
          },
        });
        expect(status).toBe('succeeded');
        expect(calls).toEqual(expectedCalls(steps));
      }),
      { numRuns: isNightly ? 200 : 20 },
    );
  });
});

/** A fault put into a sound workflow, and the error that says so. */
interface Fault {
  readonly put: (steps: readonly Step[], at: number, later: number) => SequentialBuilder;
  readonly says: (error: WorkflowError, at: number, later: number) => boolean;
}

/** The workflow with more said about one step. */
function changed(
  steps: readonly Step[],
  at: number,
  change: (built: ReturnType<typeof toStep>) => ReturnType<typeof toStep>,
): SequentialBuilder {
  const before = toWorkflow(steps.slice(0, at));
  return steps
    .slice(at)
    .reduce(
      (built, each, index) => built.step(index === 0 ? change(toStep(each, at)) : toStep(each, at + index)),
      before,
    );
}

const faults: Readonly<Record<string, Fault>> = {
  'an unknown binding': {
    put: (steps, at) => changed(steps, at, (built) => built.arg('w', fromStep('missing', 'a'))),
    says: (error, at) =>
      error instanceof UnknownBindingError && error.step === `s${at}` && error.binding === 'missing',
  },
  'a binding of a later step': {
    put: (steps, at, later) => changed(steps, at, (built) => built.arg('w', fromStep(`s${later}`))),
    says: (error, at, later) =>
      error instanceof UnknownBindingError && error.step === `s${at}` && error.binding === `s${later}`,
  },
  'an undeclared argument': {
    put: (steps, at) => changed(steps, at, (built) => built.arg('w', promptArg('nothing'))),
    says: (error, at) =>
      error instanceof InvalidMappingError && error.step === `s${at}` && error.reason.includes("'nothing'"),
  },
  'a binding that is given twice': {
    put: (steps, at, later) => changed(steps, later, (built) => built.bind(`s${at}`)),
    says: (error, at) => error instanceof DuplicateNameError && error.duplicate === `s${at}`,
  },
  'a tool that is missing': {
    put: (steps, at) =>
      toWorkflow(steps.map((each, index) => (index === at ? { ...each, tool: 'missing-tool' } : each))),
    says: (error) => error instanceof MissingToolError && error.tool === 'missing-tool',
  },
};

describe('every fault is reported', () => {
  const places = fc.tuple(generated, fc.nat(), fc.nat()).map(([steps, first, second]) => {
    const more: Step[] = steps.length > 1 ? steps : [...steps, { tool: 'echo', args: {} }];
    const at = first % (more.length - 1);
    return { steps: more, at, later: at + 1 + (second % (more.length - 1 - at)) };
  });

  test.each(Object.entries(faults))('%s', (_, { put, says }) => {
    fc.assert(
      fc.property(places, ({ steps, at, later }) => {
        const result = put(steps, at, later).tryBuild(environment);
        const problems = result.ok ? [] : result.problems;
        expect(problems.filter((error) => says(error, at, later))).toHaveLength(1);
      }),
    );
  });

  test('all faults of a workflow at once', () => {
    fc.assert(
      fc.property(
        generated,
        fc.subarray(Object.keys(faults).slice(0, 3), { minLength: 1 }),
        (steps, names) => {
          const broken = changed(steps, 0, (built) =>
            names.reduce(
              (more, name, index) =>
                more.arg(`w${index}`, name === 'an undeclared argument' ? promptArg('n') : fromStep(name)),
              built,
            ),
          );
          const result = broken.tryBuild(environment);
          expect(result.ok ? 0 : result.problems.length).toBe(names.length);
        },
      ),
    );
  });
});
