import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Graph } from '../../graph/model.js';
import { body, branch, foreach, parallel, runs, withTasks } from '../engine/constructs.fixture.js';
import { call, chain, done, graph, lit, Run, read, stop } from '../engine/graph.fixture.js';
import { noProgress } from '../runs/request.js';
import { createProgress, type ProgressObserver } from './progress.js';

type Report = [progress: number, total: number, message: string | undefined];

const complete = (total: number): Report => [total, total, 'Workflow execution complete'];

/** A run whose progress is watched as it goes on. */
class Watched {
  readonly seen: Report[] = [];
  readonly progress: ProgressObserver;
  readonly #run: Run;
  #told = 0;

  constructor(of: Graph) {
    this.progress = createProgress(of, (value, total, message) => this.seen.push([value, total, message]));
    this.#run = new Run(of);
    this.#tell();
  }

  does(what: (run: Run) => Run): this {
    what(this.#run);
    this.#tell();
    return this;
  }

  /** What was reported since the last time this was asked. */
  get news(): Report[] {
    return this.seen.splice(0);
  }

  #tell(): void {
    for (const fact of this.#run.facts.slice(this.#told)) this.progress.observe(fact, this.#run.state);
    this.#told = this.#run.facts.length;
  }
}

const items = (count: number) => lit(Array.from({ length: count }, (_, index) => index));

describe('steps', () => {
  test('are reported before each call and read, and so is the end', () => {
    const of = graph(
      chain(call('a'), stop('check', lit('no'), { when: lit(false) }), read('b'), done('out', lit(1))),
    );
    const watched = new Watched(of).does((run) => run.returns('a'));
    watched.does((run) => run.returns('b', { uri: 'res://b', text: '' }));
    expect(watched.news).toEqual([[0, 2, 'Step 1/2: a'], [1, 2, 'Step 2/2: b'], complete(2)]);
  });

  test.each([
    ['fails', (run: Run) => run.fails('a')],
    ['is cancelled', (run: Run) => run.cancel()],
  ])('a run that %s is not told to be complete', (_, end) => {
    expect(new Watched(graph(chain(call('a'), call('b')))).does(end).news).toEqual([[0, 2, 'Step 1/2: a']]);
  });

  test('only ever rise', () => {
    const watched = new Watched(graph([call('a', {}, { after: ['c'] }), call('b'), call('c')]));
    watched.does((run) => run.returns('c').returns('b').returns('a'));
    expect(watched.news).toEqual([[1, 3, 'Step 2/3: b'], [2, 3, 'Step 3/3: c'], complete(3)]);
  });
});

describe('inside a step', () => {
  test('items of a loop count as they end', () => {
    const watched = new Watched(graph([foreach('each', items(4), body([call('a')]), { concurrency: 2 })]));
    watched.does((run) => run.returns('a[1]'));
    expect(watched.news).toEqual([
      [0, 1, 'Step 1/1: each'],
      [0.25, 1, 'Step 1/1: each (1 of 4 done)'],
    ]);
    watched.does((run) => run.returns('a[0]')).does((run) => run.returns('a[2]'));
    watched.does((run) => run.returns('a[3]'));
    expect(watched.news).toEqual([
      [0.5, 1, 'Step 1/1: each (2 of 4 done)'],
      [0.75, 1, 'Step 1/1: each (3 of 4 done)'],
      complete(1),
    ]);
  });

  test('a loop of many items reports about every hundredth of it', () => {
    const watched = new Watched(graph([foreach('each', items(1_000), body([call('a')]))]));
    for (let item = 0; item < 1_000; item += 1) watched.does((run) => run.returns(`a[${item}]`));
    expect(watched.seen.length).toBeGreaterThan(90);
    expect(watched.seen.length).toBeLessThan(120);
  });

  test('steps of bodies and of other workflows are named', () => {
    const task = graph(chain(call('x'), call('y')), { name: 'task' });
    const nodes = chain(
      branch('way', [[lit(true), body(chain(call('a'), call('b')))]]),
      runs('sub', 'task'),
      parallel('both', { left: body([call('l')]), right: body([call('r')]) }),
    );
    const watched = new Watched(withTasks(graph(nodes), task));
    for (const node of ['a', 'b', 'sub/x', 'sub/y', 'l', 'r']) watched.does((run) => run.returns(node));
    expect(watched.news).toEqual([
      [0, 3, 'Step 1/3: way'],
      [0.5, 3, 'Step 1/3: way (b)'],
      [1, 3, 'Step 2/3: sub'],
      [1.5, 3, 'Step 2/3: sub (y)'],
      [2, 3, 'Step 3/3: both'],
      [2.5, 3, 'Step 3/3: both (1 of 2 done)'],
      complete(3),
    ]);
  });
});

describe('a tool', () => {
  test('has its share of the step that calls it, with its message', () => {
    const watched = new Watched(graph(chain(call('a'), call('b')))).does((run) => run.returns('a'));
    watched.progress.ofTool(1, 4, 'a quarter', 'b');
    watched.progress.ofTool(3, undefined, 'of an unknown total', 'b');
    expect(watched.news.slice(1)).toEqual([
      [1, 2, 'Step 2/2: b'],
      [1.25, 2, 'a quarter'],
    ]);
  });

  test('that is called in a loop leaves the rest of the loop to be told', () => {
    const watched = new Watched(graph([foreach('each', items(2), body(chain(call('a'), call('b'))))]));
    watched.progress.ofTool(10, 10, 'made a', 'a[0]');
    watched.does((run) => run.returns('a[0]'));
    watched.progress.ofTool(10, 10, 'made b', 'b[0]');
    watched.does((run) => run.returns('b[0]'));
    watched.progress.ofTool(1, 2, 'half of a', 'a[1]');
    expect(watched.news).toEqual([
      [0, 1, 'Step 1/1: each'],
      [0.2475, 1, 'made a'],
      [0.4975, 1, 'made b'],
      [0.625, 1, 'half of a'],
    ]);
  });

  test('rises with every report, whatever tools report', () => {
    const number = fc.oneof(fc.double(), fc.integer({ min: -2, max: 5 }));
    const reports = fc.array(fc.tuple(number, fc.option(number, { nil: undefined })));
    fc.assert(
      fc.property(fc.array(reports, { minLength: 1, maxLength: 5 }), fc.boolean(), (steps, isLoop) => {
        const names = steps.map((_, index) => (isLoop ? `a[${index}]` : `s${index}`));
        const loop = foreach('each', items(steps.length), body([call('a')]));
        const watched = new Watched(graph(isLoop ? [loop] : chain(...names.map((name) => call(name)))));
        for (const [index, step] of steps.entries()) {
          const node = names[index] ?? '';
          for (const [value, total] of step) watched.progress.ofTool(value, total, undefined, node);
          watched.does((run) => run.returns(node));
        }
        const seen = watched.news.map(([value]) => value);
        for (const [index, value] of seen.entries()) {
          if (index > 0) expect(value).toBeGreaterThan(seen[index - 1] ?? Number.NaN);
        }
        expect(seen.at(-1)).toBe(isLoop ? 1 : steps.length);
      }),
    );
  });
});

test('computes nothing without a listener', () => {
  const of = new Proxy(graph([call('a')]), {
    get() {
      throw new Error('the graph was read');
    },
  });
  expect(() => createProgress(of, noProgress)).not.toThrow();
});
