import { describe, expect, test } from 'vitest';
import { owner, role } from '../../decorators/answerers.js';
import { ask, constant, fromModel, fromStep, promptArg, readStep, sequential, step, text } from './index.js';
import { resourceHandle, toolHandle } from './tools-and-resources.js';

const start = sequential('w', 'try it').argument('task', 'What', true);
const add = toolHandle('add');
const guide = resourceHandle('notes://guide');

const problems = (builder: ReturnType<typeof start.step>): string[] => {
  const result = builder.tryBuild();
  return result.ok ? [] : result.problems.map(({ message }) => message);
};

describe('resources of a step', () => {
  test('are given to the call, or to the model that supplies an argument first', () => {
    const { graph } = start
      .step(step(add).resource(guide).arg('text', promptArg('task')).bind('a'))
      .step(step(add).resource(guide).arg('text', fromModel('Write {task}')).bind('b'))
      .build();
    const shown = graph.nodes.map(({ id, ...node }) => [id, 'resources' in node]);
    expect(shown).toEqual([
      ['a', true],
      ['b.text', true],
      ['b', false],
    ]);
  });

  test('are required of a server', () => {
    const built = start.step(ask.confirm('Sure?').resource(guide)).build();
    expect(built.requiredResources()).toEqual(['notes://guide']);
  });

  test('are refused where they are none', () => {
    class Plain {
      static readonly uri = 'notes://plain';
    }
    expect(problems(start.step(step(add).resource(Plain).arg('text', promptArg('task'))))).toEqual([
      "Workflow 'w' requires unregistered resource 'Plain'. Class 'Plain' is not decorated with @Resource",
    ]);
  });
});

describe('text', () => {
  const addText = (template: string) => step(add).arg('text', text(template)).bind('added');
  const valueIn = (template: string) => {
    const [node] = start.step(addText(template)).build().graph.nodes;
    const [entry] = node?.kind === 'call' ? node.input.entries : [];
    return entry !== undefined && 'value' in entry ? entry.value : undefined;
  };

  test('without a placeholder is a literal, braces and all', () => {
    expect(valueIn('as {{it}} is')).toEqual({ kind: 'literal', value: 'as {it} is' });
  });

  test('names arguments and earlier bindings', () => {
    expect(valueIn('do {task}!')).toEqual({
      kind: 'text',
      style: 'js',
      parts: ['do ', { kind: 'ref', root: 'inputs', path: ['task'] }, '!'],
    });
  });

  test('is refused where it names anything else', () => {
    expect(problems(start.step(addText('do {tsk}')))).toEqual([
      "Step 'added' references unknown binding 'tsk'. There are no bindings to read. Did you mean 'task'?",
    ]);
  });
});

describe('questions', () => {
  test('have the values of their answers, and ids by how they ask', () => {
    const { graph } = start
      .step(ask.info('Look'))
      .step(ask.choice('Where?', constant(['top', 'bottom'])).bind('where'))
      .step(ask.value('Page?', { schema: { type: 'object' } }))
      .step(readStep(guide))
      .returns(fromStep('where'))
      .build();
    expect(graph.nodes.map(({ id }) => id)).toEqual(['info', 'where', 'value', 'step', 'output']);
    expect(graph.nodes.at(-1)).toMatchObject({
      value: { kind: 'ref', root: 'steps', path: ['where', 'selected'] },
    });
  });

  test('say who may answer', () => {
    const lead = role('lead', { except: owner() });
    const answerBy = [owner(), role('clerk')] as const;
    const { graph } = start
      .step(ask.info('Look', { answerBy: lead }))
      .step(ask.confirm('Sure?', { answerBy: lead }))
      .step(ask.text('Why?', { answerBy }))
      .step(ask.choice('Where?', ['top', 'bottom'], { answerBy }))
      .step(ask.value('Page?', { schema: { type: 'object' }, answerBy: owner() }))
      .step(ask.text('When?'))
      .build();
    expect(graph.nodes.map((node) => ('answerBy' in node ? node.answerBy : undefined))).toEqual([
      [{ kind: 'role', role: 'lead', except: 'owner' }],
      [{ kind: 'role', role: 'lead', except: 'owner' }],
      [{ kind: 'owner' }, { kind: 'role', role: 'clerk' }],
      [{ kind: 'owner' }, { kind: 'role', role: 'clerk' }],
      [{ kind: 'owner' }],
      undefined,
    ]);
  });

  test('say which call a yes permits', () => {
    const pay = step(toolHandle('pay')).arg('amount', constant(3));
    const { graph } = start
      .step(ask.confirm('Pay?', { approves: 'pay' }))
      .step(pay)
      .build();
    expect(graph.nodes).toMatchObject([
      { mode: 'confirm', approves: 'pay' },
      { tool: 'pay', when: { path: ['confirm', 'confirmed'] } },
    ]);
    const early = start.step(pay).step(ask.confirm('Pay?', { approves: 'note' }).bind('sure'));
    expect(problems(early)).toEqual([expect.stringContaining("'note' is not a call in its list of steps")]);
  });

  test('say when they are reminded of, and who may answer then', () => {
    const late = { remindAfterMs: 60_000, escalateTo: role('manager') } as const;
    const { graph } = start.step(ask.confirm('Sure?', late)).step(ask.text('When?')).build();
    expect(graph.nodes).toMatchObject([
      { remindAfterMs: 60_000, escalateTo: [{ kind: 'role', role: 'manager' }] },
      expect.not.objectContaining({ remindAfterMs: expect.anything() }),
    ]);
    const owners = ask.confirm('Sure?', { ...late, escalateTo: owner() }).bind('sure');
    expect(problems(start.step(owners))).toEqual([expect.stringContaining('may answer from the beginning')]);
    const empty = ask.confirm('Sure?', { ...late, escalateTo: [] as never }).bind('sure');
    expect(problems(start.step(empty))).toEqual([expect.stringContaining('`escalateTo` must be owner()')]);
  });

  test.each([
    [[]],
    [[owner(), owner()]],
    ['lead'],
    [{ kind: 'role', role: '' }],
    [{ kind: 'group' }],
    [null],
  ])('are refused to be answered by %j', (answerBy) => {
    const asked = ask.confirm('Sure?', { answerBy: answerBy as never }).bind('sure');
    expect(problems(start.step(asked))).toEqual([
      "Invalid option of step 'sure': `answerBy` must be owner(), role(name), or a list of at least one and none twice",
    ]);
  });

  test('are refused without a valid schema', () => {
    const asked = ask.model('Title?', { schema: { type: 'text' } }).bind('title');
    expect(problems(start.step(asked))).toEqual([expect.stringContaining("'schema' at '/type'")]);
    const missing = ask.value('Page?', {} as never).bind('page');
    expect(problems(start.step(missing))).toEqual([expect.stringContaining("'schema' is undefined")]);
  });
});

test('a value of a model is for an argument of a tool alone', () => {
  const model = fromModel('Write {task}');
  // @ts-expect-error a result is not an argument of a tool
  const built = start.step(step(add).arg('text', model)).returns({ title: model });
  expect(problems(built)).toEqual([expect.stringContaining("'title' is given an object")]);
});
