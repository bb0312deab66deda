import { unreachable } from '../../src/graph/unreachable.js';
import { askPerson, awaitTime, launch } from './attempts.js';
import { beginContainer } from './containers.js';
import { end, failForGood, giveUp, succeed, takesPlace } from './endings.js';
import { goBack } from './loops.js';
import type { Instance, Part, Run } from './run.js';
import { undoListed } from './undo.js';
import { attempt, read, readText } from './values.js';

/** Begins a node, or its next attempt; one that takes a place stands in line for it. */
export function begin(run: Run, instance: Instance): void {
  instance.again = false;
  if (takesPlace(instance)) {
    instance.status = 'ready';
    run.line.push(instance);
  } else {
    attempt(
      () => act(run, instance),
      (fault) => giveUp(run, instance, fault),
    );
  }
}

/** Lets those in line begin, as long as there are places. */
export function admit(run: Run): void {
  const places = run.rules.places(run.graph.maxConcurrency ?? 10);
  while (run.running < places) {
    const first = run.line.shift();
    if (first === undefined) return;
    attempt(
      () => launch(run, first),
      (fault) => giveUp(run, first, fault),
    );
  }
}

function act(run: Run, instance: Instance): void {
  const { node, part } = instance;
  switch (node.kind) {
    case 'compute':
      succeed(run, instance, read(run, part, node.value));
      break;
    case 'set': {
      const values = node.updates.map(({ field, value }) => [field, read(run, part, value)] as const);
      for (const [field, value] of values) run.fields.set(field, value);
      succeed(run, instance, Object.fromEntries(values.filter(([, value]) => value !== undefined)));
      break;
    }
    case 'return': {
      const value = read(run, part, node.value);
      succeed(run, instance, value);
      part.frame.returned = { value };
      end(run, rootOf(part), 'return', 'run_ended');
      break;
    }
    case 'error': {
      const fault = { code: node.id, message: readText(run, part, node.message), again: false };
      if (run.rules.errorWins) part.error = { ...fault, from: instance };
      end(run, part, 'error', 'run_ended');
      failForGood(run, instance, fault);
      break;
    }
    case 'goto':
      goBack(run, instance, node);
      break;
    case 'ask':
      askPerson(run, instance, node);
      break;
    case 'wait':
      awaitTime(run, instance, node);
      break;
    case 'compensate':
      undoListed(run, instance, node);
      break;
    case 'branch':
    case 'parallel':
    case 'foreach':
    case 'workflow':
      beginContainer(run, instance);
      break;
    case 'call':
    case 'resource':
    case 'shell':
    case 'delegate':
      throw new Error(`${node.kind} does not begin here`);
    default:
      unreachable(node);
  }
}

function rootOf(part: Part): Part {
  return part.outer === undefined ? part : rootOf(part.outer);
}
