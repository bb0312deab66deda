import { describe, expect, test } from 'vitest';
import { dict, literal, ref, text } from '../graph/expression/build.fixture.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Node } from '../graph/kinds/node.js';
import { argument, environment, graphOf, shown, step } from './check-graph.fixture.js';
import { checkGraph } from './check-graph.js';
import { asks } from './constructs.fixture.js';

const tools = new Map([...environment.tools, ['send', { inputSchema: {}, secret: ['token'] }]]);
const inputs = [{ ...argument('key'), secret: true }, argument('token'), argument('task')];

/** What is found in a workflow that asks a model with this message. */
function found(message: Expr, mode: 'model' | 'text' = 'model'): string[] {
  const question = asks(3, 'asked', mode, { message, ...(mode === 'model' ? { expects: {} } : {}) });
  const answer = asks(4, 'answer', 'text', { message: literal('?') });
  const send = { ...step(5, 'sent', 'send'), input: dict({ token: ref('inputs', 'token') }) } as Node;
  const passed = {
    ...step(6, 'passed', 'send'),
    input: dict({ token: ref('steps', 'answer', 'input') }),
  } as Node;
  const graph = graphOf([answer, question, send, passed], { inputs });
  return checkGraph(graph, { ...environment, tools })
    .filter(({ code }) => code === 'SW4038')
    .map(shown);
}

const refused = (secret: string): string[] => [
  `SW4038 3:1 the message of \`asked\` gives the secret \`${secret}\` to a model leave the secret out of the message`,
];

describe('SW4038: messages for a model and work of the client', () => {
  test.each([
    ['a secret argument', ref('inputs', 'key'), 'key'],
    ['an argument that becomes a secret input', text('js', 'Use ', ref('inputs', 'token')), 'token'],
    ['an answer that becomes a secret input', ref('steps', 'answer', 'input'), 'answer.input'],
    ['a value with a secret in it', ref('steps', 'answer'), 'answer'],
  ])('may not name %s', (_, message, secret) => {
    expect(found(message).map((line) => line.replace(' | ', ' '))).toEqual(refused(secret));
  });

  test.each<[string, object, string]>([
    [
      'a command',
      { kind: 'shell', command: text('js', 'login ', ref('inputs', 'key')) },
      'command of `work` to the client',
    ],
    [
      'arguments',
      { kind: 'shell', command: literal('login'), argv: ref('inputs', 'key') },
      'argv of `work` to the client',
    ],
    [
      'an environment',
      { kind: 'shell', command: literal('login'), env: dict({ KEY: ref('inputs', 'key') }) },
      'env of `work` to the client',
    ],
    [
      'instructions',
      { kind: 'delegate', agent: null, prompt: ref('inputs', 'key') },
      'instructions of `work` to an agent',
    ],
    [
      'a call of the client',
      { kind: 'call', tool: 'own', input: dict({ key: ref('inputs', 'key') }) },
      'args of `work` to the client',
    ],
  ])('nor may %s of work of the client', (_, part, expected) => {
    const work = { ...step(3, 'work', 'own'), ...part, executor: 'client' } as Node;
    const lines = checkGraph(graphOf([work], { inputs }), { ...environment, tools })
      .filter(({ code }) => code === 'SW4038')
      .map(({ message }) => message.replace('gives the secret `key` ', ''));
    expect(lines).toEqual([`the ${expected}`]);
  });

  test('may name other values, and a person may be shown what a secret is', () => {
    expect(found(ref('inputs', 'task'))).toEqual([]);
    expect(found(ref('inputs', 'key'), 'text')).toEqual([]);
  });
});
