import { describe, expect, test } from 'vitest';
import { body, foreach, item, required, runs, withTasks } from '../runtime/engine/constructs.fixture.js';
import { call, graph, input, step } from '../runtime/engine/graph.fixture.js';
import { planOf } from './compile.js';
import { secretsOf } from './secrets.js';

const none = (): readonly string[] => [];
const pin = (tool: string): readonly string[] => (tool === 'tool-login' ? ['pin'] : []);

describe('the secrets of a plan', () => {
  test('are found once for each set of tools', () => {
    const plan = planOf(graph([call('login', { pin: input('code') })], { inputs: [required('code')] }));
    expect(secretsOf(plan, pin)).toBe(secretsOf(plan, pin));
    expect(secretsOf(plan, none)).not.toBe(secretsOf(plan, pin));
  });

  test('are none where nothing is declared secret and no tool has a secret input', () => {
    const { any, arguments: given, has } = secretsOf(planOf(graph([call('a')])), none);
    expect({ any, given: given.size, has: has('sample', 'x') }).toEqual({ any: false, given: 0, has: false });
  });

  test('are inputs that reach a secret input as they are, as items, or through another workflow', () => {
    const task = graph([call('login', { pin: input('code') })], { name: 'task', inputs: [required('code')] });
    const nodes = [foreach('each', input('codes'), body([runs('run', 'task', { code: item('item') })]))];
    const main = withTasks(graph(nodes, { inputs: [required('codes'), required('other')] }), task);
    const { has } = secretsOf(planOf(main), pin);
    expect(has('task', 'code')).toBe(true);
    expect(has('sample', 'codes')).toBe(true);
    expect(has('sample', 'other')).toBe(false);
  });

  test('are parts of what a call gave that reach a secret input', () => {
    const nodes = [call('issue'), call('login', { pin: step('issue', 'card', 'pin') })];
    expect(secretsOf(planOf(graph(nodes)), pin).pathsOf('sample', 'issue')).toEqual([['card', 'pin']]);
  });
});
