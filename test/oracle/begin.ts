import type { JsonObject, Value } from '../../src/graph/json.js';
import { askClient, askPerson, awaitTime, standInLine } from './attempts.js';
import { beginContainer } from './containers.js';
import { fail, giveUp, succeed, takesPlace } from './endings.js';
import { goBack } from './loops.js';
import type { Instance, Part, Run } from './run.js';
import { end } from './stop.js';
import { undoListed } from './undo.js';
import { attempt, fieldsWith, read, readText } from './values.js';

/** Begins a node, or its next attempt; one that needs a slot waits in the queue. */
export function begin(run: Run, instance: Instance): void {
  instance.again = false;
  if (takesPlace(instance)) {
    standInLine(run, instance);
  } else {
    attempt(
      () => act(run, instance),
      (fault) => giveUp(run, instance, fault),
    );
  }
}

/** Lets the first in line begin, if there is a place. Gives whether it did. */
export function admit(run: Run): boolean {
  const places = run.rules.places(run.graph.maxConcurrency ?? 10);
  const first = run.running < places ? run.line.shift() : undefined;
  if (first === undefined) return false;
  first.begin();
  return true;
}

function act(run: Run, instance: Instance): void {
  const { node, part } = instance;
  switch (node.kind) {
    case 'compute':
      succeed(run, instance, read(run, part, node.value));
      break;
    case 'set': {
      const values = node.updates.map(({ field, value }) => [field, read(run, part, value)] as const);
      for (const [field, value] of values) fieldsWith(run, part, field).set(field, value);
      succeed(run, instance, withoutAbsent(values));
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
      const fault = { code: node.code ?? 'E_FAIL', message: readText(run, part, node.message), again: false };
      if (run.rules.errorWins) part.error = { ...fault, from: instance };
      fail(run, instance, fault);
      end(run, part, 'error', 'run_ended');
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
    case 'shell':
    case 'delegate':
      askClient(run, instance, node);
      break;
    case 'resource':
      throw new Error(`${node.kind} does not begin here`);
  }
}

function withoutAbsent(values: readonly (readonly [string, Value])[]): JsonObject {
  return Object.fromEntries(values.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

function rootOf(part: Part): Part {
  return part.outer === undefined ? part : rootOf(part.outer);
}
