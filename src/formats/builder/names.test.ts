import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  type ArgName,
  arg,
  type BindingName,
  binding,
  constant,
  dsl,
  type FieldPath,
  field,
  fromResource,
  fromStep,
  InvalidNameError,
  InvalidUriError,
  promptArg,
  resourceHandle,
  type StepName,
  sequential,
  step,
  stepName,
  type ToolName,
  toolHandle,
  toolName,
  type Uri,
  uri,
} from './index.js';
import { AddTask, Guide, ListPages } from './tools.fixture.js';

const identifier = fc.stringMatching(/^[a-zA-Z_$äλ][a-zA-Z0-9_$ä]{0,20}$/);
const registeredName = fc.stringMatching(/^[A-Za-z0-9_.-]{1,40}$/).filter((name) => name !== '__proto__');

describe('names', () => {
  test('are returned unchanged', () => {
    fc.assert(
      fc.property(identifier, (name) => {
        expect([stepName(name), arg(name), binding(name), field(name)]).toEqual(Array(4).fill(name));
      }),
    );
  });

  test.each(['', ' ', 'a b', 'a-b', 'a.b', '1a', '__proto__', 'a\n', 'ü'.repeat(200)])(
    'of bindings are identifiers, which %j is not',
    (name) => {
      expect(() => binding(name)).toThrow(InvalidNameError);
    },
  );

  test.each(['', ' ', 'a b', '-a', '1a', '__proto__', 'a\n', 'ü'.repeat(200)])(
    'of arguments may have dashes and dots in them, and %j may not be one',
    (name) => {
      expect(() => arg(name)).toThrow(InvalidNameError);
      expect(arg('task-name')).toBe('task-name');
    },
  );

  test.each(['', '.', 'a.', '.a', 'a..b', 'a b', 'a[0]'])('of fields are paths, not %j', (path) => {
    expect(() => field(path)).toThrow(InvalidNameError);
  });

  test.each(['a', '0', 'a.0.c', 'content-type.x_1'])('of fields may be %j', (path) => {
    expect(field(path)).toBe(path);
  });

  test('report why they are invalid', () => {
    const malformed: string = 'a b';
    expect(() => binding(malformed)).toThrow(
      "'a b' is not a valid binding name. Use a name that matches ^[\\p{ID_Start}_$][\\p{ID_Continue}$]{0,127}$",
    );
    expect(() => toolName(malformed)).toThrow(
      "'a b' is not a valid tool name. Use a name that matches ^[A-Za-z0-9_.-]{1,128}$",
    );
  });
});

describe('URIs', () => {
  test.each(['resource://a', 'file:///a', 'https://a.b/c?d#e', 'urn:isbn:1', 'logseq://pages/a%20b'])(
    'may be any that is absolute: %s',
    (text) => {
      expect(uri(text)).toBe(text);
      expect(resourceHandle(text).uri).toBe(text);
      expect(String(resourceHandle(text))).toBe(text);
    },
  );

  test('are refused with the reason', () => {
    expect(() => uri('intro')).toThrow(InvalidUriError);
    expect(() => resourceHandle('intro.md')).toThrow(
      "Invalid URI 'intro.md': it has no scheme. Write an absolute URI, for example 'resource://logseq/intro'",
    );
  });
});

describe('handles', () => {
  test('have their names', () => {
    fc.assert(
      fc.property(registeredName, (name) => {
        const handle = toolHandle(name);
        expect([handle.name, String(handle), `${handle}`]).toEqual([name, name, name]);
        expect(sequential('w', 'd').step(step(handle)).build().requiredTools()).toEqual([name]);
      }),
    );
  });

  test('of one name are one object, and cannot be changed', () => {
    expect(toolHandle('greet')).toBe(toolHandle('greet'));
    expect(resourceHandle('res://a')).toBe(resourceHandle('res://a'));
    expect(Object.isFrozen(toolHandle('greet'))).toBe(true);
    expect(() => Object.assign(toolHandle('greet'), { name: 'farewell' })).toThrow(TypeError);
    expect(Object.isFrozen(resourceHandle('res://a'))).toBe(true);
  });

  test('are equal if their names are', () => {
    expect(toolHandle('greet')).toEqual(toolHandle('greet'));
    expect(toolHandle('greet')).not.toEqual(toolHandle('farewell'));
    expect(resourceHandle('res://a')).toEqual(resourceHandle('res://a'));
    expect(resourceHandle('res://a')).not.toEqual(resourceHandle('res://b'));
  });

  test('are refused for invalid names', () => {
    const malformed: string = 'Greet me';
    expect(() => toolHandle(malformed)).toThrow(InvalidNameError);
  });
});

describe('types', () => {
  test('distinguish kinds of checked names, which are still text', () => {
    expectTypeOf(arg('a')).toExtend<ArgName>();
    expectTypeOf(binding('a')).toExtend<BindingName>();
    expectTypeOf(field('a.b')).toExtend<FieldPath>();
    expectTypeOf(stepName('a')).toExtend<StepName>();
    expectTypeOf(uri('res://a')).toExtend<Uri>();
    expectTypeOf<BindingName>().not.toExtend<ArgName>();
    expectTypeOf<StepName>().not.toExtend<BindingName>();
    expectTypeOf<Uri>().not.toExtend<ToolName>();
    expectTypeOf<ArgName>().toExtend<string>();
    expectTypeOf<string>().not.toExtend<ArgName>();
  });

  test('refuse names and handles of another kind', () => {
    const plain: string = 'b';
    const wrong = (): unknown => [
      promptArg(plain),
      fromStep(plain, plain),
      // @ts-expect-error Assert a binding is not an argument
      promptArg(binding('b')),
      // @ts-expect-error Assert an argument is not a binding
      fromStep(arg('a')),
      // @ts-expect-error Assert a binding is not a field
      fromStep('b', binding('b')),
      // @ts-expect-error Assert a step's name is not a binding
      step(ListPages).bind(stepName('a')),
      // @ts-expect-error Assert a binding is not an argument
      step(AddTask).arg(binding('task'), promptArg('task')),
      // @ts-expect-error Assert a resource is not a tool
      step(resourceHandle('res://a')),
      // @ts-expect-error Assert text names no tool
      step('greet'),
      // @ts-expect-error Assert a resource class is not a tool
      step(Guide),
      // @ts-expect-error Assert a tool is not a resource
      fromResource(toolHandle('greet')),
      // @ts-expect-error Assert a tool class is not a resource
      sequential('w', 'd').instruction(ListPages),
      // @ts-expect-error Assert text names no resource
      fromResource('res://a'),
      // @ts-expect-error Assert a look-alike is not a handle
      fromResource({ kind: 'resource', uri: uri('res://a') }),
    ];
    expect(wrong).toBeTypeOf('function');
  });

  test('have the arguments of a tool class', () => {
    const wrong = (): unknown => [
      step(AddTask).arg(arg('task'), promptArg('task')),
      step(toolHandle('greet')).arg('anything at all', promptArg('task')),
      // @ts-expect-error Assert the tool takes no such argument
      step(AddTask).arg('tsk', promptArg('task')),
      // @ts-expect-error Assert the tool takes no argument at all
      step(ListPages).arg('task', promptArg('task')),
      // @ts-expect-error Assert a value is not a source
      step(AddTask).arg('task', 'task'),
      // @ts-expect-error Assert a constant is JSON
      constant(() => 1),
      // @ts-expect-error Assert an argument with a default cannot be required
      sequential('w', 'd').argument('a', 'A', { required: true, default: 1 }),
      // @ts-expect-error Assert an argument says whether it is required
      sequential('w', 'd').argument('a', 'A', {}),
    ];
    expect(wrong).toBeTypeOf('function');
  });

  test('of sources are also in one object', () => {
    expect(dsl).toMatchObject({ constant, fromResource, fromStep, promptArg });
  });
});
