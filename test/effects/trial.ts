import type { Node, Retry } from '../../src/graph/kinds/node.js';
import type { Graph } from '../../src/graph/model.js';
import { again, call, graph, lit, node, scope, undoing } from '../oracle/build.js';
import { caseOf } from '../oracle/random-graph.js';
import type { Tapes } from '../oracle/runs.js';
import type { Trial } from './host.js';
import { type Draw, drawFrom, type KeyMode } from './tool-world.js';

const MODES: readonly KeyMode[] = ['honours', 'ignores', 'refuses'];

/** The graph and the world that these numbers make: a third of the worlds in each mode, half of them with crashes. */
export function trialOf({ tape, luck }: Tapes): Trial {
  const draw = drawFrom(luck);
  const chosen = draw(5, 'shape') === 0 ? tripOf(draw) : caseOf(tape, luck).graph;
  const at = draw(160, 'cancelled');
  return {
    ...{ graph: chosen, luck, mode: MODES[draw(3, 'mode')] ?? 'honours', crashes: draw(2, 'crashes') === 0 },
    ...(draw(3, 'cancel') === 0 ? { cancel: { at, compensate: draw(3, 'compensate') > 0 } } : {}),
  };
}

/** What roll-backs and jumps are for: bookings that are made and undone together, and tried again. */
function tripOf(draw: Draw): Graph {
  const bookings = ['flight', 'hotel', 'car'].slice(0, 2 + draw(2, 'bookings'));
  const branches = bookings.map((id) => {
    const options = draw(4, 'undoes', id) > 0 ? { compensate: undoing(id) } : {};
    return { id, body: scope([call(id, {}, options)]) };
  });
  const retry = again(1 + draw(2, 'retry'), { delayMs: draw(20, 'delay') });
  const book = node('parallel', 'book', { onPartialFailure: 'rollback', branches }, { retry });
  if (draw(4, 'around') === 0) return tripAround(book, retry);
  const back = node('goto', 'back', { target: 'book', max: 1, onLimit: 'continue' });
  const pay = call('pay', {}, { after: ['book'], compensate: undoing('pay') });
  return graph(draw(3, 'jumps') === 0 ? [book, back, { ...pay, after: ['back'] }] : [book, pay]);
}

/** A trip that goes on without its bookings, and is made again where it cannot be paid. */
function tripAround(book: Node, retry: Retry): Graph {
  const held = { ...book, onError: { value: lit('none') } };
  const body = scope([held, call('pay', {}, { after: ['book'] })]);
  return graph([node('branch', 'trip', { cases: [{ id: 'always', when: lit(true), body }] }, { retry })]);
}
