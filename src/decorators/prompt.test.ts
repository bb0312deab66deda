import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assistant,
  audio,
  image,
  Prompt,
  type PromptMessages,
  PromptText,
  prompt,
  type SimplePromptHandler,
  simplePrompt,
  system,
  user,
} from './prompt.js';
import { Resource } from './resource.js';
import { Tool } from './tool.js';
import { State, Workflow } from './workflow.js';

const handler: SimplePromptHandler = ({ code = '' }) => [user(`Please review this code:\n\n${code}`)];

describe('simplePrompt', () => {
  test('is data', () => {
    const review = simplePrompt('code-review', handler)
      .withDescription('Reviews code')
      .withArgument('language', 'Programming language', false)
      .withArgument('code', 'Code to review', true)
      .withArgument('style', 'Style guide');
    expect(review).toMatchObject({
      kind: 'simplePrompt',
      name: 'code-review',
      description: 'Reviews code',
      arguments: [
        { name: 'language', description: 'Programming language', required: false },
        { name: 'code', description: 'Code to review', required: true },
        { name: 'style', description: 'Style guide', required: false },
      ],
      handler,
    });
  });

  test('has no description and no arguments at first', () => {
    const plain = simplePrompt('plain', handler);
    expect(plain).not.toHaveProperty('description');
    expect(plain.arguments).toEqual([]);
  });

  test('leaves the prompt it is called on unchanged', () => {
    const plain = simplePrompt('plain', handler);
    const described = plain.withDescription('a');
    plain.withArgument('x', 'x');
    described.withArgument('y', 'y', true).withDescription('b');
    expect(plain.arguments).toEqual([]);
    expect(plain).not.toHaveProperty('description');
    expect(described.arguments).toEqual([]);
    expect(described.description).toBe('a');
  });

  test.each(['', 'Code Review', '__proto__', 'a'.repeat(129)])('refuses the name %j', (name) => {
    expect(() => simplePrompt(name, handler)).toThrow(
      new TypeError(`\`${name}\` is not a valid prompt name: names match ^[A-Za-z0-9_.-]{1,128}$`),
    );
  });

  test('accepts every name that MCP accepts', () => {
    const { name, arguments: declared } = simplePrompt('user.getReview', handler).withArgument(
      'task-name',
      'x',
    );
    expect([name, declared[0]?.name]).toEqual(['user.getReview', 'task-name']);
  });

  test.each(['', '1st', 'a b', '__proto__'])('refuses the argument name %j', (name) => {
    expect(() => simplePrompt('a', handler).withArgument(name, 'x')).toThrow(
      new TypeError(
        `\`${name}\` is not a valid argument name: use an identifier, with \`.\` and \`-\` inside`,
      ),
    );
  });

  test('refuses a second argument of one name', () => {
    const prompt = simplePrompt('a', handler).withArgument('code', 'x');
    expect(() => prompt.withArgument('code', 'y')).toThrow(
      new TypeError('the prompt has an argument `code` already'),
    );
  });
});

@Tool({ name: 'ping', description: 'Answers' })
class Ping {
  execute(): void {}
}

describe('a message', () => {
  test.each([
    ['user', user],
    ['assistant', assistant],
    ['system', system],
  ] as const)('of %s holds one content as it is', (role, make) => {
    expect(make('hello')).toEqual({ role, content: 'hello' });
    expect(make(Ping).content).toBe(Ping);
    const text = prompt`Use ${Ping}`;
    expect(make(text).content).toBe(text);
  });

  test('has several parts as a list', () => {
    const picture = image(Uint8Array.of(1, 2), 'image/png');
    expect(user('see', picture, Ping)).toEqual({ role: 'user', content: ['see', picture, Ping] });
  });

  test('accepts a list as one part', () => {
    expect(user(['a', 'b']).content).toEqual(['a', 'b']);
  });
});

test.each([
  ['image', image('aGk=', 'image/png'), { type: 'image', data: 'aGk=', mimeType: 'image/png' }],
  ['audio', audio('aGk=', 'audio/wav'), { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' }],
])('%s has the shape of MCP', (_kind, made, expected) => {
  expect(made).toEqual(expected);
});

test('bytes are not encoded', () => {
  const bytes = Uint8Array.of(0, 255);
  expect(image(bytes, 'image/png').data).toBe(bytes);
});

@Resource({ name: 'intro', file: './intro.md' })
class Intro {
  static readonly uri = 'resource://intro';
}

@Workflow({ name: 'add-task', description: 'add a task' })
class AddTask {}

@Prompt({ name: 'review', description: 'Review code' })
class Review {
  render(): PromptMessages {
    return [];
  }
}

@State({ name: 'kept' })
class Kept {
  value!: string;
}

class Plain {}

/** What a template hands to the tag, for values that types would refuse. */
function promptOf(...values: readonly unknown[]): PromptText {
  const texts = Object.assign(
    Array.from({ length: values.length + 1 }, () => ''),
    { raw: [''] },
  );
  texts.raw = [...texts];
  return (prompt as (texts: TemplateStringsArray, ...values: readonly unknown[]) => PromptText)(
    texts,
    ...values,
  );
}

describe('prompt', () => {
  test('has handles as parts of their own', () => {
    const text: PromptText = prompt`Use ${Ping} as ${Intro} says, ${2} times: ${true}, then ${AddTask}`;
    expect(text).toBeInstanceOf(PromptText);
    expect(text.parts).toEqual(['Use ', Ping, ' as ', Intro, ' says, 2 times: true, then ', AddTask]);
  });

  test('as a string has names and addresses in place of handles', () => {
    const text = prompt`Use ${Ping} as ${Intro} says, then ${AddTask}`;
    const read = 'Use ping as resource://intro says, then add-task';
    expect(`${text}`).toBe(read);
    expect(text.length).toBe(read.length);
    expect(text.toUpperCase()).toBe(read.toUpperCase());
    expect(JSON.stringify({ text })).toBe(JSON.stringify({ text: read }));
  });

  test('has no empty text among its parts', () => {
    expect((prompt`` as PromptText).parts).toEqual([]);
    expect((prompt`${''}${Ping}${Intro}${''}` as PromptText).parts).toEqual([Ping, Intro]);
  });

  test('takes the parts of other prompt text', () => {
    const inner = prompt`with ${Ping}`;
    expect((prompt`Do it ${inner}!` as PromptText).parts).toEqual(['Do it with ', Ping, '!']);
  });

  test('inserts values unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (values) => {
        const text = promptOf(...values);
        expect(String(text)).toBe(values.join(''));
        expect(text.parts).toEqual(values.join('') === '' ? [] : [values.join('')]);
      }),
    );
  });

  test('keeps an invalid escape as written', () => {
    expect(String(prompt`C:\users\me${1}`)).toBe('C:\\users\\me1');
  });

  test.each([
    ['null', null],
    ['undefined', undefined],
    ['object', {}],
    ['symbol', Symbol('s')],
  ])('refuses %s', (what, value) => {
    expect(() => promptOf(value)).toThrow(
      new TypeError(`prompt\`…\` takes text, numbers, booleans and classes with a decorator, not ${what}`),
    );
  });

  test.each([
    ['Plain', Plain],
    ['Review', Review],
    ['Kept', Kept],
  ])('refuses the class %s', (name, cls) => {
    expect(() => promptOf(cls)).toThrow(
      new TypeError(
        `class ${name} is not a tool, resource or workflow: it has none of the decorators @Tool, @Resource and @Workflow`,
      ),
    );
  });
});
