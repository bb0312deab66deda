import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/model.js';
import { planOf } from '../../../src/plan/compile.js';
import { RunMask } from '../../../src/runtime/secrets/run-mask.js';
import { withoutClosing } from '../../../src/runtime/trace/messages.js';
import { createTrace, type TraceObserver } from '../../../src/runtime/trace/trace.js';
import { isNightly } from '../../nightly.js';
import { drive, ENGINE } from '../../oracle/drive.js';
import type { Case } from '../../oracle/random-graph.js';
import { hold } from '../../oracle/runs.js';

const RUNS = isNightly ? 300 : 40;

/** Secret texts of the caller, which no other value contains. */
const SECRETS = ['sesame-0815', 'sesame-4711', 'sesame-2342'];
const INPUT = { x: { ok: true, n: 2 }, list: SECRETS };

/** The graph, whose input `list` is a secret. */
const withSecret = (graph: Graph): Graph => ({
  ...graph,
  inputs: [
    ...graph.inputs.filter(({ name }) => name !== 'list'),
    { name: 'list', description: 'list', schema: {}, required: true, secret: true },
  ],
});

function traceOf(graph: Graph): TraceObserver {
  const given = [['list', JSON.stringify(SECRETS)]] as const;
  const mask = new RunMask(graph, { input: INPUT, argumentTexts: given });
  const trace = createTrace({
    graph,
    mask,
    describeTool: (name) => ({ description: name, safety: name.length % 2 === 0 ? 'readOnly' : 'none' }),
    args: given,
    instructions: [],
  });
  return {
    observe(fact, state) {
      mask.observe(fact, state);
      trace.observe(fact, state);
    },
    resume: (state, said) => trace.resume(state, said),
    finish: (state, kept) => trace.finish(state, kept),
  };
}

/** Runs a graph, and looks at its trace after every step. */
function told({ graph: drawn, world }: Case, look: (text: string) => void): void {
  const graph = withSecret(drawn);
  const trace = traceOf(graph);
  drive(ENGINE, graph, INPUT, world, ({ advance: { facts, state } }) => {
    for (const fact of facts) trace.observe(fact, state);
    look(JSON.stringify(trace.finish(state, { workflowId: 'run' })));
  });
}

describe('the trace of any run', () => {
  test('can be resumed at any moment: what was said stays, and no secret shows', { timeout: 300_000 }, () => {
    hold(RUNS, ({ graph: drawn, world }) => {
      const graph = withSecret(drawn);
      let trace = traceOf(graph);
      drive(ENGINE, graph, INPUT, world, ({ advance: { facts, state } }) => {
        for (const fact of facts) trace.observe(fact, state);
        const said = withoutClosing(trace.finish(state, { workflowId: 'run' }).messages);
        trace = traceOf(graph);
        trace.resume(state, said);
        const { messages } = trace.finish(state, { workflowId: 'run' });
        expect(messages.slice(0, said.length)).toEqual(said);
        for (const secret of SECRETS) expect(JSON.stringify(messages).includes(secret)).toBe(false);
      });
    });
  });

  test('can be told at any moment, and holds no secret', { timeout: 300_000 }, () => {
    hold(RUNS, (each) => {
      told(each, (text) => {
        for (const secret of SECRETS) expect(text.includes(secret)).toBe(false);
      });
    });
  });

  test('tells every failure among its steps', { timeout: 300_000 }, () => {
    hold(RUNS, ({ graph, world }) => {
      const trace = traceOf(graph);
      const { state } = lastOf(graph, world, trace);
      const { _meta } = trace.finish(state);
      const names = new Set(_meta.steps.map(({ name }) => name));
      for (const { step } of _meta.errors) expect(step === undefined || names.has(step)).toBe(true);
      if (state.run.status === 'succeeded') expect(_meta.errors).toEqual([]);
      else expect(_meta.errors.length + Number(state.run.status === 'cancelled')).toBeGreaterThan(0);
    });
  });
});

function lastOf(graph: Graph, world: Case['world'], trace: TraceObserver) {
  let last = ENGINE.start(planOf(graph), INPUT, { runId: 'none', at: 0 });
  drive(ENGINE, graph, INPUT, world, ({ advance }) => {
    for (const fact of advance.facts) trace.observe(fact, advance.state);
    last = advance;
  });
  return last;
}
