import { afterEach, expect, test } from 'vitest';
import { call, chain, driving, graph, Run } from '../../src/runtime/engine/graph.fixture.js';

const { reloads } = driving;

afterEach(() => {
  driving.reloads = reloads;
});

test.each([true, false])(
  'a state that is reloaded before every event is another object: %s',
  (isReloaded) => {
    driving.reloads = isReloaded;
    const run = new Run(graph(chain(call('first'), call('second'))));
    const before = run.state;
    run.returns('first', 1);
    expect(run.state === before).toBe(!isReloaded);
    expect(run.returns('second', 2).state.run.status).toBe('succeeded');
  },
);
