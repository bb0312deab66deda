import { describe, expect, test } from 'vitest';
import { hashGraph } from '../../graph/canonical.js';
import { parseGraph } from '../../graph/schema.js';
import {
  arg,
  binding,
  constant,
  field,
  fromResource,
  fromStep,
  promptArg,
  registeredIn,
  resourceHandle,
  sequential,
  step,
  stepName,
  toolHandle,
} from './index.js';
import { AddTask, Guide, Intro, ListPages, registered } from './world.fixture.js';

const minimal = sequential('w', 'do it').argument('task', 'What', true);
const list = step(ListPages);
const add = step(AddTask).arg('project', constant('p')).arg('task', promptArg('task'));

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
    expect(checked.graph).toEqual(workflow.build(registered).graph);
    expect(hashGraph(checked.graph)).not.toBe(hashGraph(built.graph));
  });

  test('leaves its builder as it was', () => {
    const before = workflow.build(registered);
    workflow.step(list.bind('more'));
    list.bind('other');
    expect(workflow.build(registered).graph).toEqual(before.graph);
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

describe('a result', () => {
  const nodesOf = (workflow: typeof minimal) => workflow.build(registered).graph.nodes;

  test('is the last node, whenever it was said', () => {
    const workflow = minimal
      .returns({ id: promptArg('task') })
      .step(list.bind('list'))
      .step(add);
    expect(nodesOf(workflow).map(({ id, kind }) => [id, kind])).toEqual([
      ['list', 'call'],
      ['add-task', 'call'],
      ['output', 'return'],
    ]);
  });

  test('reads resources before it ends the run', () => {
    const workflow = minimal
      .step(add)
      .returns({ 'the guide': fromResource(Guide), intro: fromResource(Intro) });
    expect(nodesOf(workflow).map(({ id, after }) => [id, after])).toEqual([
      ['add-task', []],
      ['output.the-guide', ['add-task']],
      ['output.intro', ['output.the-guide']],
      ['output', ['output.intro']],
    ]);
  });

  test('has a name of its own where a step has taken `output`, or the one it is given', () => {
    expect(nodesOf(minimal.step(add.bind('output')).returns(fromStep('output'))).at(-1)?.id).toBe('output-2');
    expect(nodesOf(minimal.step(add).returns(constant(1), stepName('result'))).at(-1)?.id).toBe('result');
  });

  test('may be said anew', () => {
    const [, last] = nodesOf(minimal.step(add).returns(constant(1)).returns(constant(2)));
    expect(last).toMatchObject({ kind: 'return', value: { kind: 'literal', value: 2 } });
  });

  test('may be an object with a member named `kind`', () => {
    const [, last] = nodesOf(minimal.step(add).returns({ kind: constant('x') }));
    expect(last).toMatchObject({ value: { kind: 'dict', entries: [{ key: 'kind' }] } });
  });
});

describe('what is registered', () => {
  const tables = {
    tools: Object.fromEntries(registered.tools),
    resources: Object.fromEntries(registered.resources),
  };

  test('may be a generated registry', () => {
    expect(registeredIn(tables)).toEqual({ ...registered, functions: new Map() });
  });
});

test('details of a workflow may be left out one by one', () => {
  const { graph } = sequential('w', 'do it', { title: 'W', failFast: false }).step(list).build();
  expect(graph).toMatchObject({ name: 'w', title: 'W', failFast: false });
  expect(graph).not.toHaveProperty('expose');
});
