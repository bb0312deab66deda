import { describe, expect, test } from 'vitest';
import { type SimplePromptHandler, simplePrompt } from './prompt.js';
import { user } from './prompt-content.js';

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

  test('leaves the prompt it was made from as it is', () => {
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
      new TypeError(`\`${name}\` is no name for a prompt: names match ^[A-Za-z0-9_.-]{1,128}$`),
    );
  });

  test('takes the names that MCP does, so that servers keep theirs', () => {
    const { name, arguments: declared } = simplePrompt('user.getReview', handler).withArgument(
      'task-name',
      'x',
    );
    expect([name, declared[0]?.name]).toEqual(['user.getReview', 'task-name']);
  });

  test.each(['', '1st', 'a b', '__proto__'])('refuses the argument name %j', (name) => {
    expect(() => simplePrompt('a', handler).withArgument(name, 'x')).toThrow(
      new TypeError(
        `\`${name}\` is no name for an argument: that is an identifier, with \`.\` and \`-\` inside`,
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
