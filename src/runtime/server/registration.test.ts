import { describe, expect, test } from 'vitest';
import { fromStep, sequential, step, toolHandle } from '../../formats/builder/index.js';
import type { Registry } from '../catalogue/registry.js';
import { RegistrationError, register } from './registration.js';

class Ping {
  execute() {
    return { text: 'pong' };
  }
}

const loud = ({ text }: { text: string }): string => text.toUpperCase();
const hash = 'a'.repeat(64);

const registry: Registry = {
  registryVersion: 1,
  checksum: '',
  tools: { ping: { class: Ping, description: 'Pings', inputSchema: { type: 'object' }, fingerprint: '' } },
  resources: {},
  workflows: {},
  functions: { shout: { function: loud, hash } },
};

const shouting = (by: (out: { text: string }) => string) =>
  sequential('shout-it', 'shout')
    .step(step(toolHandle('ping')).bind('shouted').transform(by))
    .returns(fromStep('shouted'))
    .build();

describe('the functions of a built workflow', () => {
  test('go by what the registry says of them', () => {
    const built = shouting(loud);
    const { workflows, functions } = register(registry, { workflows: [built], prompts: [] });
    expect(workflows[0]?.graph.nodes[1]).toMatchObject({ function: { name: 'shout', hash } });
    expect(functions).toEqual(registry.functions);
  });

  test('of another kind come along', () => {
    const quiet = ({ text }: { text: string }): string => text.toLowerCase();
    const { functions } = register(registry, { workflows: [shouting(quiet)], prompts: [] });
    expect(Object.keys(functions)).toEqual(['shout', 'quiet']);
    expect(functions.quiet?.function).toBe(quiet);
  });

  test('may not take the names of others', () => {
    const shout = () => 'mine';
    expect(() => register(registry, { workflows: [shouting(shout)], prompts: [] })).toThrow(
      new RegistrationError([
        "workflow `shout-it`: SW1004: Workflow 'shout-it' uses the name 'shout' for two functions. Rename one of them",
      ]),
    );
  });
});
