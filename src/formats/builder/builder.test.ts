import { describe, expect, test } from 'vitest';
import { canonicalGraph, hashGraph, sha256Hex } from '../../graph/canonical.js';
import type { Graph } from '../../graph/model.js';
import { parseGraph } from '../../graph/schema.js';
import { decorated, dict, inputs, literal, steps, textOf } from './decorated.fixture.js';
import {
  arg,
  binding,
  collect,
  constant,
  failFast,
  field,
  fromResource,
  fromStep,
  output,
  promptArg,
  resourceHandle,
  retry,
  sequential,
  step,
  toolHandle,
} from './index.js';
import { AddTask, Guide, Intro, ListPages, registered } from './world.fixture.js';

const text = { type: 'string' };

/** The same meaning, byte for byte; a readable difference where it is not. */
function expectSame(actual: Graph, expected: Graph): void {
  expect(actual).toEqual(JSON.parse(canonicalGraph(expected)));
  expect(canonicalGraph(actual)).toBe(canonicalGraph(expected));
  expect(hashGraph(actual)).toBe(hashGraph(expected));
}

const minimal = sequential('w', 'do it').argument('task', 'What', true);
const list = step(ListPages);
const add = step(AddTask).arg('project', constant('p')).arg('task', promptArg('task'));

/** `@Step() <id> = call(AddTask, …)` as `add` says it. */
const addNode = (id: string) =>
  ({
    kind: 'call',
    id,
    tool: 'add-task',
    input: dict({ project: literal('p'), task: inputs('task') }),
  }) as const;

const listNode = (id: string) => ({ kind: 'call', id, tool: 'list-pages', input: dict({}) }) as const;

const taskInput = [{ name: 'task', description: 'What', schema: text, required: true }];

describe('a built workflow', () => {
  const workflow = sequential('add-task', 'add a task to a project')
    .argument('task', 'What needs doing', true)
    .argument('date', 'Day of the journal', false)
    .argument('limit', 'At most', { schema: { type: 'integer', minimum: 1 }, default: 10, title: 'Limit' })
    .argument('token', 'Password', { required: true, secret: true })
    .instruction(Intro)
    .instruction(resourceHandle('resource://logseq/guide'))
    .step(list.bind('list').timeoutMs(5_000))
    .step(
      step(AddTask)
        .arg(arg('project'), fromStep(binding('list'), field('pages.0.title')))
        .arg('task', promptArg(arg('task')))
        .arg('date', promptArg('date'))
        .arg('how', fromResource(Guide))
        .arg('labels', constant({ names: ['a', 'b'], deep: { n: null, no: -1 } }))
        .guidance('Add {task} as {{this}} to {list.pages.0.title}')
        .bind('added')
        .retry({ attempts: 3, delayMs: 200, backoff: 'exponential' }),
    );

  const expected = decorated(
    {
      name: 'add-task',
      description: 'add a task to a project',
      inputs: [
        { name: 'task', description: 'What needs doing', schema: text, required: true },
        { name: 'date', description: 'Day of the journal', schema: text, required: false },
        {
          name: 'limit',
          title: 'Limit',
          description: 'At most',
          schema: { type: 'integer', minimum: 1 },
          required: false,
          default: 10,
        },
        { name: 'token', description: 'Password', schema: text, required: true, secret: true },
      ],
      instructions: [
        { resource: 'intro', uri: 'resource://logseq/intro' },
        { resource: 'guide', uri: 'resource://logseq/guide' },
      ],
    },
    [
      { ...listNode('list'), timeoutMs: 5_000 },
      { kind: 'resource', id: 'added.how', resource: 'guide', uri: literal('resource://logseq/guide') },
      {
        kind: 'call',
        id: 'added',
        tool: 'add-task',
        guidance: {
          kind: 'text',
          style: 'display',
          parts: [
            'Add ',
            inputs('task'),
            ' as {this} to ',
            ['pages', 0, 'title'].reduce<ReturnType<typeof steps>>(
              (of, key) => ({ kind: 'get', of, key: literal(key), optional: true }),
              steps('list'),
            ),
          ],
        },
        retry: { extra: 2, delayMs: 200, backoff: 'exponential', capMs: 60_000, jitter: 0 },
        input: dict({
          project: steps('list', 'pages', 0, 'title'),
          task: inputs('task'),
          date: inputs('date'),
          how: textOf('added.how'),
          labels: dict({
            names: { kind: 'list', items: [{ value: literal('a') }, { value: literal('b') }] },
            deep: dict({ n: literal(null), no: literal(-1) }),
          }),
        }),
      },
    ],
  );

  test('is the graph of its decorated form', () => {
    expectSame(workflow.build(registered).graph, expected);
  });

  test('is a graph that loads as it is', () => {
    const { graph } = workflow.build(registered);
    expect(parseGraph(JSON.parse(JSON.stringify(graph)))).toEqual({ ok: true, graph });
  });

  test('holds no trace of where it was written', () => {
    expect(JSON.stringify(workflow.build().graph)).not.toMatch(/"(source|at)":/);
  });

  test('says what it requires, each once and in order', () => {
    const built = workflow
      .step(list)
      .step(add.arg('how', fromResource(Intro)))
      .build();
    expect(built.requiredTools()).toEqual(['list-pages', 'add-task']);
    expect(built.requiredResources()).toEqual(['resource://logseq/intro', 'resource://logseq/guide']);
    expect([built.name, built.description]).toEqual(['add-task', 'add a task to a project']);
  });

  test('goes by URIs until they are looked up', () => {
    const built = workflow.build();
    expect(built.graph.instructions.map(({ resource }) => resource)).toEqual([
      'intro',
      'resource://logseq/guide',
    ]);
    const checked = built.checkAgainst(registered);
    if (!checked.ok) throw new Error('it has no faults');
    expectSame(checked.graph, expected);
  });

  test('leaves its builder as it was', () => {
    const before = workflow.build(registered);
    workflow.step(list.bind('more'));
    list.bind('other');
    expectSame(workflow.build(registered).graph, before.graph);
  });

  test('keeps constants as they were given', () => {
    const labels = { names: ['a'] };
    const built = minimal.step(add.arg('labels', constant(labels)));
    labels.names.push('b');
    expect(JSON.stringify(built.build().graph)).not.toContain('"b"');
  });
});

describe('ids of steps', () => {
  test('are bindings, then names of tools, with a number where they are taken', () => {
    const workflow = minimal
      .step(step(toolHandle('greet')))
      .step(step(toolHandle('ask')).bind('greet'))
      .step(step(toolHandle('greet')))
      .step(step(toolHandle('list-pages')))
      .build();
    expect(workflow.graph.nodes.map(({ id }) => id)).toEqual(['greet-2', 'greet', 'greet-3', 'list-pages']);
  });

  test('of reads follow from the argument, whatever it is called', () => {
    const greet = step(toolHandle('greet'))
      .arg('the guide', fromResource(Guide))
      .arg('the/guide', fromResource(Guide))
      .bind('g');
    const ids = minimal
      .step(greet)
      .build()
      .graph.nodes.map(({ id }) => id);
    expect(ids).toEqual(['g.the-guide', 'g.the-guide-2', 'g']);
  });
});

describe('a transform', () => {
  test('by a path stands in for the output where it is read', () => {
    const workflow = minimal
      .step(list.bind('first').transform('pages.0'))
      .step(add.arg('date', fromStep('first', 'title')).guidance('{first.title}'));
    expectSame(
      workflow.build(registered).graph,
      decorated({ name: 'w', description: 'do it', inputs: taskInput }, [
        listNode('first'),
        {
          ...addNode('add-task'),
          guidance: {
            kind: 'text',
            style: 'display',
            parts: [{ kind: 'get', of: steps('first', 'pages', 0), key: literal('title'), optional: true }],
          },
          input: dict({
            project: literal('p'),
            task: inputs('task'),
            date: steps('first', 'pages', 0, 'title'),
          }),
        },
      ]),
    );
  });

  test('by an expression is put in the place of the output', () => {
    const heading = {
      kind: 'text',
      style: 'js',
      parts: ['# ', output('pages.0.title'), { kind: 'ref', root: 'inputs', path: ['task'] }],
    } as const;
    const graph = minimal
      .step(list.bind('heading').transform(heading))
      .step(add.arg('how', fromStep('heading')).arg('date', fromStep('heading', 'length')))
      .build().graph;
    const value = { ...heading, parts: ['# ', steps('heading', 'pages', 0, 'title'), inputs('task')] };
    expectSame(
      graph,
      decorated({ name: 'w', description: 'do it', inputs: taskInput }, [
        listNode('heading'),
        {
          ...addNode('add-task'),
          input: dict({
            project: literal('p'),
            task: inputs('task'),
            how: value,
            date: { kind: 'get', of: value, key: literal('length') },
          }),
        },
      ]),
    );
  });

  test('by a function is a node after the call', () => {
    function firstTitle({ pages }: { pages: { title: string }[] }): string | undefined {
      return pages[0]?.title;
    }
    const workflow = minimal
      .step(list.bind('title').transform(firstTitle).guidance('Look').timeoutMs(1_000))
      .step(add.arg('date', fromStep('title')))
      .build(registered);
    const hash = sha256Hex(String(firstTitle));
    expectSame(
      workflow.graph,
      decorated({ name: 'w', description: 'do it', inputs: taskInput }, [
        {
          ...listNode('title.call'),
          guidance: { kind: 'text', style: 'display', parts: ['Look'] },
          timeoutMs: 1_000,
        },
        {
          kind: 'compute',
          id: 'title',
          value: { kind: 'list', items: [{ value: steps('title.call') }] },
          function: { name: 'firstTitle', hash },
        },
        {
          ...addNode('add-task'),
          input: dict({ project: literal('p'), task: inputs('task'), date: steps('title') }),
        },
      ]),
    );
    expect([...workflow.functions]).toEqual([['firstTitle', { function: firstTitle, hash }]]);
    expect(workflow.requiredTools()).toEqual(['list-pages', 'add-task']);
  });
});

describe('an error strategy', () => {
  const built = (strategy: ReturnType<typeof failFast>) =>
    minimal.step(list.bind('list')).step(add).errorStrategy(strategy).build().graph;
  const head = { name: 'w', description: 'do it', inputs: taskInput };
  const nodes = [listNode('list'), addNode('add-task')];

  test('that fails fast joins as ever', () => {
    expectSame(built(failFast()), decorated({ ...head, errorStrategy: { kind: 'failFast' } }, nodes));
  });

  test('that collects goes on after a failure', () => {
    expectSame(
      built(collect()),
      decorated({ ...head, errorStrategy: { kind: 'collect' } }, nodes, 'all_done'),
    );
  });

  test('that retries counts extra tries', () => {
    const strategy = {
      kind: 'retry',
      retry: { extra: 4, delayMs: 0, backoff: 'constant', capMs: 60_000, jitter: 0 },
    } as const;
    expectSame(built(retry({ attempts: 5 })), decorated({ ...head, errorStrategy: strategy }, nodes));
  });
});
