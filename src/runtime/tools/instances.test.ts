import { describe, expect, expectTypeOf, test } from 'vitest';
import type {
  Factories,
  InstanceContext,
  ResourceFactories,
  ToolFactories,
  WithFactories,
} from './instances.js';
import { defineRegistry, type Registry } from './registry.js';
import { createToolset } from './toolset.js';

class Folder {
  readonly path = '.';
}

class AddTask {
  constructor(readonly folder: Folder) {}
  execute() {
    return this.folder.path;
  }
}

class ListPages {
  execute() {
    return [];
  }
}

class Search {
  constructor(readonly limit = 10) {}
  execute() {
    return this.limit;
  }
}

class Guide {
  constructor(readonly folder: Folder) {}
  read() {
    return this.folder.path;
  }
}

const entry = { description: 'A tool', inputSchema: { type: 'object' }, fingerprint: '' } as const;
const common = { registryVersion: 1, checksum: '', workflows: {} } as const;

const needy = defineRegistry({
  ...common,
  tools: {
    'add-task': { class: AddTask, ...entry },
    'list-pages': { class: ListPages, ...entry },
    search: { class: Search, ...entry },
  },
  resources: { guide: { class: Guide, uri: 'res://guide', fingerprint: '' } },
});

const simple = defineRegistry({
  ...common,
  tools: { 'list-pages': { class: ListPages, ...entry }, search: { class: Search, ...entry } },
  resources: {},
});

const folder = new Folder();

describe('factories', () => {
  test('are required for constructors with parameters, and optional for others', () => {
    expectTypeOf<ToolFactories<typeof needy>>().toExtend<{
      readonly 'add-task': (context: InstanceContext) => AddTask | Promise<AddTask>;
    }>();
    expectTypeOf<Required<ToolFactories<typeof needy>>>().toHaveProperty('list-pages');
    expectTypeOf<ResourceFactories<typeof needy>>().toHaveProperty('guide');
    expectTypeOf<Partial<ResourceFactories<typeof needy>>>().not.toExtend<ResourceFactories<typeof needy>>();
    expectTypeOf<WithFactories<typeof simple>>().toEqualTypeOf<
      readonly [options?: Factories<typeof simple>]
    >();

    const resources = { guide: () => new Guide(folder) };
    createToolset(needy, { tools: { 'add-task': () => new AddTask(folder) }, resources });
    createToolset(needy, {
      tools: { 'add-task': () => new AddTask(folder), search: () => new Search(3) },
      resources,
    });
    createToolset(simple);
    createToolset(simple, {});
    createToolset(simple, { tools: { search: () => new Search(3) } });
    // A registry whose names are not known at compile time needs none: what is missing is found at start.
    createToolset<Registry>(simple);
  });

  test('with `create`, no class needs one', () => {
    const create = (cls: new (folder: Folder) => object) => new cls(folder);
    createToolset(needy, { create });
    createToolset(needy, { create, tools: { search: () => new Search(3) } });
    createToolset(simple, { create });
    // @ts-expect-error Assert that a factory beside `create` makes an instance of its own class
    createToolset(needy, { create, tools: { search: () => new ListPages() } });
    const unfit = { create: 'container', instances: 'thread' } as never;
    expect(() => createToolset<Registry>(simple, unfit)).toThrow(
      "instances must be 'process', 'session', 'request', not \"thread\"",
    );
    expect(() => createToolset<Registry>(simple, unfit)).toThrow('create must be a function');
  });

  test('wrong ones are type errors, and most of them are found at run time as well', () => {
    const resources = { guide: () => new Guide(folder) };
    // @ts-expect-error Assert that options are required where a class needs a factory
    expect(() => createToolset(needy)).toThrow('add-task');
    // @ts-expect-error Assert that `tools` is required where a tool needs a factory
    expect(() => createToolset(needy, { resources })).toThrow('add-task');
    // @ts-expect-error Assert that a tool whose constructor takes parameters needs a factory
    expect(() => createToolset(needy, { tools: {}, resources })).toThrow('add-task');
    // @ts-expect-error Assert that a resource whose constructor takes parameters needs a factory
    expect(() => createToolset(needy, { tools: { 'add-task': () => new AddTask(folder) } })).toThrow('guide');
    // @ts-expect-error Assert that a factory makes an instance of its own class
    createToolset(needy, { tools: { 'add-task': () => new ListPages() }, resources });
    // @ts-expect-error Assert that a factory for a tool that is not there is refused
    expect(() => createToolset(simple, { tools: { 'lsit-pages': () => new ListPages() } })).toThrow(
      'lsit-pages',
    );
  });
});
