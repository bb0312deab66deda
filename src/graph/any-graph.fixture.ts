import fc from 'fast-check';
import { dict, get, list, literal, ref } from './expression/build.fixture.js';
import type { DictExpr, Expr } from './expression/tree.js';
import type { Node, Scope } from './kinds/node.js';
import type { Graph } from './model.js';

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const root = fc.constantFrom(
  'steps',
  'steps',
  'steps',
  'inputs',
  'state',
  'item',
  'index',
  'error',
  'local' as const,
);
const reference = fc.tuple(root, id, fc.boolean()).map(([from, name, deeper]) => {
  return deeper ? ref(from as 'steps', name, 'x') : ref(from as 'steps', name);
});

const expr: fc.Arbitrary<Expr> = fc.oneof(
  reference,
  reference,
  fc.constant(literal(true)),
  fc.constant(literal(['a', 'b'])),
  reference.map((of) => get(of, 'y', true)),
  reference.map((value) => list(value, literal(1))),
  fc.tuple(reference, reference).map(([test, then]): Expr => {
    return { kind: 'conditional', truth: 'truthy.js', test, then };
  }),
  reference.map((left): Expr => ({ kind: 'compare', left, ops: [{ op: 'eq.strict', right: literal('a') }] })),
);

const input = expr.map((value) => dict({ x: value }) as DictExpr);

const base = fc.record(
  {
    id,
    after: fc.uniqueArray(id, { maxLength: 2 }),
    join: fc.constantFrom(
      'none_failed',
      'all_success',
      'none_failed_min_one_success',
      'one_success',
      'all_done',
    ),
    executor: fc.constant('server'),
    when: expr,
    reads: fc.uniqueArray(id, { maxLength: 1 }),
    writes: id,
    retry: fc.constant({ extra: 1, delayMs: 0, backoff: 'constant', capMs: 0, jitter: 0 }),
  },
  { requiredKeys: ['id', 'after', 'join', 'executor'] },
);
const onError = fc.oneof(
  fc.constant({}),
  fc.constant({}),
  id.map((fallbackNode) => ({ onError: { fallbackNode } })),
  expr.map((value) => ({ onError: { value } })),
);
const compensation = fc.record({ tool: id, input });

const { scope } = fc.letrec<{ scope: Scope; node: Node }>((tie) => {
  const body = tie('scope');
  const to = fc.oneof(
    body.map((inner) => ({ body: inner })),
    id.map((target) => ({ goto: target })),
  );
  const kind = (name: Node['kind'], own: object): fc.Arbitrary<Node> =>
    fc
      .tuple(base, onError, fc.record(own as Record<string, fc.Arbitrary<unknown>>))
      .map(([common, error, rest]) => {
        const isClient = name === 'shell' || name === 'delegate';
        const isFallible = !['return', 'error', 'compensate'].includes(name);
        const executor = isClient ? { executor: 'client' } : {};
        return {
          kind: name,
          ...common,
          ...executor,
          ...(isFallible ? error : {}),
          ...rest,
        } as unknown as Node;
      });
  const branchCase = fc.tuple(id, expr, to).map(([arm, when, way]) => ({ id: arm, when, ...way }));
  const simple = [
    kind('call', { tool: id, input }),
    kind('call', { tool: id, input, compensate: compensation }),
    kind('call', { tool: id, input, executor: fc.constant('client') }),
    kind('shell', { command: expr }),
    kind('shell', { command: expr, argv: expr, env: expr, failOnError: fc.constant(true) }),
    kind('delegate', { agent: fc.constantFrom('@reviewer', null), prompt: expr }),
    kind('delegate', {
      agent: fc.constant(null),
      prompt: expr,
      tools: fc.tuple(id),
      responseSchema: fc.constant({ type: 'array' }),
    }),
    kind('compute', { value: expr }),
    kind('workflow', { workflow: id, input }),
    kind('ask', { mode: fc.constant('choice'), message: expr, options: expr }),
    kind('ask', { mode: fc.constant('confirm'), message: expr, answerBy: fc.constant([{ kind: 'owner' }]) }),
    kind('ask', {
      mode: fc.constant('text'),
      message: expr,
      answerBy: fc.constant([{ kind: 'owner' }, { kind: 'role', role: 'team lead', except: 'owner' }]),
    }),
    kind('ask', {
      mode: fc.constant('info'),
      message: expr,
      remindAfterMs: fc.integer({ min: 1, max: 9 }),
      escalateTo: fc.constant([{ kind: 'role', role: 'lead' }]),
    }),
    kind('wait', { durationMs: expr }),
    kind('set', { updates: fc.tuple(fc.record({ field: id, value: expr })) }),
    kind('return', { value: expr }),
    kind('goto', {
      target: id,
      max: fc.nat({ max: 120 }).map((max) => max + 1),
      onLimit: fc.constant('fail'),
    }),
    kind('error', { message: expr }),
    kind('error', { message: expr, code: fc.constantFrom('OUT_OF_STOCK', 'E_TIMEOUT', '') }),
    kind('compensate', { steps: fc.tuple(compensation) }),
  ];
  const containers = [
    kind('branch', {
      cases: fc.array(branchCase, { minLength: 1, maxLength: 2 }),
      else: fc.tuple(id, to).map(([arm, way]) => ({ id: arm, ...way })),
    }),
    kind('branch', { cases: fc.array(branchCase, { minLength: 1, maxLength: 2 }) }),
    kind('parallel', {
      branches: fc.array(fc.record({ id, body }), { minLength: 1, maxLength: 2 }),
      onPartialFailure: fc.constant('rollback'),
      compensateNode: id,
    }),
    kind('parallel', {
      branches: fc.array(fc.record({ id, body }), { minLength: 1, maxLength: 2 }),
      onPartialFailure: fc.constantFrom('abort', 'continue', 'rollback'),
    }),
    kind('foreach', {
      items: expr,
      as: id,
      body,
      concurrency: fc.constant(1),
      max: fc.constant(10),
      onItemError: fc.constantFrom('fail', 'continue', 'settle', 'report'),
    }),
    kind('foreach', {
      items: expr,
      as: id,
      body,
      concurrency: fc.constant(1),
      max: fc.constant(10),
      onItemError: fc.constant('settle'),
      agent: fc.constant('@task'),
      resultsAs: fc.constant('results'),
    }),
  ];
  return {
    node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, ...simple, ...containers),
    scope: fc.record(
      { nodes: fc.array(tie('node'), { maxLength: 4 }), value: expr },
      { requiredKeys: ['nodes'] },
    ),
  };
});

/** Graphs that `parseGraph` accepts, and that mean little: ids are few, and everything names anything. */
export const anyGraph: fc.Arbitrary<Graph> = fc
  .tuple(fc.array(scope, { minLength: 1, maxLength: 3 }), id)
  .map(([scopes, name]): Graph => {
    const [first] = scopes;
    return {
      graphVersion: 1,
      name,
      description: 'Any graph',
      inputs: [{ name: 'a', description: 'A', schema: { enum: ['a', 'b'] }, required: true }],
      state: [
        { name: 'b', scope: 'run', schema: { type: 'integer' } },
        { name: 'c', scope: 'workflow', schema: {}, initial: null },
      ],
      allowNestedAgents: true,
      task: true,
      taskSupport: 'required',
      limits: { steps: 1_000, stateBytes: 1_048_576 },
      instructions: [],
      nodes: scopes.flatMap(({ nodes }) => nodes),
      ...(first?.value === undefined ? {} : { returns: first.value }),
    };
  });
