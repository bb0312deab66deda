import { describe, expect, test } from 'vitest';
import { Resource } from '../../decorators/resource.js';
import { hashGraph } from '../../graph/canonical.js';
import { parseGraph } from '../../graph/schema/parse-graph.js';
import {
  arg,
  binding,
  computed,
  constant,
  type DataSource,
  field,
  fromResource,
  fromStep,
  InvalidNameError,
  linkTo,
  output,
  promptArg,
  registeredIn,
  resourceHandle,
  sequential,
  step,
  stepName,
  toolHandle,
} from './index.js';
import { AddTask, environment, Guide, Intro, ListPages } from './tools.fixture.js';

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

  test('has a graph that can be loaded', () => {
    const { graph } = workflow.build(environment);
    expect(parseGraph(JSON.parse(JSON.stringify(graph)))).toEqual({ ok: true, graph });
  });

  test('has no places in its graph', () => {
    expect(JSON.stringify(workflow.build().graph)).not.toMatch(/"(source|at)":/);
  });

  test('lists the tools and resources that it requires, each once and in order', () => {
    const built = workflow
      .step(list)
      .step(add.arg('how', fromResource(Intro)))
      .build();
    expect(built.requiredTools()).toEqual(['list-pages', 'add-task']);
    expect(built.requiredResources()).toEqual(['resource://logseq/intro', 'resource://logseq/guide']);
    expect([built.name, built.description]).toEqual(['add-task', 'add a task to a project']);
  });

  test('has URIs as names of resources until they are registered', () => {
    const built = workflow.build();
    expect(built.graph.instructions.map(({ resource }) => resource)).toEqual([
      'intro',
      'resource://logseq/guide',
    ]);
    const checked = built.checkAgainst(environment);
    if (!checked.ok) throw new Error('it has no faults');
    expect(checked.graph).toEqual(workflow.build(environment).graph);
    expect(hashGraph(checked.graph)).not.toBe(hashGraph(built.graph));
  });

  test('leaves its builder unchanged', () => {
    const before = workflow.build(environment);
    workflow.step(list.bind('more'));
    list.bind('other');
    expect(workflow.build(environment).graph).toEqual(before.graph);
  });

  test('copies constants', () => {
    const labels = { names: ['a'] };
    const built = minimal.step(add.arg('labels', constant(labels)));
    labels.names.push('b');
    expect(JSON.stringify(built.build().graph)).not.toContain('"b"');
  });
});

describe('ids of steps', () => {
  test('are bindings, else names of tools, with a number if the name is taken', () => {
    const workflow = minimal
      .step(step(toolHandle('greet')))
      .step(step(toolHandle('ask')).bind('greet'))
      .step(step(toolHandle('greet')))
      .step(step(toolHandle('list-pages')))
      .build();
    expect(workflow.graph.nodes.map(({ id }) => id)).toEqual(['greet-2', 'greet', 'greet-3', 'list-pages']);
  });

  test('of reads contain the name of the argument, in a valid form', () => {
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
  const nodesOf = (workflow: typeof minimal) => workflow.build(environment).graph.nodes;

  test('is the last node, even if it is set before the steps', () => {
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

  test('has the id `output`, with a number if a step has it, or the given id', () => {
    expect(nodesOf(minimal.step(add.bind('output')).returns(fromStep('output'))).at(-1)?.id).toBe('output-2');
    expect(nodesOf(minimal.step(add).returns(constant(1), stepName('result'))).at(-1)?.id).toBe('result');
  });

  test('may be set again', () => {
    const [, last] = nodesOf(minimal.step(add).returns(constant(1)).returns(constant(2)));
    expect(last).toMatchObject({ kind: 'return', value: { kind: 'literal', value: 2 } });
  });

  test('may be an object with a member named `kind`', () => {
    const [, last] = nodesOf(minimal.step(add).returns({ kind: constant('x') }));
    expect(last).toMatchObject({ value: { kind: 'dict', entries: [{ key: 'kind' }] } });
  });
});

describe('a path', () => {
  test('is a list if its keys have dots or spaces', () => {
    const workflow = minimal
      .step(list.bind('list').transform(['pages', 0, 'last seen']))
      .returns(fromStep('list', ['per.day', 'a b']));
    const [, last] = workflow.build().graph.nodes;
    expect(last).toMatchObject({
      value: { root: 'steps', path: ['list', 'pages', 0, 'last seen', 'per.day', 'a b'] },
    });
    expect(output(['a b', 0]).path.slice(1)).toEqual(['a b', 0]);
  });

  test.each([[[]], [['__proto__']], [[-1]], [['a', 1.5]]])('is not %j', (path) => {
    const result = minimal.step(list.bind('list')).returns(fromStep('list', path)).tryBuild();
    expect(result.ok ? [] : result.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(`'${JSON.stringify(path)}' is not a field path`),
    ]);
    expect(() => output(path)).toThrow(InvalidNameError);
  });
});

describe('a computed value', () => {
  function headline(task: string, page: { title: string } | null): string {
    return `${task} on ${page?.title ?? 'no page'}`;
  }

  test('is the result of a function of several sources, called before the step', () => {
    const workflow = minimal
      .step(list.bind('list'))
      .step(
        step(toolHandle('note'))
          .arg('text', computed(headline, [promptArg('task'), fromStep('list', 'pages.0')]))
          .bind('noted'),
      )
      .build();
    const [, made, noted] = workflow.graph.nodes;
    expect(made).toMatchObject({
      kind: 'compute',
      id: 'noted.text',
      after: ['list'],
      function: { name: `${workflow.name}#headline` },
      value: {
        kind: 'list',
        items: [{ value: { path: ['task'] } }, { value: { path: ['list', 'pages', 0] } }],
      },
    });
    expect(noted).toMatchObject({
      after: ['noted.text'],
      input: { entries: [{ key: 'text', value: { root: 'steps', path: ['noted.text'] } }] },
    });
    expect([...workflow.functions.values()].map((entry) => entry.function)).toEqual([headline]);
  });

  test('reports every fault of its sources and of its function', () => {
    const anonymous = computed(
      (
        () => () =>
          'x'
      )(),
      [fromStep('lst'), computed(headline, [promptArg('tsk'), constant(null)])],
    );
    const result = minimal
      .step(list.bind('list'))
      .step(step(toolHandle('note')).arg('text', anonymous))
      .tryBuild();
    expect(result.ok ? [] : result.problems.map(({ name }) => name).sort()).toEqual([
      'InvalidMappingError',
      'InvalidMappingError',
      'UnknownBindingError',
    ]);
  });
});

describe('a template', () => {
  @Resource({ name: 'page', description: 'A page', mimeType: 'text/markdown' })
  class PageText {
    static readonly uriTemplate = 'logseq://pages/{name}';
    read({ name }: { name: string }): string {
      return name;
    }
  }

  test('is read and linked with its variables filled in', () => {
    const at = { name: fromStep('list', 'pages.0.title') };
    const { nodes } = minimal
      .step(list.bind('list'))
      .step(step(toolHandle('note')).arg('text', fromResource(PageText, at)).bind('noted'))
      .returns({ doc: linkTo(PageText, at), guide: linkTo(Guide) })
      .build().graph;
    const uri = {
      kind: 'text',
      style: 'js',
      parts: [
        'logseq://pages/',
        { kind: 'call', fn: 'uriComponent', args: [{ path: ['list', 'pages', 0, 'title'] }] },
      ],
    };
    expect(nodes[1]).toMatchObject({ kind: 'resource', id: 'noted.text', resource: 'page', uri });
    const linkEntries = (name: string, address: object) => [
      { key: 'type', value: { value: 'resource_link' } },
      { key: 'uri', value: address },
      { key: 'name', value: { value: name } },
    ];
    expect(nodes[3]).toMatchObject({
      value: {
        entries: [
          {
            key: 'doc',
            value: { entries: [...linkEntries('page', uri), { key: 'description' }, { key: 'mimeType' }] },
          },
          {
            key: 'guide',
            value: { entries: [...linkEntries('guide', { value: Guide.uri }), { key: 'description' }] },
          },
        ],
      },
    });
  });

  test('needs a source for each variable, and no others', () => {
    const wrong = () => [
      // @ts-expect-error Assert a template has variables
      fromResource(PageText),
      // @ts-expect-error Assert the template has no such variable
      fromResource(PageText, { nam: constant('a') }),
      // @ts-expect-error Assert a resource with one address has none
      fromResource(Guide, { name: constant('a') }),
      // @ts-expect-error Assert an instruction has one address
      minimal.instruction(PageText),
    ];
    const sources = wrong().slice(0, 3) as DataSource[];
    const problems = sources.map((source) => {
      const result = minimal.step(step(toolHandle('note')).arg('text', source)).tryBuild();
      return result.ok ? [] : result.problems.map(({ message }) => message);
    });
    expect(problems).toEqual([
      [expect.stringContaining("The address of 'page' needs 'name'. Add a source for it: { name: … }")],
      [
        expect.stringContaining("The address of 'page' needs 'name'"),
        expect.stringContaining("The address of 'page' has no variable 'nam'. Did you mean 'name'?"),
      ],
      [expect.stringContaining("The address of 'guide' has no variable 'name'")],
    ]);
  });
});

describe('without a registry', () => {
  test('the schemas of the classes themselves are checked', () => {
    const bad = minimal.step(step(AddTask).arg('project', constant(5))).step(
      step(AddTask as never)
        .arg('projct', constant('p'))
        .arg('task', constant('t'))
        .arg('project', constant('p')),
    );
    const result = bad.tryBuild();
    expect(result.ok ? [] : result.problems.map(({ code }) => code).sort()).toEqual([
      'SW4003',
      'SW4004',
      'SW4012',
    ]);
  });
});

describe('the environment', () => {
  const tables = {
    tools: Object.fromEntries(environment.tools),
    resources: Object.fromEntries(environment.resources),
  };

  test('may be a generated registry', () => {
    expect(registeredIn(tables)).toEqual({ ...environment, functions: new Map() });
  });
});

test('each detail of a workflow may be left out', () => {
  const { graph } = sequential('w', 'do it', { title: 'W', failFast: false }).step(list).build();
  expect(graph).toMatchObject({ name: 'w', title: 'W', failFast: false });
  expect(graph).not.toHaveProperty('expose');
});
