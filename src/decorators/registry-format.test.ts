import { describe, expect, test } from 'vitest';
import { type RegistryTables, registryChecksum } from './registry-format.js';

const tables: RegistryTables = {
  tools: { a: { class: class A {}, description: 'a' } },
  resources: {},
  workflows: {},
  prompts: { p: { class: class P {}, description: 'p' } },
  functions: { f: { function: () => 1, hash: 'h' } },
};

describe('the checksum of a registry', () => {
  test('leaves out what is code', () => {
    expect(registryChecksum(tables)).toMatch(/^[0-9a-f]{64}$/);
    expect(
      registryChecksum({
        ...tables,
        tools: { a: { description: 'a' } },
        prompts: { p: { description: 'p' } },
        functions: { f: { hash: 'h' } },
      }),
    ).toBe(registryChecksum(tables));
  });

  test.each<[string, Partial<RegistryTables>]>([
    ['a tool', { tools: { a: { description: 'b' } } }],
    ['a resource', { resources: { r: {} } }],
    ['a workflow', { workflows: { w: {} } }],
    ['a prompt', { prompts: {} }],
    ['a function', { functions: { f: { hash: 'i' } } }],
  ])('changes with %s', (_what, change) => {
    expect(registryChecksum({ ...tables, ...change })).not.toBe(registryChecksum(tables));
  });

  test('takes a table that is left out for an empty one', () => {
    const { tools, resources, workflows } = tables;
    expect(registryChecksum({ tools, resources, workflows })).toBe(
      registryChecksum({ tools, resources, workflows, prompts: {}, functions: {} }),
    );
  });
});
