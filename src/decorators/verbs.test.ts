import { expect, test } from 'vitest';
import { delegate, onClient, shell } from './agents.js';
import { ask, forEach, goto, match, parallel, wait } from './control-flow.js';
import { WorkflowNotRunnableError } from './decorate.js';
import { Resource } from './resource.js';
import { Tool } from './tool.js';
import { attempt, call, chain, done, fail, jinja, link, read, run } from './verbs.js';
import { get, State, set } from './workflow.js';

@Tool({ name: 'ping', description: 'Answers' })
class Ping {
  execute(): void {}
}

@Resource({ name: 'intro', file: './intro.md' })
class Intro {
  static readonly uri = 'resource://intro';
}

@State({ name: 'project' })
class Project {
  value!: string;
}

class Undecorated {
  pinged = call(Ping);
}

test.each([
  ['call', () => call(Ping)],
  ['read', () => read(Intro)],
  ['link', () => link(Intro)],
  ['chain', () => chain(1, (value) => value)],
  ['attempt', () => attempt(1, ({ code }) => code)],
  ['fail', () => fail('no')],
  ['done', () => done(1)],
  ['match', () => match('a', { a: 1 })],
  ['parallel', () => parallel({ a: 1 })],
  ['forEach', () => forEach([], () => 1)],
  ['run', () => run(Undecorated)],
  ['goto', () => goto(1, { max: 1 })],
  ['wait', () => wait({ seconds: 1 })],
  ['set', () => set(Project, 'a')],
  ['get', () => get(Project)],
  ['ask.info', () => ask.info('a')],
  ['ask.confirm', () => ask.confirm('a')],
  ['ask.text', () => ask.text('a')],
  ['ask.choice', () => ask.choice('a', ['b'])],
  ['ask.pick', () => ask.pick('a', ['b'], (item) => item)],
  ['delegate', () => delegate(null, 'a')],
  ['onClient', () => onClient(1)],
  ['shell.raw', () => shell.raw('a')],
])('%s throws when it is called, and says why', (verb, run) => {
  expect(run).toThrow(WorkflowNotRunnableError);
  expect(run).toThrow(`${verb}(...): workflow classes are read by the compiler, never instantiated: run `);
});

test('tags throw', () => {
  expect(() => jinja`{{ 1 }}`).toThrow(WorkflowNotRunnableError);
  expect(() => shell`ls`).toThrow(WorkflowNotRunnableError);
  expect(() => shell({ failOnError: true })).toThrow('shell`...`: workflow classes are read');
});

test('a class with verbs cannot be instantiated even without its decorator', () => {
  expect(() => new Undecorated()).toThrow(WorkflowNotRunnableError);
});
