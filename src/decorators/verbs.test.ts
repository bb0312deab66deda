import { expect, test } from 'vitest';
import { WorkflowNotRunnableError } from './faults.js';
import { Resource } from './resource.js';
import { Tool } from './tool.js';
import { attempt, call, chain, done, fail, link, read } from './verbs.js';

@Tool({ name: 'ping', description: 'Answers' })
class Ping {
  execute(): void {}
}

@Resource({ name: 'intro', file: './intro.md' })
class Intro {
  static readonly uri = 'resource://intro';
}

test.each([
  ['call', () => call(Ping)],
  ['read', () => read(Intro)],
  ['link', () => link(Intro)],
  ['chain', () => chain(1, (value) => value)],
  ['attempt', () => attempt(1, ({ code }) => code)],
  ['fail', () => fail('no')],
  ['done', () => done(1)],
])('%s throws when it is called, and says why', (verb, run) => {
  expect(run).toThrow(WorkflowNotRunnableError);
  expect(run).toThrow(`${verb}(...): workflow classes are read by the compiler, never instantiated: run `);
});

test('a class with verbs cannot be instantiated even without its decorator', () => {
  class Undecorated {
    pinged = call(Ping);
  }
  expect(() => new Undecorated()).toThrow(WorkflowNotRunnableError);
});
