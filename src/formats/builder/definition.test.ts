import { describe, expect, test } from 'vitest';
import type { SequentialBuilder } from './builders.js';
import {
  fromModel,
  fromResource,
  fromStep,
  InvalidNameError,
  InvalidOptionError,
  output,
  sequential,
  step,
  toolHandle,
  WorkflowBuildError,
  type WorkflowError,
} from './index.js';
import { ListPages } from './tools.fixture.js';

const start = sequential('w', 'do it');
const list = step(ListPages).bind('list');
const any = () => step(toolHandle('any'));

function problemsOf(workflow: SequentialBuilder): readonly WorkflowError[] {
  const result = workflow.tryBuild();
  return result.ok ? [] : result.problems;
}

/** The one problem of a workflow. */
function problem(workflow: SequentialBuilder): WorkflowError {
  const problems = problemsOf(workflow);
  expect(problems.map(({ message }) => message)).toHaveLength(1);
  return problems[0] as WorkflowError;
}

describe('an argument', () => {
  const declared = (options: object) => start.argument('x', 'X', { required: false, ...options }).step(list);

  test.each<[string, object]>([
    [
      "'schema' at '/pattern' is not a regular expression: /(/u: Unterminated group",
      { schema: { pattern: '(' } },
    ],
    [
      "'schema' at '/properties/a/pattern' is not a regular expression: /[/u: Unterminated character class",
      { schema: { properties: { a: { pattern: '[' } } } },
    ],
    ["'schema' is not an object", { schema: [] }],
    ["'schema' is not JSON: it holds a function", { schema: { type: () => 'text' } }],
    [
      "'default' does not fit the schema: it must be <= 3",
      { schema: { type: 'number', maximum: 3 }, default: 4 },
    ],
    ["'default' does not fit the schema: it must be string", { default: 4 }],
    ["'default' does not fit the schema: it is not JSON: it holds NaN", { schema: {}, default: Number.NaN }],
  ])('is refused: %s', (reason, options) => {
    const found = problem(declared(options));
    expect(found).toBeInstanceOf(InvalidOptionError);
    expect(found).toMatchObject({
      code: 'SW4015',
      owner: "argument 'x'",
      message: `Invalid option of argument 'x': ${reason}`,
    });
  });

  test.each([{ $ref: 'http://evil.example/' }, { type: 'nope' }, { minLength: -1 }])(
    'has no schema such as %j',
    (schema) => {
      const found = problem(declared({ schema }));
      expect(found).toBeInstanceOf(InvalidOptionError);
      expect(found).toMatchObject({ owner: "argument 'x'" });
    },
  );

  test('with a schema and a fitting default is accepted', () => {
    expect(problemsOf(declared({ schema: { type: 'integer', minimum: 1 }, default: 3 }))).toEqual([]);
  });
});

describe('a value of a wrong type', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a program in JavaScript has no types
  const junk = (value: unknown): any => value;

  test.each<[string, () => SequentialBuilder]>([
    [
      "Invalid argument mapping in step 'any': 'a' is given null.",
      () => start.step(any().arg('a', junk(null)).bind('any')),
    ],
    [
      "Invalid argument mapping in step '1': 'a' is given 'task'.",
      () => start.step(any().arg('a', junk('task'))),
    ],
    [
      "Invalid argument mapping in step '1': 'a' is given an object.",
      () => start.step(any().arg('a', junk({ kind: 'step' }))),
    ],
    ['Invalid option of the workflow: Step 1 was not made with step(…)', () => start.step(junk({}))],
    ['Invalid option of the workflow: Step 1 was not made with step(…)', () => start.step(junk(null))],
    [
      'Invalid option of the workflow: Step 1 was not made with step(…)',
      () => start.step(junk({ definition: {} })),
    ],
    [
      "Invalid option of argument 'a': 'required' is 7. It must be true or false",
      () => start.argument('a', 'A', junk(7)).step(list),
    ],
    [
      "Invalid option of argument 'a': 'required' is null. It must be true or false",
      () => start.argument('a', 'A', junk(null)).step(list),
    ],
    [
      "Invalid option of the workflow: 'name' is 5. It must be text",
      () => sequential(junk(5), 'do it').step(list),
    ],
    [
      "Invalid option of the workflow: 'description' is undefined. It must be text",
      () => sequential('w', junk(undefined)).step(list),
    ],
    [
      "Invalid option of step 'list': 'guidance' is 5. It must be text",
      () => start.step(list.guidance(junk(5))),
    ],
    ["Invalid option of step 1: 'binding' is 5. It must be text", () => start.step(any().bind(junk(5)))],
    [
      "Invalid option of step 'list': 'compensate' is 5. It must be step(…)",
      () => start.step(list.compensate(junk(5))),
    ],
    [
      "Invalid option of step 'list': The step that 'compensate' takes has 'timeoutMs'. It may have '.arg(…)' alone",
      () => start.step(list.compensate(any().timeoutMs(5))),
    ],
    [
      "Invalid argument mapping in step 'list': 'text' is given an object.",
      () => start.step(list.compensate(any().arg('text', fromModel('A text')))),
    ],
    [
      "Invalid option of the error strategy: 'kind' is 'never'. It must be failFast or collect or retry",
      () => start.step(list).errorStrategy(junk({ kind: 'never' })),
    ],
    [
      "Invalid option of the error strategy: 'kind' is undefined. It must be",
      () => start.step(list).errorStrategy(junk(null)),
    ],
    [
      "Invalid option of the error strategy: 'retry' is undefined. It must be",
      () => start.step(list).errorStrategy(junk({ kind: 'retry' })),
    ],
    ["Invalid option of the result: 'value' is null. It must be", () => start.step(list).returns(junk(null))],
    ["Invalid option of the result: 'a' is given 5.", () => start.step(list).returns(junk({ a: 5 }))],
  ])('%s', (message, workflow) => {
    expect(problem(workflow()).message).toContain(message);
    expect(() => workflow().build()).toThrow(WorkflowBuildError);
  });

  test('is reported with all others', () => {
    expect(problemsOf(start.argument(junk(5), junk(6), junk(7)).step(junk({})))).toHaveLength(4);
  });

  test.each(['__proto__', '__proto__.x', 'pages.__proto__'])('the path %s is refused', (path) => {
    const message = `'${path}' is not a field path`;
    expect(problem(start.step(list).step(any().arg('a', fromStep('list', path)))).message).toContain(message);
    expect(problem(start.step(list.transform(path))).message).toContain(message);
    expect(() => output(path)).toThrow(InvalidNameError);
  });

  test.each([null, 5, [], true])('%j is not a transform, a tool or a resource', (value) => {
    expect(problemsOf(start.step(list.transform(junk(value))))).toHaveLength(1);
    expect(problemsOf(start.step(step(junk(value))))).toHaveLength(1);
    expect(problemsOf(start.instruction(junk(value)).step(list))).toHaveLength(1);
    expect(problemsOf(start.step(any().arg('a', fromResource(junk(value)))))).toHaveLength(1);
    expect(problemsOf(start.step(list.retry(junk(value))))).not.toHaveLength(0);
  });
});
