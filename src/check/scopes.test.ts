import { describe, expect, test } from 'vitest';
import { dict, get, literal, ref } from '../graph/expression/build.fixture.js';
import type { Node } from '../graph/kinds/node.js';
import { at, computes, fails, place, returns, step } from './check-graph.fixture.js';
import {
  arm,
  body,
  branches,
  either,
  findings,
  goesBack,
  loop,
  parallel,
  undoes,
  undoing,
  yes,
} from './constructs.fixture.js';

const put = (line: number, id: string, more: Partial<Extract<Node, { kind: 'call' }>> = {}): Node =>
  step(line, id, 'put', {}, more);
const items = literal([1, 2]);
/** Uses values, so that nothing is idle. */
const uses = (line: number, ...ids: string[]): Node =>
  returns(
    line,
    dict(Object.fromEntries(ids.map((id) => [id.replace('.', '_'), at(line, ref('steps', id))]))),
  );

describe('names', () => {
  test('SW4009: ids are unique in the graph, nested scopes included, with both places', () => {
    const nodes = [
      put(3, 'a'),
      parallel(4, 'p', { one: body([put(5, 'a')]), two: body([loop(6, 'l', items, body([put(7, 'p')]))]) }),
    ];
    expect(findings(nodes)).toEqual([
      'SW4009 5:1 two steps have the id `a` | first used here 3:1 | give one of them another id',
      'SW4009 7:1 two steps have the id `p` | first used here 4:1 | give one of them another id',
    ]);
  });

  test('SW4009: a duplicate id is not checked for order, scope or type', () => {
    const one = (line: number): Node => put(line, 'same');
    const value = (line: number) => at(line, get(ref('steps', 'same'), 'nowhere'));
    const nodes = [
      parallel(3, 'p', { a: body([one(4)], value(4)), b: body([one(5)], value(5)) }),
      loop(6, 'l', items, body([put(7, 'twice')])),
      put(8, 'twice'),
      put(9, 'last', { after: ['twice'] }),
      uses(10, 'p', 'twice', 'l', 'last'),
    ];
    expect(findings(nodes)).toEqual([
      'SW4009 5:1 two steps have the id `same` | first used here 4:1 | give one of them another id',
      'SW4009 8:1 two steps have the id `twice` | first used here 7:1 | give one of them another id',
    ]);
  });

  test('SW1002: ids in nested scopes follow the rule', () => {
    expect(findings([loop(3, 'l', items, body([put(4, 'a b')]))])[0]).toContain('SW1002 4:1');
  });

  test('SW4016: arms of one node', () => {
    const nodes = [
      branches(3, 'b', [arm('x', body([put(4, 'c')]), ref('inputs', 'q'))], {
        else: { id: 'x', body: body([]) },
      }),
      { ...parallel(5, 'p', {}), branches: ['y', 'y', 'y'].map((id) => ({ id, body: body([]) })) },
    ];
    expect(findings(nodes).filter((found) => found.startsWith('SW4016'))).toEqual([
      'SW4016 3:1 two arms of `b` are named `x` | give one of them another name',
      'SW4016 5:1 two arms of `p` are named `y` | give one of them another name',
    ]);
  });

  test('SW4032: loops inside each other name different things', () => {
    const inner = (more: object) => loop(4, 'inner', literal([]), body([put(5, 'c')]), more);
    const outer = (more: object) => loop(3, 'outer', items, body([inner(more)]), { indexAs: 'i' });
    expect(findings([outer({ as: 'y', indexAs: 'j' })])).toEqual([]);
    const message = (name: string): string =>
      `SW4032 4:1 two loops inside each other, \`outer\` and \`inner\`, use the name \`${name}\` | give one of them another name`;
    expect(findings([outer({})])).toEqual([message('x')]);
    expect(findings([outer({ as: 'y', indexAs: 'i' })])).toEqual([message('i')]);
    expect(
      findings([loop(3, 'a', items, body([put(4, 'b')])), loop(5, 'c', items, body([put(6, 'd')]))]),
    ).toEqual([]);
  });
});

describe('visibility', () => {
  test('the own scope, those around it, and bodies of branches and parallels there', () => {
    const nodes = [
      computes(3, 'a', literal(1)),
      parallel(4, 'p', {
        one: body(
          [computes(5, 'b', ref('steps', 'a')), computes(6, 'c', ref('steps', 'b'))],
          ref('steps', 'c'),
        ),
      }),
      loop(
        7,
        'l',
        items,
        body([computes(8, 'd', dict({ c: ref('steps', 'c'), x: ref('item', 'x') }))], ref('steps', 'd')),
      ),
      uses(9, 'p', 'l', 'b'),
    ];
    expect(findings(nodes)).toEqual([]);
  });

  test('SW4018: nothing in a loop', () => {
    const nested = parallel(4, 'p', { one: body([put(5, 'a')], ref('steps', 'a')) });
    const nodes = [loop(3, 'l', items, body([nested], ref('steps', 'a'))), uses(6, 'a')];
    expect(findings(nodes)).toEqual([
      'SW4018 6:20 `a` cannot be read here: it is in loop `l` | bound here 5:1 | let the loop hand it out, and read it from `l`',
    ]);
  });

  test('SW4018: nothing in another arm, whichever comes first', () => {
    const nodes = [
      either(
        3,
        'b',
        body([put(4, 'a')]),
        body([computes(5, 'c', at(5, ref('steps', 'a')))], ref('steps', 'c')),
      ),
      parallel(6, 'p', { one: body([], ref('steps', 'd')), two: body([put(7, 'd')]) }),
    ];
    expect(findings(nodes)).toEqual([
      'SW4018 5:20 `a` cannot be read here: it is in arm `yes` of step `b` | bound here 4:1 | read it behind `b`',
      'SW4018 6:1 `d` cannot be read here: it is in arm `two` of step `p` | bound here 7:1 | read it behind `p`',
    ]);
  });

  test('SW3004: a step that is bound later, also inside a container', () => {
    const nodes = [
      parallel(3, 'p', { one: body([computes(4, 'a', at(4, ref('steps', 'c')))], ref('steps', 'a')) }),
      parallel(5, 'q', { one: body([put(6, 'c')]) }),
    ];
    expect(findings(nodes)).toEqual([
      'SW3004 4:20 `c` is bound after `a` | bound here 6:1 | move `c` above `a`',
    ]);
  });

  test('SW3001: an item of no loop around', () => {
    const inside = computes(
      4,
      'a',
      dict({ x: ref('item', 'x'), i: ref('index', 'i'), y: at(4, ref('item', 'y')) }),
    );
    const nodes = [
      loop(3, 'l', items, body([inside], ref('steps', 'a')), { indexAs: 'i' }),
      returns(5, dict({ x: at(5, ref('item', 'x')), i: at(6, ref('index', 'x')) })),
    ];
    expect(findings(nodes)).toEqual([
      'SW3001 4:20 nothing here is bound to `y`',
      'SW3001 5:20 nothing here is bound to `x`',
      'SW3001 6:20 nothing here is bound to `x`',
    ]);
    expect(findings([loop(3, 'l', at(3, ref('item', 'x')), body([put(4, 'a')]))])).toEqual([
      'SW3001 3:20 nothing here is bound to `x`',
    ]);
  });
});

describe('routes', () => {
  const beside = (option: string, line: number, why: string, hint: string): string =>
    `SW4017 ${line}:1 \`${option}\` of step ${why} | ${hint}`;
  const inList = 'name a step of the same list of steps';

  test('SW3012: a step that takes over knows the failure, and no other does', () => {
    const stop = (id: string, line: number): Node => fails(line, at(line, ref('error', 'message')), { id });
    const nodes = [put(3, 'a', { onError: { fallbackNode: 'stop' } }), stop('stop', 4), stop('other', 5)];
    expect(findings(nodes)).toEqual([
      'SW3012 5:20 step `other` names the failure of a step outside of its fallback | only the function that `attempt` takes knows the failure: use it there',
    ]);
    const misspelt = fails(4, at(4, ref('error', 'mesage')));
    expect(findings([put(3, 'a', { onError: { fallbackNode: 'stop' } }), misspelt])).toEqual([
      'SW3001 4:20 nothing here is bound to `error.mesage` | did you mean `message`?',
    ]);
  });

  test('SW3005 and SW4017: a step waits for those beside it', () => {
    const nodes = [
      put(3, 'a'),
      parallel(4, 'p', { one: body([put(5, 'b', { after: ['a'] }), put(6, 'c', { after: ['bb'] })]) }),
      put(7, 'd', { after: ['b'] }),
    ];
    expect(findings(nodes)).toEqual([
      beside('after', 5, '`b` names `a`, which is in another list of steps', inList),
      'SW3005 6:1 step `c` waits for `bb`, which is not a step of this workflow | did you mean `b`?',
      beside('after', 7, '`d` names `b`, which is in another list of steps', 'wait for `p`'),
    ]);
  });

  test('SW4017: a selected step is in the scope of its selector, and of the right kind', () => {
    const nodes = [
      put(3, 'a', { onError: { fallbackNode: 'a' } }),
      put(4, 'b', { onError: { fallbackNode: 'inner' } }),
      either(5, 'c', 'later', body([put(6, 'inner')])),
      parallel(
        7,
        'p',
        { one: body([put(8, 'e', { compensate: undoing('put') })]) },
        { onPartialFailure: 'rollback', compensateNode: 'latr' },
      ),
      parallel(
        9,
        'q',
        { one: body([put(10, 'f')]) },
        { onPartialFailure: 'rollback', compensateNode: 'later' },
      ),
      put(11, 'later'),
    ];
    expect(findings(nodes)).toEqual([
      beside('fallbackNode', 3, '`a` names `a`, which is the step itself', inList),
      beside('fallbackNode', 4, '`b` names `inner`, which is in another list of steps', inList),
      beside(
        'compensateNode',
        7,
        '`p` names `latr`, which is not a step of this workflow',
        'did you mean `later`?',
      ),
      beside('compensateNode', 9, '`q` names `later`, which is not of the kind `compensate`', inList),
    ]);
  });

  test('SW4019: no step waits for a step that runs only when selected', () => {
    const nodes = [
      put(3, 'a', { onError: { fallbackNode: 'stop' } }),
      parallel(
        4,
        'p',
        { one: body([step(5, 'b', 'peek')]) },
        { onPartialFailure: 'rollback', compensateNode: 'undo' },
      ),
      fails(6, literal('no')),
      undoes(7, 'undo', undoing('put')),
      put(8, 'c', { after: ['stop', 'undo', 'a'] }),
    ];
    const message = (target: string, kind: string): string =>
      `SW4019 8:1 step \`c\` waits for \`${target}\`, a step of kind \`${kind}\` that runs only when it is selected | wait for the step that selects it`;
    expect(findings(nodes)).toEqual([message('stop', 'error'), message('undo', 'compensate')]);
  });

  test('an error that is reached in order may be waited for', () => {
    const nodes = [put(3, 'a'), fails(4, literal('no'), { after: ['a'], when: ref('steps', 'a') })];
    expect(findings([...nodes, put(5, 'b', { after: ['stop'] })])).toEqual([]);
  });

  test('SW4025 and SW4017: a goto goes back, in its own scope', () => {
    const back = goesBack(5, 'back', 'a', { after: ['b'] });
    expect(findings([put(3, 'a'), put(4, 'b'), back])).toEqual([]);
    const message = (target: string): string =>
      `SW4025 5:1 step \`back\` goes to \`${target}\`, which is not before it | a \`goto\` goes back; what comes later is reached by going on`;
    expect(findings([{ ...back, after: [], target: 'a' }, put(6, 'a')])).toEqual([message('a')]);
    expect(findings([{ ...back, after: [], target: 'back' }])).toEqual([message('back')]);
    expect(findings([put(3, 'a'), parallel(4, 'p', { one: body([{ ...back, after: [] }]) })])).toEqual([
      beside('target', 5, '`back` names `a`, which is in another list of steps', inList),
    ]);
  });
});

describe('SW4006: cycles', () => {
  const cycle = (line: number, path: string, ...related: string[]): string =>
    [
      `SW4006 ${line}:1 steps wait for each other: ${path}`,
      ...related,
      'remove one of these dependencies',
    ].join(' | ');

  test('through an earlier fallback', () => {
    const nodes = [
      put(3, 'search'),
      put(4, 'reserve', { after: ['search'], onError: { fallbackNode: 'search' } }),
    ];
    expect(findings(nodes)).toEqual([cycle(3, 'search → reserve → search', '`reserve` waits here 4:1')]);
  });

  test('through the way of a branch', () => {
    const nodes = [either(3, 'b', 'a', body([put(4, 'c')])), put(5, 'a')];
    expect(findings(nodes)).toEqual([]);
    expect(findings([{ ...either(3, 'b', 'a', 'a'), after: ['a'] }, put(5, 'a')])).toEqual([
      cycle(3, 'b → a → b', '`a` waits here 5:1'),
    ]);
  });

  test('of steps in a container', () => {
    const nodes = [
      parallel(3, 'p', { one: body([put(4, 'a')]) }, { after: ['c'] }),
      computes(5, 'c', ref('steps', 'a')),
    ];
    expect(findings([...nodes, uses(6, 'c')])).toEqual([cycle(3, 'p → c → p', '`c` waits here 5:1')]);
    expect(findings([parallel(3, 'p', { one: body([], ref('steps', 'p')) })])).toEqual([cycle(3, 'p → p')]);
  });

  test('in a nested scope', () => {
    const inner = body([put(4, 'a', { after: ['b'] }), put(5, 'b', { after: ['a'] })]);
    expect(findings([loop(3, 'l', items, inner)])).toEqual([cycle(4, 'a → b → a', '`b` waits here 5:1')]);
  });

  test('through the steps that a goto repeats', () => {
    const nodes = [put(3, 'a'), put(4, 'b', { after: ['back'] }), goesBack(5, 'back', 'a')];
    expect(findings(nodes)).toEqual([cycle(4, 'b → back → b', '`back` waits here 5:1')]);
    const around = [
      put(3, 'a', { after: ['c'] }),
      goesBack(4, 'back', 'a', { after: ['a'] }),
      put(5, 'c', { after: ['b'] }),
      put(6, 'b'),
    ];
    expect(findings(around)).toEqual([]);
  });

  test('a step that is undone by itself waits for nothing', () => {
    const compensate = undoing('put', {});
    const own = put(3, 'a', { compensate: { ...compensate, input: dict({}) as never } });
    const onFailure = 'undo' as const;
    expect(findings([own, put(4, 'b', { compensate: undoing('put') })], { onFailure })).toEqual([]);
    const undo = undoing('add-task', { task: ref('steps', 'c', 'id'), page: get(ref('steps', 'c'), 'page') });
    expect(findings([put(5, 'c', { compensate: undo })], { onFailure })).toEqual([]);
  });
});

describe('reachability', () => {
  test('SW4020: some step must be able to begin', () => {
    const lonely = undoes(4, 'undo', undoing('put'));
    const start =
      'whichever waits for no other only runs when it is selected | add a step that is selected by no other';
    const never =
      'SW4021 4:1 step `undo` never runs: nothing that runs selects it | select `undo`, or remove it';
    expect(findings([lonely])).toEqual([never, `SW4020 1:1 no step of the workflow can begin: ${start}`]);
    expect(findings([loop(3, 'l', items, body([lonely]))])).toEqual([
      never,
      `SW4020 3:1 no step of loop \`l\` can begin: ${start}`,
    ]);
    expect(findings([loop(3, 'l', items, body([], literal(1)))])).toEqual([]);
  });

  test('SW4021: a step whose selectors never run', () => {
    const nodes = [
      put(3, 'a'),
      { ...undoes(4, 'undo', undoing('put')), onError: { fallbackNode: 'last' } },
      put(5, 'last'),
    ];
    const never = (line: number, id: string): string =>
      `SW4021 ${line}:1 step \`${id}\` never runs: nothing that runs selects it | select \`${id}\`, or remove it`;
    expect(findings(nodes)).toEqual([never(4, 'undo'), never(5, 'last')]);
  });

  test('SW4013: a step after the end of its scope', () => {
    const stop = fails(4, literal('no'));
    const after = put(5, 'a', { after: ['stop'] });
    expect(findings([loop(3, 'l', items, body([stop, after]))])).toEqual([
      'SW4013 5:1 step `a` is never reached: `stop` always ends loop `l` | the run ends here 4:1 | give `stop` a condition, or remove `a`',
    ]);
    const done = { ...returns(4, literal(1)), id: 'stop' };
    expect(findings([parallel(3, 'p', { x: body([done, after]) })])).toEqual([
      'SW4013 5:1 step `a` is never reached: `stop` always ends the run | the run ends here 4:1 | give `stop` a condition, or remove `a`',
    ]);
    const chosen = [put(2, 'b', { onError: { fallbackNode: 'stop' } }), stop];
    expect(findings([...chosen, put(5, 'c', { after: ['b'], when: yes })])).toEqual([]);
  });

  test('places of steps without one are those of the graph', () => {
    const { source: _, ...bare } = put(4, 'a', { after: ['gone'] });
    expect(findings([bare], { source: place(1) })).toEqual([
      'SW3005 1:1 step `a` waits for `gone`, which is not a step of this workflow',
    ]);
  });
});
