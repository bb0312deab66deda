import { join } from 'node:path';
import { WorkflowNotRunnableError } from 'stepwright';
import { describe, expect, test } from 'vitest';
import {
  type ClassMetadata,
  fingerprint,
  fromMetadata,
  readMetadata,
} from '../../src/decorators/metadata.js';
import { type Decorators, load, loadFile } from './load.js';

type AnyClass = new (...deps: never[]) => object;

const language = join(import.meta.dirname, 'accepted/language.ts');
const constructs = join(import.meta.dirname, 'accepted/constructs.ts');
const kinds = ['legacy', 'tc39'] as const;

function classIn(exports: Record<string, unknown>, name: string): AnyClass {
  return exports[name] as AnyClass;
}

function metadataOf(name: string, decorators: Decorators, file = language): ClassMetadata {
  const metadata = readMetadata(classIn(loadFile(file, decorators), name));
  if (!metadata) throw new Error(`${name} has no metadata`);
  return metadata;
}

function define(body: string, decorators: Decorators): Record<string, unknown> {
  return load(
    `import { Arg, call, Prompt, Resource, State, Step, Tool, Workflow } from 'stepwright';\n${body}`,
    decorators,
  );
}

const workflow = "@Workflow({ name: 'w', description: 'w' })";
const prompt = "@Prompt({ name: 'p', description: 'p' })";
const tool = "@Tool({ name: 't', description: 't' })";

describe.each(kinds)('metadata of %s decorators', (decorators) => {
  test('of a tool holds its options', () => {
    expect(metadataOf('Sort', decorators)).toEqual({
      kind: 'tool',
      options: { name: 'sort', description: 'Sorts', annotations: { idempotentHint: true } },
    });
  });

  test('of a resource holds its options and its address', () => {
    expect(metadataOf('Today', decorators)).toEqual({
      kind: 'resource',
      uri: 'resource://logseq/today',
      options: { name: 'today', title: 'Today', description: 'What is due', mimeType: 'text/markdown' },
    });
  });

  test('of a resource template holds its template', () => {
    expect(metadataOf('PageFile', decorators)).toEqual({
      kind: 'resource',
      uriTemplate: 'logseq://pages/{page}/files/{+path}{#part}',
      options: { name: 'file', description: 'A file of a page' },
    });
  });

  test('of a prompt holds its options and arguments', () => {
    expect(metadataOf('Review', decorators)).toEqual({
      kind: 'prompt',
      options: { name: 'review', description: 'Review code' },
      args: [
        { name: 'language', options: { description: 'Language', enum: ['ts', 'rust'] } },
        { name: 'code', options: { description: 'Code' } },
      ],
    });
  });

  test('of state holds its options', () => {
    expect(metadataOf('Seen', decorators, constructs)).toEqual({
      kind: 'state',
      options: { name: 'seen', initial: { pages: ['inbox'], latest: null } },
    });
  });

  test('of a workflow holds the state it needs and how it is run', () => {
    const metadata = metadataOf('Constructs', decorators, constructs);
    if (metadata.kind !== 'workflow') throw new Error(metadata.kind);
    const { needsState = [], ...options } = metadata.options;
    expect(needsState.map((state) => readMetadata(state)?.options.name)).toEqual(['active-project', 'seen']);
    expect(options).toEqual({
      name: 'constructs',
      description: 'say everything',
      expose: ['prompt', 'tool'],
      failFast: false,
      maxConcurrency: 4,
    });
    expect(metadata.steps[0]).toEqual({ name: 'body', options: { id: 'kind', join: 'all_done', after: [] } });
  });

  test('of a workflow holds its arguments and steps in declaration order', () => {
    const metadata = metadataOf('AddTaskToProject', decorators);
    if (metadata.kind !== 'workflow') throw new Error(metadata.kind);
    expect(metadata.options).toMatchObject({ name: 'add-task', expose: ['prompt'], failFast: true });
    expect(metadata.options.instructions?.map(({ uri }) => uri)).toEqual([
      'resource://logseq/intro',
      'resource://logseq/today',
    ]);
    expect(metadata.args.map(({ name }) => name)).toEqual([
      'task',
      'date',
      'limit',
      'where',
      'labels',
      'filter',
      'parent',
      'quiet',
      'email',
      'share',
      'count',
      'names',
      'anything',
      'options',
      'free',
      'page',
      'mode',
    ]);
    expect(metadata.args[2]).toEqual({ name: 'limit', options: { description: 'At most', default: 10 } });
    expect(metadata.steps.map(({ name }) => name).slice(0, 4)).toEqual([
      'pages',
      'ping',
      'file',
      'wholePage',
    ]);
    expect(metadata.steps.at(-1)).toEqual({ name: 'added', options: {} });
    expect(metadata.steps[1]?.options).toEqual({
      id: 'pong',
      after: [],
      title: 'Ping',
      guidance: 'For {task}',
      timeoutMs: 5_000,
    });
  });

  test('is the same on a workflow class and on its replacement', () => {
    const exports = define(
      `export let original;
      const keep = (cls) => { original = cls; };
      ${workflow} @keep export class W { @Step() a = call(); }`,
      decorators,
    );
    expect(exports.W).not.toBe(exports.original);
    expect(readMetadata(classIn(exports, 'W'))).toMatchObject({ kind: 'workflow', steps: [{ name: 'a' }] });
    expect(readMetadata(classIn(exports, 'original'))).toBe(readMetadata(classIn(exports, 'W')));
  });

  test('is not inherited', () => {
    const exports = define(`${tool} export class A { execute() {} } export class B extends A {}`, decorators);
    expect(readMetadata(classIn(exports, 'A'))?.kind).toBe('tool');
    expect(readMetadata(classIn(exports, 'B'))).toBeUndefined();
  });

  test('of a subclass with its own decorator is its own', () => {
    const exports = define(
      `${tool} export class A { execute() {} } @Tool({ name: 'u', description: 'u' }) export class B extends A {}`,
      decorators,
    );
    expect(readMetadata(classIn(exports, 'A'))?.options.name).toBe('t');
    expect(readMetadata(classIn(exports, 'B'))?.options.name).toBe('u');
  });

  test('is missing without a decorator', () => {
    expect(readMetadata(class {})).toBeUndefined();
  });

  test('of a resource without an address cannot be read', () => {
    const { R } = define("@Resource({ name: 'r' }) export class R {}", decorators);
    expect(() => readMetadata(R as AnyClass)).toThrow(
      new TypeError("resource R has no address: write `static readonly uri = 'resource://…'` in the class"),
    );
  });

  test.each([
    "static uri = 'a://b'; static uriTemplate = 'a://{c}';",
    'static uri = 1;',
    'static uriTemplate = 1;',
  ])('of a resource with an unclear address cannot be read: %s', (body) => {
    const { R } = define(`@Resource({ name: 'r' }) export class R { ${body} }`, decorators);
    expect(() => readMetadata(R as AnyClass)).toThrow(
      new TypeError(
        'resource R has no clear address: `uri` and `uriTemplate` are texts, and a class has one of them',
      ),
    );
  });

  test('does not keep a prompt from being made', () => {
    const { Greeting } = loadFile(join(import.meta.dirname, 'accepted/world.js'), decorators);
    const greeting = new (Greeting as new () => { render(args: { whom: string }): unknown })();
    expect(greeting.render({ whom: 'Ann' })).toEqual([{ role: 'user', content: 'Greet Ann.' }]);
  });
});

test.each([
  'AddTaskToProject',
  'Collecting',
  'Today',
  'PageFile',
  'Sort',
  'Ping',
  'Login',
  'Review',
  'Plain',
])('%s has one fingerprint with either kind', (name) => {
  const [legacy, tc39] = kinds.map((kind) => fingerprint(fromMetadata(metadataOf(name, kind))));
  expect(legacy).toMatch(/^[0-9a-f]{64}$/);
  expect(tc39).toBe(legacy);
});

test.each(['Seen', 'Draft', 'Review', 'Constructs', 'CountDown'])(
  '%s, with every construct, has one fingerprint with either kind',
  (name) => {
    const [legacy, tc39] = kinds.map((kind) => fingerprint(fromMetadata(metadataOf(name, kind, constructs))));
    expect(legacy).toMatch(/^[0-9a-f]{64}$/);
    expect(tc39).toBe(legacy);
  },
);

describe.each(kinds)('a workflow class with %s decorators', (decorators) => {
  const message =
    'new W(): workflow classes are read by the compiler, never instantiated: ' +
    'run `stepwright codegen` and serve the registry it writes';
  const exports = define(
    `${workflow} export class W { static note = 'kept'; static self() { return this; } @Step() a = 1; }
    export class Sub extends W {}`,
    decorators,
  );
  const W = classIn(exports, 'W');

  test('throws when it is instantiated, whichever way', () => {
    const error = new WorkflowNotRunnableError('new W()');
    expect(error.message).toBe(message);
    expect(() => new W()).toThrow(error);
    expect(() => Reflect.construct(W, [])).toThrow(error);
    expect(() => Reflect.construct(W, [], class {})).toThrow(error);
    expect(() => new W.prototype.constructor()).toThrow(error);
    expect(() => new (classIn(exports, 'Sub'))()).toThrow(error);
  });

  test('is otherwise the class it was', () => {
    expect(W.name).toBe('W');
    expect(W).toHaveProperty('note', 'kept');
    expect((W as unknown as { self(): unknown }).self()).toBe(W);
    expect(Object.create(W.prototype)).toBeInstanceOf(W);
    expect(Object.keys(W.prototype)).toEqual([]);
  });
});

describe.each(kinds)('misuse of %s decorators', (decorators) => {
  const optionFault = (name: string, example: string) =>
    `@${name} takes one object of options and is always called: ${example}`;

  test.each([
    ['@Tool() class T {}', optionFault('Tool', "@Tool({ name: '…', description: '…' })")],
    ['@Tool class T {}', optionFault('Tool', "@Tool({ name: '…', description: '…' })")],
    ['@State() class S {}', optionFault('State', "@State({ name: '…' })")],
    ['@State class S {}', optionFault('State', "@State({ name: '…' })")],
    [
      `${tool} @State({ name: 's' }) class S {}`,
      'class S is a state already and cannot be decorated with @Tool as well',
    ],
    [
      "@State({ name: 's' }) class S { @Step() value = 1; }",
      'class S has fields with @Arg or @Step, which mean nothing under @State: they belong under @Workflow, @Arg under @Prompt as well',
    ],
    ["@Resource('r') class R {}", optionFault('Resource', "@Resource({ name: '…' })")],
    ['@Workflow(null) class W {}', optionFault('Workflow', "@Workflow({ name: '…', description: '…' })")],
    [`${workflow} class W { @Arg() a; }`, optionFault('Arg', "@Arg({ description: '…' })")],
    [`${workflow} class W { @Step([]) a = 1; }`, optionFault('Step', '@Step()')],
    [`${workflow} class W { @Step a = 1; }`, optionFault('Step', '@Step()')],
    [`${tool} ${tool} class T {}`, 'class T is a tool already and cannot be decorated with @Tool as well'],
    [
      `${workflow} ${tool} class T {}`,
      'class T is a tool already and cannot be decorated with @Workflow as well',
    ],
    [
      `${tool} ${workflow} class T {}`,
      'class T is a workflow already and cannot be decorated with @Tool as well',
    ],
    [
      `${tool} class T { @Step() a = 1; }`,
      'class T has fields with @Arg or @Step, which mean nothing under @Tool: they belong under @Workflow, @Arg under @Prompt as well',
    ],
    ['@Prompt() class P {}', optionFault('Prompt', "@Prompt({ name: '…', description: '…' })")],
    [
      `${prompt} class P { @Arg({}) a; @Step() b = 1; }`,
      'class P has fields with @Step, which mean nothing under @Prompt: they belong under @Workflow',
    ],
    [
      `${prompt} class A {} ${prompt} class B extends A {}`,
      'prompt B extends A, whose arguments and steps are not inherited: a prompt class extends nothing',
    ],
    [
      `${prompt} ${workflow} class T {}`,
      'class T is a workflow already and cannot be decorated with @Prompt as well',
    ],
    [`${workflow} class W { @Step() a() {} }`, '@Step decorates a field, which `a` is not'],
    [`${workflow} class W { @Arg({}) get a() { return 1; } }`, '@Arg decorates a field, which `a` is not'],
    ['@Step() class W {}', '@Step decorates a field, which `W` is not'],
    [`${workflow} class W { ${tool} a = 1; }`, '@Tool decorates a class'],
    [
      `${workflow} class W { @Step() static a = 1; }`,
      '@Step decorates a field of the instance: leave out `static` before `a`',
    ],
    [
      `${workflow} class W { @Step() [Symbol.iterator] = 1; }`,
      '@Step decorates a public field with an identifier for a name, which `Symbol(Symbol.iterator)` is not',
    ],
    [
      `${workflow} class W { @Step() @Arg({}) a = 1; }`,
      '`a` is decorated twice, the second time with @Step: a field is an argument or a step, once',
    ],
    [
      `${workflow} class A {} ${workflow} class B extends A {}`,
      'workflow B extends A, whose arguments and steps are not inherited: a workflow class extends nothing',
    ],
    [
      `class A { @Step() a = 1; } class B extends A {} ${workflow} class C extends B {}`,
      'workflow C extends A, whose arguments and steps are not inherited: a workflow class extends nothing',
    ],
  ])('%s', (body, message) => {
    expect(() => define(body, decorators)).toThrow(new TypeError(message));
  });

  test('a workflow may extend a class without arguments and steps', () => {
    const exports = define(`class A {} ${workflow} export class B extends A { @Step() a = 1; }`, decorators);
    expect(readMetadata(classIn(exports, 'B'))).toMatchObject({ steps: [{ name: 'a' }] });
  });
});

test('a private name cannot be a step', () => {
  expect(() => define(`${workflow} class W { @Step() #a = 1; }`, 'tc39')).toThrow(
    new TypeError('@Step decorates a public field with an identifier for a name, which `#a` is not'),
  );
});

test('TC39 decorators without metadata say what is missing', async () => {
  const { Step } = await import('stepwright');
  const context = { kind: 'field', name: 'a', static: false, private: false, metadata: undefined };
  const decorate = Step() as (value: undefined, context: unknown) => void;
  expect(() => decorate(undefined, context)).toThrow(/^@Step was given no decorator metadata/);
});
