import { promptArg, type SequentialBuilder, sequential, step } from 'stepwright/builder';
import { createServer, type StepwrightServer } from 'stepwright/runtime';
import { registry } from '../../../examples/greeting/generated/greeting.registry.js';
import { Greet } from '../../../examples/greeting/greet.tool.js';

/** A workflow that greets a person a number of times, with a cheap tool. */
export function greetings(count: number): SequentialBuilder {
  let builder = sequential(`greetings-${count}`, 'greet a person').argument('name', 'Whom to greet', true);
  for (let place = 0; place < count; place += 1) {
    builder = builder.step(step(Greet).arg('name', promptArg('name')).bind(`greeting${place}`));
  }
  return builder;
}

/** A server with such workflows, and the registry of the example. */
export function greetingServer(counts: readonly number[]): StepwrightServer {
  return createServer(registry, { workflows: counts.map((count) => greetings(count).build()) });
}

/** The request to each server. */
export function greetingRequest(count: number) {
  return { name: `greetings-${count}`, arguments: { name: 'Ada' } };
}
