// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of spec files are written so

import { describe, expect, test } from 'vitest';
import { parseWorkflows } from '../../src/formats/index.js';
import { canonicalGraph } from '../../src/graph/canonical.js';
import { nodesOf } from '../../src/graph/nodes.js';
import { onlyGraph, runSpec, said, toolsOf } from './spec-file.fixture.js';

const workflow = (graph: string, params = '{ n: { type: int, default: 2 }, at: { type: str } }'): string =>
  `workflows:\n  w:\n    description: d\n    params: ${params}\n    graph:\n${graph
    .split('\n')
    .map((line) => `      ${line}`)
    .join('\n')}\n`;

/** The errors of a graph in flow style: the place and the message. */
async function errorsOf(graph: string): Promise<string[]> {
  const { diagnostics } = await parseWorkflows(workflow(graph), { file: 'f', format: 'yaml' });
  return said(diagnostics.filter(({ severity }) => severity === 'error'));
}

describe('repeat', () => {
  const counting = (more = ''): string =>
    workflow(
      `a:\n  repeat:\n    - { call: get, id: got }\n    - { call: log, args: { text: $got.state } }\n  until: $got.state == 'done'\n  max_iterations: 4\n${more}b: { call: use, args: { state: $got.state, last: $a } }`,
    );

  function states(...values: string[]) {
    let at = 0;
    return {
      get: () => ({ state: values[at++] ?? 'done' }),
      log: ({ text }: { text: string }) => text,
      use: 1,
    };
  }

  test('runs its nodes until the condition holds', async () => {
    const run = await runSpec(await onlyGraph(counting()), {}, states('new', 'open', 'done'));
    expect(run).toMatchObject({ status: 'succeeded' });
    expect(toolsOf(run)).toEqual(['get', 'log', 'get', 'log', 'get', 'log', 'use']);
    expect(run.calls.at(-1)?.input).toEqual({ state: 'done', last: 'done' });
  });

  test('fails behind its last repetition, or succeeds with `on_limit: continue`', async () => {
    const never = states(...Array(9).fill('open'));
    const failed = await runSpec(await onlyGraph(counting()), {}, never);
    expect(failed).toMatchObject({ status: 'failed', failure: { code: 'E_LOOP_LIMIT' } });
    expect(toolsOf(failed).filter((tool) => tool === 'get')).toHaveLength(4);
    const graph = await onlyGraph(counting('  on_limit: continue\n'));
    const went = await runSpec(graph, {}, states(...Array(9).fill('open')));
    expect(went.calls.at(-1)).toEqual({ tool: 'use', input: { state: 'open', last: 'open' } });
  });

  test('waits between repetitions, and not behind the last one', async () => {
    const graph = await onlyGraph(counting('  delay: 1h\n'));
    const run = await runSpec(graph, {}, states('new'));
    const waits = run.facts.flatMap((fact) => ('node' in fact && fact.node === 'a.delay' ? [fact.kind] : []));
    expect(waits.filter((kind) => kind === 'nodeStarted')).toHaveLength(1);
    expect(toolsOf(run)).toEqual(['get', 'log', 'get', 'log', 'use']);
  });

  test('may have a fallback and one node', async () => {
    const one = workflow(
      "a: { repeat: { call: get }, until: $a.state == 'done', max_iterations: 2, on_error: { fallback: sorry } }\nsorry: { type: error, code: LATE, message: m }",
    );
    const run = await runSpec(await onlyGraph(one), {}, { get: { state: 'open' } });
    expect(run).toMatchObject({ failure: { code: 'LATE' } });
    expect(toolsOf(run)).toEqual(['get', 'get']);
  });
});

describe('wait', () => {
  test.each([
    ['wait: 90m', 5_400_000],
    ['wait: 250', 250],
    ['wait: PT1M', 60_000],
    ['wait: 2d', 172_800_000],
    ['wait: "${n}s"', 2_000],
    ['wait: $n', 2],
    ['wait: "${$n * 1.5}h"', 10_800_000],
    ['wait: "${$n * 10}"', 20],
  ])('%s', async (keys, ms) => {
    const graph = await onlyGraph(workflow(`hold: { ${keys} }\nb: { call: use, depends_on: [hold] }`));
    const run = await runSpec(graph, { n: 2 }, { use: 1 });
    expect(run).toMatchObject({ status: 'succeeded' });
    const waited = run.facts.flatMap((fact) => (fact.kind === 'waiting' ? (fact.until ?? []) : []));
    expect(waited.map((until) => until - run.state.run.startedAt)).toEqual([ms]);
  });

  test('until a moment', async () => {
    const graph = await onlyGraph(workflow('hold: { wait_until: $at }'));
    expect(nodesOf(graph)).toMatchObject([{ kind: 'wait', until: { root: 'inputs', path: ['at'] } }]);
  });
});

test('who answers a question', async () => {
  const ask = (keys: string): string =>
    workflow(`a: { yield: "Sure?", expects: { ok: { type: bool } }, ${keys} }`);
  const answerBy = async (keys: string) =>
    nodesOf(await onlyGraph(ask(keys))).flatMap((node) => (node.kind === 'ask' ? [node.answerBy] : []))[0];
  expect(await answerBy('answer_by: lead')).toEqual([{ kind: 'role', role: 'lead' }]);
  expect(await answerBy('answer_by: human')).toEqual([{ kind: 'human' }]);
  expect(await answerBy('answer_by: [owner, lead]')).toEqual([
    { kind: 'owner' },
    { kind: 'role', role: 'lead' },
  ]);
  expect(await answerBy('answer_by: [lead, cfo], except: owner')).toEqual([
    { kind: 'role', role: 'lead', except: 'owner' },
    { kind: 'role', role: 'cfo', except: 'owner' },
  ]);
});

test('who is reminded of a question, and who may answer then', async () => {
  const keys = 'answer_by: lead, remind_after: 4h, escalate_to: [cfo, owner]';
  const graph = await onlyGraph(workflow(`a: { yield: "Sure?", expects: { ok: { type: bool } }, ${keys} }`));
  expect(nodesOf(graph)).toMatchObject([
    {
      answerBy: [{ kind: 'role', role: 'lead' }],
      remindAfterMs: 14_400_000,
      escalateTo: [{ kind: 'role', role: 'cfo' }, { kind: 'owner' }],
    },
  ]);
});

test('which call an answer permits', async () => {
  const asks = 'a: { message: "Pay?", approves: b, depends_on: [c] }';
  const graph = await onlyGraph(
    workflow(
      `c: { call: get }\nb: { call: pay, args: { n: $n, of: $c.id } }\n${asks}`,
      '{ n: { type: int } }',
    ),
  );
  expect(graph.nodes).toMatchObject([
    { id: 'c' },
    { id: 'a', kind: 'ask', mode: 'confirm', approves: 'b' },
    { id: 'b', when: { root: 'steps', path: ['a', 'confirmed'] } },
  ]);
  const xml = `<workflows><workflow id="w" description="d">
    <params><param name="n" type="int"/></params>
    <graph>
      <step id="c"><call tool="get"/></step>
      <step id="b"><call tool="pay"/><args><arg name="n" value="$n"/><arg name="of" value="$c.id"/></args></step>
      <yield id="a" message="Pay?" approves="b" depends_on="c"/>
    </graph></workflow></workflows>`;
  expect(canonicalGraph(await onlyGraph(xml, 'xml'))).toBe(canonicalGraph(graph));
  const durable = await onlyGraph(
    'name: d\nsteps:\n  - { id: sure, type: prompt, prompt_type: confirm, message: Go?, approves: go }\n  - { id: go, type: mcp_call, tool: deploy, parameters: { to: live } }\n',
  );
  expect(durable.nodes).toMatchObject([{ approves: 'go' }, { when: { path: ['sure', 'confirmed'] } }]);
});

describe('faults', () => {
  test.each([
    [
      'a: { yield: x, approves: d }\nb: { call: get }',
      ['SW4057 question `a` cannot approve a call: `d` is not a call in its list of steps'],
    ],
    [
      'a: { yield: x, approves: b }\nc: { call: get }\nb: { call: pay, args: { of: $c } }',
      ['SW4057 question `a` cannot approve a call: `b` reads `c`, which is not known when it is asked'],
    ],
    [
      'a: { yield: x, approves: b }\nb: { call: pay, args: { by: $a } }',
      ['SW4057 question `a` cannot approve a call: `b` reads its answer'],
    ],
    [
      'a: { yield: x, approves: b }\nc: { yield: y, approves: b }\nb: { call: pay }',
      ['SW4057 question `c` cannot approve a call: `a` approves `b` as well'],
    ],
    [
      'a: { yield: x, approves: b, expects: { ok: { type: bool } } }\nb: { call: pay }',
      ['SW5011 node `a` has `approves` and `expects`'],
    ],
    [
      'a: { yield: x, expects: { ok: { type: bool } }, escalate_to: lead }',
      [
        'SW4052 the reminder of question `a` has no effect: it says to whom it is escalated, and not after what time',
      ],
    ],
    [
      'a: { yield: x, expects: { ok: { type: bool } }, remind_after: 2h, timeout: 1h }',
      ['SW4052 the reminder of question `a` has no effect: its time limit of 1 h ends it before 2 h'],
    ],
    [
      'a: { yield: x, expects: { ok: { type: bool } }, remind_after: 0 }',
      ['SW4015 `remindAfterMs` of step `a` must be from 1 to'],
    ],
    [
      'a: { yield: x, expects: { ok: { type: bool } }, remind_after: soon, escalate_to: [] }',
      [
        'SW5006 `remind_after` of node `a` must be milliseconds, or a time such as `30s`, not `soon`',
        'SW5006 `escalate_to` of node `a` must be a role, or a list of roles, not an empty list',
      ],
    ],
    ['a: { repeat: { call: t }, max_iterations: 2 }', ['SW5007 node `a` needs `until`']],
    ['a: { repeat: { call: t }, until: $a == 1 }', ['SW5007 node `a` needs `max_iterations`']],
    [
      'a: { repeat: { call: t }, until: $a == 1, max_iterations: 1 }',
      ['SW5006 `max_iterations` of node `a` must be a whole number from 2 to 101, not 1'],
    ],
    [
      'a: { repeat: [], until: $n == 1, max_iterations: 2 }',
      ['SW5006 `repeat` of node `a` must be a list of one or more nodes, not an empty list'],
    ],
    ['a: { type: repeat, until: $n == 1, max_iterations: 2 }', ['SW5007 node `a` needs `repeat`']],
    ['a: { type: wait }', ['SW5007 node `a` needs `wait`']],
    [
      'a: { wait: 5, wait_until: $at }',
      ['SW5011 node `a` has `wait` and `wait_until`: write for how long it waits, or until when'],
    ],
    [
      'a: { wait: soon }',
      ['SW5006 `wait` of node `a` must be milliseconds, or a time such as `30s`, not `soon`'],
    ],
    ['a: { wait_until: tomorrow }', ['waits until `tomorrow`']],
    [
      'a: { wait: 5, output: x }',
      ['SW5018 a node of type `wait` takes no `output` (remove it: the node has no result)'],
    ],
    ['a: { yield: q, expects: {}, except: owner }', ['SW5007 `except` of node `a` needs `answer_by`']],
    [
      'a: { yield: q, expects: {}, answer_by: owner, except: owner }',
      ['SW5011 node `a` has `owner` in `answer_by` and in `except`: remove one of them'],
    ],
    [
      'a: { yield: q, expects: {}, answer_by: [] }',
      ['SW5006 `answer_by` of node `a` must be a role, or a list of roles, not an empty list'],
    ],
    ['a: { yield: q, expects: {}, answer_by: $who }', ['SW5015']],
    ['a: { yield: q, expects: {}, answer_by: lead, except: lead }', ['SW5021']],
    ['a: { cal: t }', ['SW5011 node `a` does nothing: it has none of `call`']],
    [
      'a: { call: t, on_error: { retries: 3 } }',
      ['SW5005 `on_error` of node `a` has no `retries` (did you mean `retry`?)'],
    ],
    ['a: { on: [{ when: $n, gotoo: b }, { default: b }] }\nb: { call: t }', ['SW5007', 'SW5005']],
    ['a: { on: [{ default: nope }] }\nb: { call: t }', ['SW5017', 'SW5016']],
  ])('%s', async (graph, expected) => {
    const errors = await errorsOf(graph);
    expect(errors.map((line) => line.replace(/^\S+ /, ''))).toHaveLength(expected.length);
    for (const [index, each] of expected.entries()) expect(errors[index]).toContain(each);
  });

  test('a key that is nearly one of a kind gets a suggestion', async () => {
    expect((await errorsOf('a: { cal: t }')).join()).toContain('(did you mean `call`?)');
    expect((await errorsOf('a: { repeats: { call: t }, until: $n == 1 }')).join()).toContain(
      'did you mean `repeat`?',
    );
  });

  test('a reference is reported where explicit dependencies do not imply it, and nowhere else', async () => {
    const warningsOf = async (graph: string): Promise<number> => {
      const { diagnostics } = await parseWorkflows(workflow(graph), { file: 'f', format: 'yaml' });
      return diagnostics.filter(({ code }) => code === 'SW5030').length;
    };
    expect(await warningsOf('a: { call: t }\nb: { call: t, args: { x: $a } }')).toBe(0);
    expect(
      await warningsOf('a: { call: t }\nb: { call: t }\nc: { call: t, depends_on: [b], args: { x: $a } }'),
    ).toBe(1);
    expect(
      await warningsOf(
        'a: { call: t }\nb: { call: t, args: { x: $a } }\nc: { call: t, depends_on: [b], args: { x: $a } }',
      ),
    ).toBe(0);
  });
});

test('XML writes the same', async () => {
  const yaml = `workflows:
  w:
    description: d
    params:
      level: { type: str, enum: [low, high] }
      tags: { type: list, items: str, min_items: 1, max_items: 5 }
    graph:
      a:
        type: repeat
        repeat: [{ call: t, args: { list: [x, 5, { k: $level }], none: [] } }]
        until: $a.ok
        max_iterations: 3
        delay: 2s
        on_limit: continue
      hold: { type: wait, depends_on: [a], wait: "\${level}s" }
      at: { type: wait, depends_on: [a], wait_until: "2030-01-01T00:00:00Z" }
      each: { type: foreach, depends_on: [hold], items: [mac, 1], step: { call: t, args: { os: $item } } }
      ask: { type: yield, depends_on: [each], message: Sure?, answer_by: [lead, cfo], except: owner, expects: { ok: { type: bool, enum: [true] } } }
    returns: { ok: $ask.ok }
`;
  const xml = `<workflows><workflow id="w" description="d">
    <params>
      <param name="level" type="str"><enum value="low"/><enum value="high"/></param>
      <param name="tags" type="list" items="str" min_items="1" max_items="5"/>
    </params>
    <graph>
      <repeat id="a" until="$a.ok" max_iterations="3" delay="2s" on_limit="continue">
        <step><call tool="t"/><args>
          <arg name="list"><item value="x"/><item json="5"/><item><arg name="k" value="$level"/></item></arg>
          <arg name="none" json="[]"/>
        </args></step>
      </repeat>
      <wait id="hold" depends_on="a" for="\${level}s"/>
      <wait id="at" depends_on="a" until="2030-01-01T00:00:00Z"/>
      <foreach id="each" depends_on="hold">
        <items><item value="mac"/><item json="1"/></items>
        <step><call tool="t"/><args><arg name="os" value="$item"/></args></step>
      </foreach>
      <yield id="ask" depends_on="each" message="Sure?" answer_by="lead cfo" except="owner">
        <expects><param name="ok" type="bool"><enum json="true"/></param></expects>
      </yield>
    </graph>
    <returns><arg name="ok" value="$ask.ok"/></returns>
  </workflow></workflows>`;
  const [one, other] = [await onlyGraph(yaml), await onlyGraph(xml, 'xml')];
  expect(canonicalGraph(other)).toEqual(canonicalGraph(one));
  const { diagnostics } = await parseWorkflows(
    xml.replace('<item value="x"/>', '<item value="x"/><arg name="y" value="1"/>'),
    {
      file: 'f',
      format: 'xml',
    },
  );
  expect(said(diagnostics.filter(({ severity }) => severity === 'error')).join()).toContain(
    '`<arg>` must be one of `value`, `json`, nested `<arg>` and `<item>`, not several of them',
  );
});
