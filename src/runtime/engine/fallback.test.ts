import { describe, expect, test } from 'vitest';
import {
  again,
  broken,
  call,
  chain,
  coalesce,
  compute,
  error,
  graph,
  lit,
  Run,
  read,
  step,
  text,
} from './graph.fixture.js';

const told = text(error('node'), ': ', error('code'), ' ', error('message'), ' ', error('attempts'));
const onError = { value: told };

describe('a fallback', () => {
  test('replaces the failure of a node, which then succeeds', () => {
    const run = new Run(graph(chain(call('a', {}, { onError }), call('b', { x: step('a') })))).fails('a');
    expect(run.tables.nodes.a).toMatchObject({ status: 'succeeded' });
    expect(run.tables.commands['b#1']).toMatchObject({ input: { x: 'a: E_TOOL broke 1' } });
    expect(run.last.facts.slice(0, 3)).toMatchObject([
      { kind: 'callReturned', outcome: { ok: false } },
      {
        ...{ kind: 'handled', node: 'a', nodeKind: 'call', attempts: 1, value: 'a: E_TOOL broke 1' },
        failure: { code: 'E_TOOL', message: 'broke' },
      },
      { kind: 'nodeSucceeded', node: 'a' },
    ]);
    expect(run.returns('b').state.run).toMatchObject({ status: 'succeeded' });
    expect(run.state.run.failures).toBeUndefined();
  });

  test('comes after the retries', () => {
    const run = new Run(graph([call('a', {}, { onError, retry: again(2) })])).fails('a').fails('a');
    expect(run.kinds()).not.toContain('handled a');
    expect(run.fails('a').tables.outputs.a).toBe('a: E_TOOL broke 3');
  });

  test('replaces a refused input, which counts as no attempt', () => {
    const refused = { code: 'E_INPUT_INVALID', message: 'no' };
    const run = new Run(graph([call('a', {}, { onError, retry: again(2) })])).fails('a', refused, false);
    expect(run.tables.outputs.a).toBe('a: E_INPUT_INVALID no 0');
  });

  test('replaces an input without a value', () => {
    const run = new Run(graph([call('a', { x: broken }, { onError })]));
    expect(run.tables.outputs.a).toMatch(/^a: E_NOT_AN_OBJECT .* 0$/);
    expect(run.state.run.status).toBe('succeeded');
  });

  test('replaces reads, computed values and timeouts', () => {
    const nodes = [
      read('r', lit('res://r'), { onError }),
      compute('c', broken, { onError }),
      call('t', {}, { onError, timeoutMs: 5 }),
    ];
    const run = new Run(graph(nodes)).fails('r').fires('t');
    expect(Object.keys(run.tables.outputs).sort()).toEqual(['c', 'r', 't']);
    expect(run.tables.outputs.t).toBe('t: E_TIMEOUT Timed out after 5 ms. 1');
  });

  test('may be absent: then the node has no output', () => {
    const run = new Run(
      graph(chain(call('a', {}, { onError: { value: lit() } }), call('b', { x: step('a'), y: lit(1) }))),
    ).fails('a');
    expect(run.tables.outputs).toEqual({});
    expect(run.tables.commands['b#1']).toMatchObject({ input: { y: 1 } });
    expect(run.facts.find(({ kind }) => kind === 'handled')).not.toHaveProperty('value');
  });

  test('may use other steps: it waits for them, and their failure does not skip its node', () => {
    const a = call('a', {}, { onError: { value: coalesce(step('late'), lit('none')) } });
    const run = new Run(graph([a, call('late')], { failFast: false }));
    expect(run.inFlight).toEqual(['late']);
    expect(run.fails('late').fails('a').tables.outputs.a).toBe('none');
  });

  test('without a value leaves the failure, whose message names both', () => {
    const run = new Run(graph([call('a', {}, { onError: { value: broken } })])).fails('a', {
      code: 'E_TOOL',
      message: 'broke.',
      outcomeUnknown: true,
    });
    expect(run.state.run.failure).toMatchObject({ code: 'E_TOOL', outcomeUnknown: true });
    expect(run.state.run.failure?.message).toMatch(
      /^broke\. \(its fallback has no value either: `x` cannot .*\)$/,
    );
  });

  test('does not answer whether the node should run', () => {
    const run = new Run(graph([call('a', {}, { onError, when: lit('yes') })]));
    expect(run.tables.nodes.a).toMatchObject({ status: 'failed', failure: { code: 'E_NOT_A_BOOLEAN' } });
  });

  test('is not asked when the run is cancelled', () => {
    const run = new Run(graph([call('a', {}, { onError })]));
    run.send({ kind: 'cancelled', at: 2_000, reason: 'enough' });
    expect(run.status('a')).toBe('cancelled');
  });

  test('applies if the run ends meanwhile', () => {
    const retry = again(1, { delayMs: 9 });
    const run = new Run(graph([call('a', {}, { onError, retry }), call('bad')])).fails('a').fails('bad');
    expect(run.tables.outputs.a).toBe('a: E_TOOL broke 1');
    expect(run.state.run.failures?.map(({ node }) => node)).toEqual(['bad']);
  });
});
