import { caseOf } from '../oracle/random-graph.js';
import type { Tapes } from '../oracle/runs.js';
import type { Trial } from './host.js';
import { drawFrom, type KeyMode } from './tool-world.js';

const MODES: readonly KeyMode[] = ['honours', 'ignores', 'refuses'];

/** The graph and the world that these numbers make: a third of the worlds in each mode, half of them with crashes. */
export function trialOf({ tape, luck }: Tapes): Trial {
  const { graph } = caseOf(tape, luck);
  const draw = drawFrom(luck);
  const at = draw(160, 'cancelled');
  return {
    ...{ graph, luck, mode: MODES[draw(3, 'mode')] ?? 'honours', crashes: draw(2, 'crashes') === 0 },
    ...(draw(3, 'cancel') === 0 ? { cancel: { at, compensate: draw(3, 'compensate') > 0 } } : {}),
  };
}
