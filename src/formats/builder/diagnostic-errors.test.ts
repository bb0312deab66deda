import { describe, expect, test } from 'vitest';
import type { CheckEnvironment } from '../../check/check-graph.js';
import { hashGraph } from '../../graph/canonical.js';
import type { Json } from '../../graph/json.js';
import type { SequentialBuilder } from './builders.js';
import {
  CircularDependencyError,
  constant,
  DuplicateNameError,
  fromResource,
  fromStep,
  InvalidMappingError,
  InvalidNameError,
  InvalidOptionError,
  InvalidUriError,
  MissingFieldError,
  MissingResourceError,
  MissingToolError,
  OtherWorkflowError,
  OutputFieldNotFoundError,
  output,
  promptArg,
  resourceHandle,
  retry,
  sequential,
  step,
  text,
  toolHandle,
  UnknownBindingError,
  WorkflowBuildError,
  WorkflowError,
} from './index.js';
import { AddTask, environment, Guide, Intro, ListPages } from './tools.fixture.js';

const start = sequential('w', 'do it').argument('task', 'What', true).argument('date', 'When', false);
const list = step(ListPages).bind('list');
const add = step(AddTask).arg('project', constant('p')).arg('task', promptArg('task'));
const any = (name = 'any') => step(toolHandle(name));

function same(value: Json): Json {
  return value;
}

function problemsOf(workflow: SequentialBuilder, known?: CheckEnvironment): readonly WorkflowError[] {
  const result = workflow.tryBuild(known);
  return result.ok ? [] : result.problems;
}

const shown = (problems: readonly WorkflowError[]): string[] =>
  problems.map(({ name, code, message }) => `${name} ${code}: ${message}`);

/** The one problem of a workflow. */
function problem(workflow: SequentialBuilder, known?: CheckEnvironment): WorkflowError {
  const problems = problemsOf(workflow, known);
  expect(shown(problems)).toHaveLength(1);
  return problems[0] as WorkflowError;
}

function expectProblem<E extends WorkflowError>(
  actual: WorkflowError,
  // biome-ignore lint/suspicious/noExplicitAny: constructors differ in what they take
  type: new (...args: any[]) => E,
  fields: Partial<E>,
): void {
  expect(actual).toBeInstanceOf(type);
  expect(actual).toBeInstanceOf(WorkflowError);
  expect(actual.name).toBe(type.name);
  expect(actual).toMatchObject(fields);
}

describe('a binding', () => {
  test('that no step has is unknown', () => {
    const bad = start.step(list).step(any().arg('x', fromStep('lst')));
    expectProblem(problem(bad), UnknownBindingError, {
      code: 'SW3001',
      step: 'any',
      binding: 'lst',
      available: ['list'],
      message: "Step 'any' references unknown binding 'lst'. Available bindings: list. Did you mean 'list'?",
    });
  });

  test('is unknown in the first step', () => {
    expect(problem(start.step(any().arg('x', fromStep('lst')))).message).toBe(
      "Step 'any' references unknown binding 'lst'. There are no bindings to read",
    );
  });

  test('of a later step cannot be read', () => {
    const bad = start.step(any().arg('x', fromStep('list', 'pages'))).step(list);
    expectProblem(problem(bad), UnknownBindingError, {
      code: 'SW3004',
      message:
        "Step 'any' references unknown binding 'list'. There are no bindings to read. " +
        "It is bound by a later step: move 'list' above 'any'",
    });
  });

  test.each([undefined, same])('of the step itself is a circular dependency (transform %o)', (transform) => {
    const self = any().arg('x', fromStep('a')).bind('a');
    const bad = start.step(transform === undefined ? self : self.transform(transform));
    expectProblem(problem(bad), CircularDependencyError, {
      code: 'SW4006',
      workflow: 'w',
      cycle: 'a → a',
      message: "Circular dependency detected in workflow 'w': a → a",
    });
  });

  test('is not the id of a step without a binding', () => {
    const bad = start.step(any('greet')).step(any().arg('x', fromStep('greet')));
    expect(problem(bad).message).toBe(
      "Step 'any' references unknown binding 'greet'. There are no bindings to read. " +
        "The step that calls 'greet' has no binding: add .bind(…) to it",
    );
    const read = start.step(any().arg('x', fromResource(Guide)).bind('a'));
    expectProblem(problem(read.step(any().arg('x', fromStep('a.x')))), UnknownBindingError, {});
    expectProblem(
      problem(start.step(list.transform(same)).step(any().arg('x', fromStep('list.call')))),
      UnknownBindingError,
      {},
    );
  });

  test('is unique', () => {
    const bad = start.step(any().arg('g', fromResource(Guide)).bind('a'));
    expectProblem(problem(bad.step(any().arg('g', fromResource(Guide)).bind('a'))), DuplicateNameError, {
      code: 'SW4009',
      duplicate: 'a',
      message: "Workflow 'w' uses the name 'a' for two steps. Rename one of them",
    });
  });

  test('differs from all arguments', () => {
    expectProblem(problem(start.step(any().bind('task'))), DuplicateNameError, {
      code: 'SW1008',
      message: "Workflow 'w' uses the name 'task' for an argument and a step. Rename one of them",
    });
  });

  test.each(['a.b', 'a-b', 'a b', '__proto__'])('is an identifier, not %j', (name) => {
    expectProblem(problem(start.step(any().bind(name))), InvalidNameError, { code: 'SW1002', invalid: name });
  });
});

describe('an argument', () => {
  test('that the workflow does not declare is undefined', () => {
    expectProblem(problem(start.step(any().arg('x', promptArg('tsk')))), InvalidMappingError, {
      code: 'SW3002',
      step: 'any',
      message:
        "Invalid argument mapping in step 'any': References undefined prompt argument 'tsk'. " +
        "Available arguments: task, date. Did you mean 'task'?",
    });
  });

  test.each([
    [
      { type: 'object', properties: { title: { type: 'string' } } },
      'an object',
      "Name a field of it: '{page.title}'",
    ],
    [{ type: 'array' }, 'a list', "Make a text of it in a 'transform' of an earlier step"],
  ])(
    'of the schema %j cannot be in a text, and the repair is one of the builder',
    (schema, actual, repair) => {
      const withPage = start.argument('page', 'A page', { required: true, schema });
      expectProblem(problem(withPage.step(any().arg('x', text('see {page}')))), OtherWorkflowError, {
        code: 'SW3021',
        message: `Step 'any': 'page' is ${actual}, and a text takes text, numbers and booleans. ${repair}`,
      });
    },
  );

  test('is declared once, with a name and a description', () => {
    const bad = start.argument('task', 'again', false).argument('a b', 'c', true).argument('e', ' ', true);
    expect(shown(problemsOf(bad.step(any())))).toEqual([
      "DuplicateNameError SW1008: Workflow 'w' uses the name 'task' for two arguments. Rename one of them",
      expect.stringMatching(/^InvalidNameError SW1002: 'a b' is not a valid argument name\. Use/),
      "MissingFieldError SW4008: Workflow 'w' is missing required field: description of argument 'e'",
    ]);
  });

  test('has a JSON schema and a JSON default', () => {
    const bad = start.argument('n', 'N', { schema: { type: 'number' }, default: Number.NaN }).step(any());
    expectProblem(problem(bad), InvalidOptionError, {
      code: 'SW4015',
      message:
        "Invalid option of argument 'n': 'default' does not fit the schema: it is not JSON: it holds NaN",
    });
  });

  test('of a tool is given once', () => {
    const bad = start.step(any().arg('x', constant(1)).arg('x', constant(2)));
    expectProblem(problem(bad), InvalidMappingError, { reason: "Argument 'x' is given twice" });
  });

  test('of a tool has no reserved name', () => {
    expectProblem(problem(start.step(any().arg('__proto__', constant(1)))), InvalidNameError, {
      kind: 'argument',
      message: expect.stringMatching(
        /^'__proto__' is not a valid argument name\. `__proto__` is never a name$/,
      ),
    });
  });

  const input = new Date(0) as unknown as Json;
  const cycle: Json[] = [];
  cycle.push(cycle);
  test.each([
    [input, 'it holds an instance of a class'],
    [[Number.POSITIVE_INFINITY], 'it holds Infinity'],
    [{ a: { b: (() => 1) as unknown as Json } }, 'it holds a function'],
    [JSON.parse('{"__proto__":1}') as Json, 'it holds the key `__proto__`'],
    [cycle, 'it is nested deeper than 100 levels'],
  ])('may be a constant only if it is JSON: %#', (value, why) => {
    expectProblem(problem(start.step(any().arg('x', constant(value)))), InvalidMappingError, {
      reason: `The constant is not JSON: ${why}`,
    });
  });

  test.each(['', 'a.', 'a b', 'a[0]'])('reads fields by a path, not %j', (path) => {
    const bad = start.step(list).step(any().arg('x', fromStep('list', path)));
    expectProblem(problem(bad), InvalidMappingError, {
      reason: `'${path}' is not a field path. Write properties and indexes joined by dots, for example 'pages.0.title', or list them: ['pages', 0, 'a key']`,
    });
  });
});

describe('guidance', () => {
  test('refers to arguments and earlier bindings', () => {
    const bad = start.step(list).step(any().guidance('{list} {task} {{x}} {lisst.a} {} {1}').bind('b'));
    const unknown = (name: string, then: string) =>
      `UnknownBindingError SW3006: Step 'b' references unknown binding '${name}'. Available bindings: list. ${then}`;
    expect(shown(problemsOf(bad))).toEqual([
      unknown('lisst', "Did you mean 'list'?"),
      unknown('', 'Write the braces twice for literal text'),
      unknown('1', 'Write the braces twice for literal text'),
    ]);
  });
});

describe('tools and resources', () => {
  test('are assumed to exist without an environment', () => {
    const built = start.instruction(resourceHandle('res://x')).step(any('missing-tool')).build();
    expect(built.requiredTools()).toEqual(['missing-tool']);
  });

  test('that are missing are reported on registration, all at once', () => {
    const built = start
      .instruction(resourceHandle('resource://logseq/intros'))
      .step(any('list-page').bind('a'))
      .step(any('zzz').arg('x', fromResource(Guide)))
      .build();
    const checked = built.checkAgainst({ tools: environment.tools, resources: new Map([['intro', Intro]]) });
    expect(checked.ok ? [] : shown(checked.problems)).toEqual([
      "MissingResourceError SW4002: Workflow 'w' requires unregistered resource 'resource://logseq/intros'. " +
        "Did you mean 'resource://logseq/intro'?",
      "MissingToolError SW4001: Workflow 'w' requires unregistered tool 'list-page'. Did you mean 'list-pages'?",
      "MissingToolError SW4001: Workflow 'w' requires unregistered tool 'zzz'",
      "MissingResourceError SW4002: Workflow 'w' requires unregistered resource 'resource://logseq/guide'. " +
        "Did you mean 'resource://logseq/intro'?",
    ]);
  });

  test('have their registered names', () => {
    const renamed = { ...environment, resources: new Map([['manual', { uri: Guide.uri }]]) };
    expectProblem(problem(start.instruction(Guide).step(add), renamed), MissingResourceError, {
      resource: Guide.uri,
      message:
        "Workflow 'w' requires unregistered resource 'resource://logseq/guide'. " +
        "It is registered as 'manual', not as 'guide'",
    });
  });

  test('are decorated classes', () => {
    class Plain {
      static readonly uri = 'res://plain';
      execute(): string {
        return 'x';
      }
    }
    const bad = start
      .instruction(Plain)
      .step(step(Plain))
      .step(any().arg('x', fromResource(Plain)));
    for (const known of [undefined, { ...environment, tools: new Map([['any', { inputSchema: {} }]]) }]) {
      expect(shown(problemsOf(bad, known))).toEqual([
        "MissingResourceError SW3003: Workflow 'w' requires unregistered resource 'Plain'. " +
          "Class 'Plain' is not decorated with @Resource",
        "MissingToolError SW3003: Workflow 'w' requires unregistered tool 'Plain'. " +
          "Class 'Plain' is not decorated with @Tool",
        "MissingResourceError SW3003: Workflow 'w' requires unregistered resource 'Plain'. " +
          "Class 'Plain' is not decorated with @Resource",
      ]);
    }
  });

  test('accept the inputs of their schemas', () => {
    const bad = start.step(list).step(
      step(AddTask)
        .arg('project', fromStep('list', 'pages'))
        .arg('labels', constant({}))
        // @ts-expect-error Assert the tool takes no such argument
        .arg('datum', promptArg('date')),
    );
    expect(shown(problemsOf(bad, environment))).toEqual([
      "InvalidMappingError SW4003: Invalid argument mapping in step 'add-task': " +
        "step 'add-task' gives tool 'add-task' no 'task'. Add 'task' to the input of the call",
      "InvalidMappingError SW4012: Invalid argument mapping in step 'add-task': " +
        "'project' of tool 'add-task' takes a string, and step 'add-task' gives an array",
      "InvalidMappingError SW4004: Invalid argument mapping in step 'add-task': " +
        "tool 'add-task' of step 'add-task' takes no 'datum'. Did you mean 'date'?",
    ]);
  });

  test('have the outputs of their schemas', () => {
    const bad = start.step(list).step(add.arg('how', fromStep('list', 'pages.0.titel')).bind('a'));
    expectProblem(problem(bad, environment), OutputFieldNotFoundError, {
      code: 'SW4005',
      step: 'list',
      field: 'pages[0].titel',
      message: "Step 'list' output field 'pages[0].titel' not found in result. Did you mean 'title'?",
    });
  });

  test('have absolute URIs', () => {
    class Lost extends Guide {
      static override readonly uri = 'guide' as typeof Guide.uri;
    }
    // What its base was decorated with does not count.
    expectProblem(problem(start.instruction(Lost).step(any())), MissingResourceError, { resource: 'Lost' });
    const { uri } = Guide;
    try {
      Reflect.set(Guide, 'uri', 'guide');
      expectProblem(problem(start.instruction(Guide).step(any())), InvalidUriError, {
        code: 'SW4007',
        uri: 'guide',
        why: 'it has no scheme',
      });
      Reflect.deleteProperty(Guide, 'uri');
      expectProblem(problem(start.instruction(Guide).step(any())), OtherWorkflowError, {
        cause: expect.any(TypeError),
      });
    } finally {
      Reflect.set(Guide, 'uri', uri);
    }
  });
});

describe('a transform', () => {
  const transformed = (transform: Parameters<typeof list.transform>[0]) =>
    problemsOf(
      start
        .step(list.transform(transform))
        .step(add.arg('how', fromStep('list')))
        .step(add.arg('how', fromStep('list'))),
      environment,
    ).map(({ message }) => message);

  test('is checked once, even if no step reads it', () => {
    const expected = "Step 'list' output field 'page' not found in result. Did you mean 'pages'?";
    expect(transformed('page')).toEqual([expected]);
    expect(transformed({ kind: 'text', style: 'js', parts: [output('page')] })).toEqual([expected]);
    expect(problemsOf(start.step(list.transform('page')), environment)).toHaveLength(1);
  });

  test('does not hide the same fault of a reader', () => {
    const wrong = { kind: 'ref', root: 'inputs', path: ['tasc'] } as const;
    const bad = start
      .step(list.transform(wrong))
      .step(any().bind('b').transform(wrong))
      .step(any().arg('x', promptArg('tasc')).arg('y', fromStep('b')));
    expect(problemsOf(bad).map((error) => (error as InvalidMappingError).step)).toEqual(['list', 'b', 'any']);
  });

  test('does not count as a use of what it reads', () => {
    const warned = (workflow: SequentialBuilder) => shown(workflow.build(environment).warnings);
    expect(warned(start.step(list.transform('pages')).step(add.bind('a')))).toEqual([
      "OtherWorkflowError SW3011: argument 'date' of workflow 'w' is never used",
    ]);
  });

  test('has a type that has to fit its readers', () => {
    const truth = { kind: 'not', truth: 'truthy.js', of: output('pages') } as const;
    const bad = start.step(list.transform(truth)).step(add.arg('how', fromStep('list')).bind('a'));
    expect(problem(bad, environment).message).toBe(
      "Invalid argument mapping in step 'a': 'how' of tool 'add-task' takes a string, and step 'a' gives a boolean",
    );
  });

  test('reads only the output and arguments', () => {
    const reason = "Invalid argument mapping in step 'list': The transform reads";
    expect(transformed({ kind: 'ref', root: 'inputs', path: ['tasc'] })).toEqual([
      "Invalid argument mapping in step 'list': References undefined prompt argument 'tasc'. " +
        "Available arguments: task, date. Did you mean 'task'?",
    ]);
    expect(transformed({ kind: 'ref', root: 'steps', path: ['other', 'a'] })).toEqual([
      `${reason} 'steps.other.a'. It may read output() and arguments alone`,
    ]);
    expect(transformed({ kind: 'ref', root: 'local', path: ['x'] })).toEqual([
      `${reason} 'local.x'. It may read output() and arguments alone`,
    ]);
  });

  test('is a path, an expression or a named function', () => {
    const cyclic = { kind: 'not', truth: 'truthy.js', of: output() };
    Reflect.set(cyclic, 'of', cyclic);
    const named = Array.prototype.map as unknown as (value: Json) => Json;
    expect(transformed('a..b')[0]).toContain("'a..b' is not a field path");
    expect(transformed({ kind: 'none' } as never)[0]).toContain('The transform is not an expression: /');
    expect(transformed(cyclic as never)[0]).toContain('nested deeper than 100 levels');
    expect(
      transformed(
        (
          () => (value: Json) =>
            value
        )(),
      )[0],
    ).toContain('The function of the transform has no name');
    expect(transformed(named)[0]).toContain("The source of the function 'map' cannot be read");
    expect(transformed(named.bind([]))[0]).toContain('The function of the transform has no name');
    expect(problemsOf(start.step(list.transform('pages').transform('0')))[0]?.message).toContain('twice');
  });

  test('is named by the workflow and its name, with a number for another function of that name', () => {
    const make = () => ({ pick: (value: Json) => value }).pick;
    const [one, other] = [make(), make()];
    const workflow = () =>
      start
        .step(list.transform(one))
        .step(any().bind('b').transform(other))
        .step(any().bind('c').transform(one));
    const built = workflow().build();
    expect([...built.functions].map(([name, entry]) => [name, entry.function])).toEqual([
      ['w#pick', one],
      ['w#pick-2', other],
    ]);
    const computed = built.graph.nodes.flatMap((node) =>
      node.kind === 'compute' ? [node.function?.name] : [],
    );
    expect(computed).toEqual(['w#pick', 'w#pick-2', 'w#pick']);
    expect(hashGraph(workflow().build().graph)).toBe(hashGraph(built.graph));
  });
});

describe('options', () => {
  test('are numbers in their range', () => {
    const bad = start
      .errorStrategy(retry({ attempts: 0, jitter: 2 }))
      .step(
        list.timeoutMs(0).retry({ attempts: 1.5, delayMs: -1, backoff: 'exponential', capMs: Number.NaN }),
      )
      .step(any().retry({ attempts: 2, backoff: 'linear', capMs: 100 }))
      .step(any().retry({ attempts: 2, backoff: 'x' as 'linear' }));
    const problems = problemsOf(bad);
    expect(problems.map(({ message }) => message)).toEqual([
      "Invalid option of the error strategy: 'attempts' is 0. It must be a whole number from 1 to 100",
      "Invalid option of the error strategy: 'jitter' is 2. It must be from 0 to 1",
      "Invalid option of step 'list': 'timeoutMs' is 0. It must be above 0",
      "Invalid option of step 'list': 'attempts' is 1.5. It must be a whole number from 1 to 100",
      "Invalid option of step 'list': 'delayMs' is -1. It must be from 0 to 3600000 (milliseconds)",
      "Invalid option of step 'list': 'capMs' is NaN. It must be from 0 to 3600000 (milliseconds)",
      "Invalid option of step 'any': 'capMs' is 100. It must be left out unless `backoff` is `'exponential'`",
      "Invalid option of step 'any-2': 'backoff' is x. It must be constant or linear or exponential",
    ]);
    expectProblem(problems[0] as WorkflowError, InvalidOptionError, { code: 'SW4015' });
  });
});

describe('a workflow', () => {
  test('has a name, a description and steps', () => {
    const bad = sequential('', ' ');
    expect(shown(problemsOf(bad))).toEqual([
      "MissingFieldError SW1009: Workflow '' is missing required field: steps",
      "MissingFieldError SW4008: Workflow '' is missing required field: name",
      "MissingFieldError SW4008: Workflow '' is missing required field: description",
    ]);
    expectProblem(problemsOf(bad)[0] as WorkflowError, MissingFieldError, { field: 'steps' });
    expectProblem(problem(sequential('A B', 'd').step(any())), InvalidNameError, { kind: 'workflow' });
  });

  test('throws all its errors, in the order of the calls', () => {
    const bad = start
      .step(any().arg('x', fromStep('nonexistent', 'value')).arg('y', promptArg('missing')))
      .step(any().bind('task'))
      .step(any().guidance('{zzz}'));
    const error = thrown(() => bad.build());
    expect(error).toBeInstanceOf(WorkflowBuildError);
    expect(error).toMatchObject({ name: 'WorkflowBuildError', workflow: 'w' });
    expect((error as WorkflowBuildError).problems.map(({ code }) => code)).toEqual([
      'SW3001',
      'SW3002',
      'SW1008',
      'SW3006',
    ]);
    expect((error as Error).message).toBe(
      [
        "Workflow 'w' has 4 problems:",
        "  SW3001: Step 'any' references unknown binding 'nonexistent'. There are no bindings to read",
        "  SW3002: Invalid argument mapping in step 'any': References undefined prompt argument 'missing'. Available arguments: task, date",
        "  SW1008: Workflow 'w' uses the name 'task' for an argument and a step. Rename one of them",
        "  SW3006: Step 'any-2' references unknown binding 'zzz'. Available bindings: task. Write the braces twice for literal text",
      ].join('\n'),
    );
  });

  test('throws a single error', () => {
    expect(() => sequential('w', 'd').build()).toThrow(/^Workflow 'w' has a problem:\n {2}SW1009: /);
  });
});

describe('errors', () => {
  test('of another kind keep their cause', () => {
    const cause = new Error('disk full');
    const error = new OtherWorkflowError('it cannot be read', 'SW4011', { cause });
    expect(error.cause).toBe(cause);
  });

  test('of tools name the workflow and the tool', () => {
    const error = new MissingToolError({ workflow: 'w', tool: 'greet' }, ['great']);
    expectProblem(error, MissingToolError, { workflow: 'w', tool: 'greet', code: 'SW4001' });
  });
});

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('a result', () => {
  test('reads bindings and arguments', () => {
    const bad = start
      .step(list)
      .step(add)
      .returns({
        a: fromStep('lst'),
        b: fromStep('list', 'pages.'),
        c: promptArg('tsk'),
        d: fromStep('add-task'),
        e: constant(Number.NaN),
        f: fromStep('list', 'pags'),
        g: fromResource(resourceHandle('resource://logseq/gide')),
      });
    expect(shown(problemsOf(bad, environment))).toEqual([
      "UnknownBindingError SW3001: Step 'output' references unknown binding 'lst'. Available bindings: list. Did you mean 'list'?",
      "InvalidMappingError SW4011: Invalid argument mapping in step 'output': 'pages.' is not a field path. " +
        "Write properties and indexes joined by dots, for example 'pages.0.title', or list them: ['pages', 0, 'a key']",
      "InvalidMappingError SW3002: Invalid argument mapping in step 'output': References undefined prompt argument 'tsk'. " +
        "Available arguments: task, date. Did you mean 'task'?",
      "UnknownBindingError SW3001: Step 'output' references unknown binding 'add-task'. Available bindings: list. " +
        "The step that calls 'add-task' has no binding: add .bind(…) to it",
      "InvalidMappingError SW4011: Invalid argument mapping in step 'output': The constant is not JSON: it holds NaN",
      "OutputFieldNotFoundError SW4005: Step 'list' output field 'pags' not found in result. Did you mean 'pages'?",
      "MissingResourceError SW4002: Workflow 'w' requires unregistered resource 'resource://logseq/gide'. " +
        "Did you mean 'resource://logseq/guide'?",
    ]);
  });

  test('has a unique id', () => {
    expectProblem(problem(start.step(list).step(add).returns(fromStep('list'), 'list')), DuplicateNameError, {
      code: 'SW4009',
      duplicate: 'list',
    });
  });

  test('with an invalid id is refused', () => {
    expectProblem(problem(start.step(add).returns(constant(1), 'no name')), InvalidNameError, {
      code: 'SW1002',
      invalid: 'no name',
    });
  });
});

describe('the details of a workflow', () => {
  test('are checked as in any graph', () => {
    const details = { expose: ['mail'] } as unknown as { expose: ['prompt'] };
    expectProblem(problem(sequential('w', 'do it', details).step(any())), OtherWorkflowError, {
      code: 'SW4011',
    });
  });
});

describe('a summary', () => {
  test('refers to arguments, earlier bindings and its own step', () => {
    const fine = list.summary('{list.pages} of {task}');
    expect(problemsOf(start.step(fine).step(add.arg('date', fromStep('list', 'pages.0.title'))))).toEqual([]);
    expect(problem(start.step(any().bind('a').summary('{b}')).step(any().bind('b'))).message).toBe(
      "Step 'a' references unknown binding 'b'. Available bindings: a. Write the braces twice for literal text",
    );
  });
});
