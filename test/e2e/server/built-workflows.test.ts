import { simplePrompt } from 'stepwright';
import { type BuiltWorkflow, createServer, RegistrationError, type ServerSettings } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import {
  constant,
  fromResource,
  MissingToolError,
  output,
  promptArg,
  resourceHandle,
  sequential,
  step,
  toolHandle,
} from '../../../src/formats/builder/index.js';
import type { Node } from '../../../src/graph/kinds/node.js';
import type { Graph } from '../../../src/graph/model.js';
import { refusal, speaking } from './connected.js';
import { dict, input, node, ref } from './fixture/graph.js';
import { CodeReview, registry } from './fixture/language.js';

const text = { type: 'string' } as const;
const slugify = (value: string) => value.toLowerCase();
const hash = 'a'.repeat(64);
const functions = new Map([['slugify', { function: slugify, hash }]]);

function built(name: string, nodes: readonly Node[], more: Partial<BuiltWorkflow> = {}): BuiltWorkflow {
  const graph: Graph = {
    graphVersion: 1,
    name,
    description: `do ${name}`,
    inputs: [input('task', 'What', { schema: text })],
    instructions: [],
    nodes,
  };
  return { graph, ...more };
}

const analyze: Node = {
  ...node('analysis'),
  kind: 'call',
  tool: 'analyze-code',
  input: dict({ code: ref('inputs', 'task') }),
};
const slugBy = (functionHash: string): Node => ({
  ...node('slug'),
  kind: 'compute',
  value: { kind: 'list', items: [{ value: ref('inputs', 'task') }] },
  function: { name: 'slugify', hash: functionHash },
});
const slug = slugBy(hash);
const result: Node = { ...node('result', 'slug'), kind: 'return', value: ref('steps', 'slug') };

/** What a server writes when it starts with these. */
function faults(settings: ServerSettings): readonly string[] {
  try {
    createServer(registry, {
      promptClasses: { 'code-review': () => new CodeReview('Hello!') },
      ...settings,
    });
  } catch (error) {
    if (error instanceof RegistrationError) return error.message.split('\n  - ').slice(1);
    throw error;
  }
  throw new Error('the server started');
}

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a built workflow', () => {
  test('is listed and runs as one of the registry does', async () => {
    const { client } = await speaking({ workflows: [built('inspect', [analyze])] });
    const { prompts } = await client.listPrompts();
    expect(prompts.find(({ name }) => name === 'inspect')).toStrictEqual({
      name: 'inspect',
      description: 'do inspect',
      arguments: [{ name: 'task', description: 'What', required: true }],
    });
    const trace = await client.getPrompt({ name: 'inspect', arguments: { task: 'x = 1' } });
    expect(trace._meta).toMatchObject({ status: 'succeeded' });
    expect(JSON.stringify(trace)).toContain('\\"faults\\": 5');
  });

  test('brings its functions along', async () => {
    const { client } = await speaking({ workflows: [built('slug-it', [slug, result], { functions })] });
    const trace = await client.getPrompt({ name: 'slug-it', arguments: { task: 'HELLO' } });
    expect(trace._meta).toMatchObject({ status: 'succeeded', result: 'hello' });
  });

  test('that is not exposed as a prompt is none', async () => {
    const hidden = built('hidden', [analyze]);
    const workflows = [{ graph: { ...hidden.graph, expose: ['tool'] as const } }];
    const { client } = await speaking({ workflows });
    expect((await refusal(client.getPrompt({ name: 'hidden' }))).message).toContain(
      "Unknown prompt 'hidden'",
    );
  });

  test('may check itself, and say what to run', async () => {
    const asked: string[][] = [];
    const itself: BuiltWorkflow = built('inspect', [], {
      checkAgainst(registered) {
        asked.push(
          [...registered.tools.keys()],
          [...registered.resources.values()].map(({ uri }) => uri),
        );
        return {
          ok: true,
          graph: built('inspect', [analyze]).graph,
          functions: new Map(),
          warnings: [{ code: 'SW4014', message: 'nobody reads it' }],
        };
      },
    });
    const { client, log } = await speaking({ workflows: [itself] });
    expect(asked).toStrictEqual([
      ['analyze-code', 'deploy'],
      expect.arrayContaining(['resource://guides/code-style', 'notes://pages/{name}']),
    ]);
    expect(log).toStrictEqual(['workflow `inspect`: SW4014: nobody reads it']);
    const trace = await client.getPrompt({ name: 'inspect', arguments: { task: 'x' } });
    expect(trace._meta).toMatchObject({ status: 'succeeded' });
  });
});

describe('what the builder makes', () => {
  const inspect = (tool: string) =>
    sequential('inspect', 'inspect code')
      .argument('code', 'The code', true)
      .step(
        step(toolHandle(tool)).arg('code', promptArg('code')).bind('analysis').transform(output('faults')),
      )
      .step(
        step(toolHandle('deploy'))
          .arg('token', fromResource(resourceHandle('resource://guides/code-style')))
          .bind('deployed'),
      )
      .build();

  test('is served, its resources known by their addresses alone', async () => {
    const { client } = await speaking({ workflows: [inspect('analyze-code')] });
    const trace = await client.getPrompt({ name: 'inspect', arguments: { code: 'x' } });
    expect(trace._meta).toMatchObject({ status: 'succeeded' });
    const told = JSON.stringify(trace);
    expect(told).toContain('Resource content from resource://guides/code-style');
    // It is given to a secret input afterwards.
    expect(told).not.toContain('# Style');
  });

  test('is checked against the registry', () => {
    expect(faults({ workflows: [inspect('analize-code')] })).toStrictEqual([
      "workflow `inspect`: SW4001: Workflow 'inspect' requires unregistered tool 'analize-code'. Did you mean 'analyze-code'?",
    ]);
  });
});

describe('what is wrong with what a program registers is said all at once', () => {
  test('tools, inputs, resources, bindings and names', () => {
    const found = faults({
      workflows: [
        built('first', [
          { ...node('a'), kind: 'call', tool: 'analize-code', input: dict({}) },
          { ...node('b', 'a'), kind: 'call', tool: 'deploy', input: dict({ tokn: ref('steps', 'z') }) },
          {
            ...node('c', 'b'),
            kind: 'resource',
            resource: 'guide',
            uri: { kind: 'literal', value: 'no uri' },
          },
        ]),
        built('deploy-page', [analyze]),
        built('first', [analyze]),
      ],
      prompts: [simplePrompt('code-review', () => []), simplePrompt('first', () => [])],
    });
    expect(found).toStrictEqual([
      expect.stringMatching(/^a built workflow is named `deploy-page`, as a workflow of the registry is: /),
      expect.stringMatching(/^a built workflow is named `first`, as a built workflow is: /),
      expect.stringMatching(/^a plain prompt is named `code-review`, as a prompt of the registry is: /),
      expect.stringMatching(/^a plain prompt is named `first`, as a built workflow is: /),
      expect.stringMatching(/^workflow `first`: SW3\d\d\d: .*'z'/),
      expect.stringMatching(/^workflow `first`: SW4001: .*'analize-code'.*Did you mean 'analyze-code'/),
      expect.stringMatching(/^workflow `first`: SW4004: .*'tokn'/),
      expect.stringMatching(/^workflow `first`: SW4003: .*'token'/),
      expect.stringMatching(/^workflow `first`: SW4002: .*'no uri'/),
      expect.stringMatching(/^workflow `first`: SW4007: .*no uri/),
    ]);
  });

  test('as errors that a program can tell apart', () => {
    const settings: ServerSettings = {
      workflows: [
        built('first', [
          { ...node('a'), kind: 'call', tool: 'analize-code', input: dict({}) },
          { ...node('b', 'a'), kind: 'call', tool: 'deploy', input: dict({ tokn: ref('inputs', 'task') }) },
        ]),
        built('slug-it', [slug, result]),
        sequential('second', 'read nothing')
          .step(step(toolHandle('analyze-code')).arg('code', promptArg('code')))
          .argument('code', 'The code', true)
          .step(step(toolHandle('gone')))
          .build(),
        built('deploy-page', [analyze]),
      ],
      prompts: [{} as never],
    };
    const start = () =>
      createServer(registry, { promptClasses: { 'code-review': () => new CodeReview('') }, ...settings });
    const { problems } = thrown(start) as RegistrationError;
    expect(problems.map((problem) => [problem.name, problem.code])).toEqual([
      ['NotRegistrableError', 'E_NOT_REGISTRABLE'],
      ['NameTakenError', 'E_NAME_TAKEN'],
      ['MissingToolError', 'SW4001'],
      ['InvalidMappingError', 'SW4004'],
      ['InvalidMappingError', 'SW4003'],
      ['MissingFunctionError', 'E_FUNCTION_UNKNOWN'],
      ['MissingToolError', 'SW4001'],
    ]);
    expect(problems[0]).toMatchObject({ list: 'prompts', index: 0, found: 'an object' });
    expect(problems[1]).toMatchObject({ taken: 'deploy-page' });
    expect(problems[2]).toBeInstanceOf(MissingToolError);
    expect(problems[2]).toMatchObject({ workflow: 'first', tool: 'analize-code' });
    expect(problems[3]).toMatchObject({ workflow: 'first', step: 'b' });
    expect(problems[5]).toMatchObject({ workflow: 'slug-it', functionName: 'slugify' });
    expect(problems[6]).toMatchObject({ workflow: 'second', tool: 'gone' });
  });

  test('a task without a place for its runs', () => {
    const one = sequential('one', 'leave a task behind')
      .withTaskSupport()
      .step(step(toolHandle('analyze-code')).arg('code', constant('x')));
    const start = (more: ServerSettings) =>
      createServer(registry, {
        promptClasses: { 'code-review': () => new CodeReview('') },
        workflows: [one.build()],
        ...more,
      });
    const { problems } = thrown(() => start({})) as RegistrationError;
    expect(problems).toMatchObject([{ name: 'TaskStoreError', code: 'E_TASK_STORE', workflow: 'one' }]);
    expect(problems[0]?.message).toContain("set store: 'memory' or store: 'sqlite:PATH'");
    expect(() => start({ store: 'memory' })).not.toThrow();
  });

  test('a graph that is none', () => {
    const broken = { graph: { ...built('broken', []).graph, nodes: 'none' } } as unknown as BuiltWorkflow;
    expect(faults({ workflows: [broken] })).toStrictEqual([
      expect.stringMatching(/^workflow `broken`: SW4011: .*nodes/),
    ]);
  });

  test('what a workflow finds by itself', () => {
    const itself = built('inspect', [], {
      checkAgainst: () => ({ ok: false, problems: [{ code: 'SW4001', message: 'no such tool' }] }),
    });
    expect(faults({ workflows: [itself] })).toStrictEqual(['workflow `inspect`: SW4001: no such tool']);
  });

  test('functions that are missing, or that differ', () => {
    const other = new Map([['slugify', { function: slugify, hash: 'b'.repeat(64) }]]);
    expect(faults({ workflows: [built('slug-it', [slug, result])] })).toStrictEqual([
      'workflow `slug-it`: it names the function `slugify`, which neither the registry nor the workflow has',
    ]);
    expect(
      faults({
        workflows: [
          built('slug-it', [slug, result], { functions }),
          built('slug-again', [slugBy('b'.repeat(64)), result], { functions: other }),
          built('slug-other', [slugBy('c'.repeat(64)), result]),
        ],
      }),
    ).toStrictEqual([
      'workflow `slug-again`: it names the function `slugify`, but another function of that name is registered',
      'workflow `slug-other`: it names the function `slugify`, but another function of that name is registered',
    ]);
  });
});
