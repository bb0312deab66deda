import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  ask,
  collect,
  constant,
  delegate,
  failFast,
  fromModel,
  fromResource,
  fromStep,
  output,
  promptArg,
  readStep,
  registeredIn,
  resourceHandle,
  retry,
  type SequentialBuilder,
  sequential,
  shell,
  step,
  text,
  toolHandle,
} from 'stepwright/builder';
import type { Registry } from 'stepwright/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalGraph, hashGraph } from '../../src/graph/canonical.js';
import { runCodegen } from '../built-package.js';
import { createProject, type Project } from '../codegen-back/project.fixture.js';

type World = typeof import('./fixture/world.js');

/** What a program writes in place of the class of this name. */
const programs: Readonly<Record<string, (world: World) => SequentialBuilder>> = {
  everything: ({ Intro, Guide, ListPages, AddTask }) =>
    sequential('everything', 'say everything a linear workflow can say', {
      title: 'Everything',
      domain: 'notes',
      version: '1.2.0',
      expose: ['prompt'],
      failFast: true,
    })
      .argument('task', 'What needs doing', true)
      .argument('date', 'Day of the journal', false)
      .argument('limit', 'At most', { schema: { type: 'number' }, default: 10, title: 'Limit' })
      .argument('token', 'Password', { required: true, secret: true })
      .instruction(Intro)
      .instruction(resourceHandle('resource://logseq/guide'))
      .step(step(ListPages).bind('list').timeoutMs(5_000).title('Look around'))
      .step(
        step(AddTask)
          .arg('project', fromStep('list', 'first.title'))
          .arg('task', promptArg('task'))
          .arg('date', promptArg('date'))
          .arg('how', fromResource(Guide))
          .arg('labels', constant({ names: ['a', 'b'], deep: { n: null, no: -1 } }))
          .guidance('Add {task} as {{this}} to {list.pages.0.title} } of { {limit}')
          .summary('Added {added.id} to { list.first.title }')
          .bind('added')
          .retry({ attempts: 3, delayMs: 200, backoff: 'exponential' }),
      )
      .returns({
        id: fromStep('added', 'id'),
        guide: fromResource(Intro),
        task: promptArg('task'),
        token: promptArg('token'),
        kind: constant('done'),
      }),
  'by-path': ({ ListPages, AddTask }) =>
    sequential('by-path', 'read a part of an output')
      .argument('task', 'What', true)
      .step(step(ListPages).bind('first').transform('first'))
      .step(
        step(AddTask)
          .arg('project', fromStep('first', 'title'))
          .arg('task', promptArg('task'))
          .guidance('For {first.title}')
          .bind('added'),
      )
      .returns(fromStep('added'), 'result'),
  'by-expression': ({ Guide, ListPages, AddTask }) =>
    sequential('by-expression', 'make another value of an output')
      .argument('task', 'What', true)
      .step(
        step(ListPages)
          .bind('heading')
          .transform({
            kind: 'text',
            style: 'js',
            parts: ['# ', output('first.title'), ' ', { kind: 'ref', root: 'inputs', path: ['task'] }],
          })
          .summary('{heading}'),
      )
      .step(step(AddTask).arg('project', fromStep('heading')).arg('task', promptArg('task')).bind('added'))
      .returns(fromResource(Guide)),
  'by-function': ({ ListPages, AddTask, bestTitle, joinTitles }) =>
    sequential('by-function', 'have a function make another value of an output')
      .step(
        step(ListPages)
          .bind('best')
          .transform(bestTitle)
          .guidance('Look')
          .timeoutMs(1_000)
          .title('Best')
          .summary('{best}')
          .retry({ attempts: 2 }),
      )
      .step(step(ListPages).bind('all').transform(joinTitles))
      .step(
        step(AddTask)
          .arg('project', fromStep('all'))
          .arg('task', constant('look'))
          .arg('date', fromStep('best'))
          .bind('added'),
      ),
  'client-work': ({ AddTask, ListPages, Reviewer }) =>
    sequential('client-work', 'have the client work')
      .argument('path', 'Path', true)
      .step(shell('wc -l {path}').bind('counted'))
      .step(
        shell('git', {
          argv: [constant('push'), promptArg('path')],
          env: { A: constant('b') },
          failOnError: true,
        })
          .bind('pushed')
          .timeoutMs(1_000),
      )
      .step(step(ListPages).onClient().bind('list'))
      .step(delegate(Reviewer, 'Review {counted.stdout}', { tools: [AddTask] }).bind('review'))
      .step(
        delegate(null, 'Suggest titles', { schema: { type: 'array', items: { type: 'string' } } }).bind(
          'titles',
        ),
      )
      .returns({ review: fromStep('review'), titles: fromStep('titles') }),
  'fails-fast': ({ ListPages, AddTask }) =>
    sequential('fails-fast', 'stop at the first failure')
      .step(step(ListPages).bind('list'))
      .step(
        step(AddTask)
          .arg('project', fromStep('list', 'first.title'))
          .arg('task', constant('look'))
          .bind('added'),
      )
      .errorStrategy(failFast()),
  collects: ({ Guide }) =>
    sequential('collects', 'go on after a failure')
      .step(step(toolHandle('list-pages')).bind('list'))
      .step(
        step(toolHandle('add-task'))
          .arg('project', constant('p'))
          .arg('task', fromResource(Guide))
          .bind('added'),
      )
      .returns(constant([]))
      .errorStrategy(collect()),
  retries: ({ ListPages, AddTask }) =>
    sequential('retries', 'try again')
      .step(step(ListPages).bind('list').retry({ attempts: 1 }))
      .step(
        step(AddTask)
          .arg('project', fromStep('list', 'first.title'))
          .arg('task', constant('look'))
          .bind('added'),
      )
      .errorStrategy(retry({ attempts: 5, delayMs: 10, backoff: 'exponential', capMs: 100, jitter: 0.5 })),
  waits: ({ ListPages }) =>
    sequential('waits', 'leave a task behind')
      .withTaskSupport()
      .taskSupport('required')
      .step(step(ListPages).resultSummary('{list.first.title}').bind('list')),
  undoes: ({ ListPages, AddTask, RemoveTask }) =>
    sequential('undoes', 'undo what was done on failure', { onFailure: 'undo' })
      .step(step(ListPages).bind('list'))
      .step(
        step(AddTask)
          .arg('project', fromStep('list', 'first.title'))
          .arg('task', constant('look'))
          .compensate(
            step(RemoveTask).arg('id', fromStep('added', 'id')).arg('from', fromStep('list', 'first.title')),
          )
          .bind('added'),
      )
      .step(step(AddTask).arg('project', constant('p')).arg('task', fromStep('added', 'id')).bind('last')),
  shows: ({ Intro, Guide, PageText, ListPages, AddTask }) =>
    sequential('shows', 'show resources before steps, and read others')
      .argument('page', 'Which', true)
      .step(step(ListPages).resource(Intro).resource(Guide).guidance('Look').bind('list'))
      .step(
        readStep(PageText, { name: promptArg('page') })
          .resource(resourceHandle('resource://logseq/guide'))
          .timeoutMs(500)
          .title('The page')
          .bind('body'),
      )
      .step(readStep(Intro).summary('{intro}').bind('intro'))
      .step(
        step(AddTask)
          .resource(Guide)
          .arg('project', text('{list.first.title} of {{{page}}}'))
          .arg('task', fromStep('body'))
          .arg('how', fromStep('intro'))
          .bind('added'),
      )
      .returns(text('Added {added.id}')),
  asks: ({ Intro, Guide, AddTask, idOf }) =>
    sequential('asks', 'ask people and models')
      .argument('task', 'What', true)
      .step(ask.info('About {task}').bind('told'))
      .step(ask.confirm('Go on?').resource(Guide).bind('sure'))
      .step(ask.text('A note on {task}?').timeoutMs(9_000).bind('note'))
      .step(ask.choice('Where?', ['top', 'bottom']).bind('where'))
      .step(ask.value('Which page?', { schema: { type: 'object', required: ['title'] } }).bind('page'))
      .step(
        ask
          .model('A title for {task}', { schema: { type: 'string', maxLength: 20 } })
          .retry({ attempts: 2 })
          .bind('title'),
      )
      .step(
        step(AddTask)
          .resource(Intro)
          .guidance('Format {task}')
          .timeoutMs(4_000)
          .arg('project', fromStep('title'))
          .arg('task', fromModel('Format {task} as a block'))
          .arg('date', fromModel('A date'))
          .arg('how', fromResource(Guide))
          .bind('added'),
      )
      .step(
        step(AddTask)
          .arg('project', fromModel('A project'))
          .arg('task', fromStep('note'))
          .transform(idOf)
          .bind('best'),
      )
      .returns({
        sure: fromStep('sure'),
        where: fromStep('where'),
        note: fromStep('note'),
        page: fromStep('page'),
        best: fromStep('best'),
      }),
};

let project: Project;
let world: World;
let registry: Registry;

beforeAll(async () => {
  const source = async (file: string) => readFile(path.join(import.meta.dirname, 'fixture', file), 'utf8');
  project = await createProject({
    'src/world.ts': await source('world.ts'),
    'src/workflows.ts': await source('workflows.ts'),
  });
  const { diagnostics } = await runCodegen({ root: project.root });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  // The generated module imports these very classes and functions.
  world = await import(path.join(project.root, 'src/world.ts'));
  ({ registry } = await import(path.join(project.root, 'generated/registry.ts')));
}, 60_000);

afterAll(() => project?.remove());

/** The graph that codegen wrote, and its hash. */
function decorated(name: string) {
  const entry = registry.workflows[name];
  if (entry === undefined) throw new Error(`there is no workflow ${name}`);
  return entry;
}

test('there is a program for every decorated workflow', () => {
  expect(Object.keys(registry.workflows)).toEqual(Object.keys(programs).sort());
});

describe.each(Object.entries(programs))('%s', (name, program) => {
  test('is, byte for byte, what codegen makes of its decorated form', () => {
    const { graph, hash } = decorated(name);
    const built = program(world).build(registeredIn(registry)).graph;
    expect(built).toEqual(JSON.parse(canonicalGraph(graph)));
    expect(canonicalGraph(built)).toBe(canonicalGraph(graph));
    expect(hashGraph(built)).toBe(hash);
  });

  test('is that as well where it is built first and registered later', () => {
    const checked = program(world).build().checkAgainst(registeredIn(registry));
    if (!checked.ok) throw checked.problems[0];
    expect(hashGraph(checked.graph)).toBe(decorated(name).hash);
  });
});

describe('a function', () => {
  const byFunction = () => (programs['by-function'] as (world: World) => SequentialBuilder)(world);

  test('is named and hashed as it is registered', () => {
    const { functions } = byFunction().build(registeredIn(registry));
    const { bestTitle, joinTitles } = registry.functions ?? {};
    expect(Object.fromEntries(functions)).toEqual({ bestTitle, joinTitles });
    expect([...functions.keys()]).toEqual(['bestTitle', 'joinTitles']);
  });

  test('has the hash of its text as it was loaded until it is known as registered', () => {
    const { functions } = byFunction().build();
    expect([...functions.keys()]).toEqual(['by-function#bestTitle', 'by-function#titlesOf']);
    expect(functions.get('by-function#bestTitle')?.hash).not.toBe(registry.functions?.bestTitle?.hash);
  });

  test('of a registered name that is another one is kept beside it', () => {
    const bestTitle = () => 'mine';
    const { ListPages } = world;
    const { functions } = sequential('w', 'do it')
      .step(step(ListPages).bind('best').transform(bestTitle))
      .returns(fromStep('best'))
      .build(registeredIn(registry));
    expect([...functions].map(([name, entry]) => [name, entry.function])).toEqual([
      ['w#bestTitle', bestTitle],
    ]);
  });
});
