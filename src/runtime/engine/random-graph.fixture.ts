import fc from 'fast-check';
import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import type { JoinRule, Node, Retry } from '../../graph/kinds/node.js';
import type { ErrorStrategy, Graph } from '../../graph/model.js';
import { delegate, shell } from './constructs.fixture.js';
import {
  broken,
  call,
  coalesce,
  compute,
  done,
  error,
  graph,
  input,
  list,
  lit,
  not,
  read,
  step,
  stop,
  text,
} from './graph.fixture.js';

/** Names that trip up careless tables: inherited members, and keys that objects put in an order of their own. */
const TRICKY_IDS = ['__proto__', 'constructor', 'toString', '10', '2'];

const IDS = [...TRICKY_IDS, ...'abcdefgh'];

const joins: readonly JoinRule[] = [
  'all_success',
  'none_failed',
  'none_failed_min_one_success',
  'one_success',
  'all_done',
];

const value: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, -1.5, '', 'x', '{a}'),
  fc.record({ ok: fc.boolean(), n: fc.integer({ min: 0, max: 3 }) }),
  fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 2 }),
);

/** An expression that reads only earlier steps. Now and then it has no value. */
function expression(earlier: readonly string[]): fc.Arbitrary<Expr> {
  const sound = [value.map(lit), fc.constantFrom(lit(), input('x'), input('missing'))];
  const faulty = [fc.constant(broken)];
  if (earlier.length > 0) {
    const id = fc.constantFrom(...earlier);
    sound.push(
      id.map((name) => step(name)),
      id.map((name) => coalesce(step(name), lit('none'))),
      id.map((name): Expr => ({ kind: 'get', of: step(name), key: lit('ok'), optional: true })),
    );
    faulty.push(id.map((name): Expr => ({ kind: 'get', of: step(name), key: lit('ok') })));
  }
  return fc.oneof(
    { weight: 24, arbitrary: fc.oneof(...sound) },
    { weight: 1, arbitrary: fc.oneof(...faulty) },
  );
}

/** A fallback value: often a part of the failure. */
function fallback(earlier: readonly string[]): fc.Arbitrary<Expr> {
  const parts = (['code', 'message', 'attempts', 'node'] as const).map((part) => fc.constant(error(part)));
  return fc.oneof(...parts, expression(earlier));
}

/** Delays that grow, meet their cap and vary; none in one of three. */
const retry: fc.Arbitrary<Retry> = fc.record({
  extra: fc.nat({ max: 2 }),
  delayMs: fc.constantFrom(0, 7, 40),
  backoff: fc.constantFrom<Retry['backoff'][]>('constant', 'linear', 'exponential'),
  capMs: fc.constantFrom(0, 50, 60_000),
  jitter: fc.constantFrom(0, 0.5, 1),
});

const strategy: fc.Arbitrary<ErrorStrategy> = fc.oneof(
  fc.constant<ErrorStrategy>({ kind: 'failFast' }),
  fc.constant<ErrorStrategy>({ kind: 'collect' }),
  retry.map((given): ErrorStrategy => ({ kind: 'retry', retry: given })),
);

/** Mostly true or false, mostly true. */
function condition(earlier: readonly string[]): fc.Arbitrary<Expr> {
  const negated = expression(earlier).map(not);
  return fc.oneof(
    { weight: 6, arbitrary: negated.map(not) },
    { weight: 6, arbitrary: fc.constant(lit(true)) },
    { weight: 3, arbitrary: negated },
    { weight: 1, arbitrary: expression(earlier) },
  );
}

/** What all nodes have. */
function options(earlier: readonly string[]) {
  const some = fc.subarray([...earlier], { maxLength: Math.min(3, earlier.length) });
  const shared = fc.record(
    {
      after: some,
      join: fc.constantFrom(...joins),
      when: condition(earlier),
      guidance: expression(earlier).map((part) => text('do ', part)),
      timeoutMs: fc.integer({ min: 0, max: 50 }),
    },
    { requiredKeys: ['after', 'join'] },
  );
  const repair = fc.record(
    { retry, onError: fallback(earlier).map((expr) => ({ value: expr })) },
    { requiredKeys: [] },
  );
  const working = fc.tuple(shared, repair).map(([given, more]) => ({ ...given, ...more }));
  return { shared, working };
}

function node(id: string, earlier: readonly string[]): fc.Arbitrary<Node> {
  const { shared, working } = options(earlier);
  const args = fc.dictionary(fc.constantFrom('p', 'q', '__proto__'), expression(earlier), { maxKeys: 2 });
  return fc.oneof(
    { weight: 16, arbitrary: fc.tuple(args, working).map(([given, more]) => call(id, given, more)) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(expression(earlier), working)
        .map(([part, more]) => read(id, text('res://', part), more)),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(expression(earlier), working, fc.boolean())
        .map(([part, more, isCalled]) =>
          isCalled
            ? compute(id, list(part), { ...more, function: { name: `fn-${id}`, hash: '0' } })
            : compute(id, part, more),
        ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(expression(earlier), shared).map(([part, more]) => stop(id, text(part), more)),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(expression(earlier), shared).map(([part, more]) => done(id, part, more)),
    },
  );
}

/** Now and then work of the client. */
function anyNode(id: string, earlier: readonly string[]): fc.Arbitrary<Node> {
  const { working } = options(earlier);
  const work = fc.tuple(fc.nat({ max: 2 }), expression(earlier), working).map(([which, part, more]): Node => {
    if (which === 0) return shell(id, text('run ', part), { ...more, failOnError: true });
    if (which === 1) return delegate(id, { ...more, prompt: text('do ', part) });
    return call(id, { p: part }, { ...more, executor: 'client' });
  });
  return fc.oneof({ weight: 6, arbitrary: node(id, earlier) }, { weight: 1, arbitrary: work });
}

function nodes(ids: readonly string[], of: typeof node): fc.Arbitrary<Node[]> {
  return fc.tuple(...ids.map((id, index) => of(id, ids.slice(0, index)))) as fc.Arbitrary<Node[]>;
}

/** Up to twelve distinct ids in a random order. */
const someIds = fc
  .tuple(fc.integer({ min: 0, max: 12 }), fc.shuffledSubarray(IDS, { minLength: 12 }))
  .map(([count, ids]) => ids.slice(0, count));

/** A graph without cycles whose declaration order says nothing about the order of its edges. */
export const randomGraph: fc.Arbitrary<Graph> = someIds
  .chain((ids) => fc.tuple(nodes(ids, anyNode), fc.option(expression(ids), { nil: undefined })))
  .chain(([all, returns]) =>
    fc.record(
      {
        nodes: fc.shuffledSubarray(all, { minLength: all.length }),
        failFast: fc.boolean(),
        errorStrategy: strategy,
        maxConcurrency: fc.integer({ min: 1, max: 4 }),
        returns: fc.constant(returns ?? lit('end')),
      },
      { requiredKeys: ['nodes'] },
    ),
  )
  .map(({ nodes: all, ...options }) => graph(all, options));

/** A graph whose outcome does not depend on who is faster: failures do not stop it, and nothing ends it early. */
export const confluentGraph: fc.Arbitrary<Graph> = someIds
  .chain((ids) =>
    nodes(ids, (id, earlier) =>
      node(id, earlier).filter(({ kind }) => kind !== 'error' && kind !== 'return'),
    ),
  )
  .map((all) => graph(all, { failFast: false, maxConcurrency: 2 }));

/** One node after the other, as a TypeScript workflow without `after` runs. */
export const linearGraph: fc.Arbitrary<Graph> = someIds
  .chain((ids) => fc.tuple(nodes(ids, node), fc.constant(ids), fc.boolean(), strategy))
  .map(([all, ids, failFast, errorStrategy]) =>
    graph(
      all.map(({ guidance: _guidance, ...each }, index): Node => {
        const before = ids[index - 1];
        const join = errorStrategy.kind === 'collect' ? 'all_done' : 'none_failed';
        return { ...each, join, after: before === undefined ? [] : [before] };
      }),
      { failFast, errorStrategy },
    ),
  );
