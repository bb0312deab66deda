import { describe, expect, test } from 'vitest';
import { fingerprint, fromMetadata, readMetadata } from '../../decorators/metadata.js';
import { Prompt } from '../../decorators/prompt.js';
import { Resource } from '../../decorators/resource.js';
import { Tool } from '../../decorators/tool.js';
import { hashGraph } from '../../graph/canonical.js';
import type { Graph } from '../../graph/model.js';
import {
  type AnyClass,
  REGISTRY_VERSION,
  type Registry,
  registryChecksum,
  StaleRegistryError,
  verifyRegistry,
} from './registry.js';

@Tool({ name: 'go', description: 'Go' })
class Go {
  execute() {
    return 1;
  }
}

@Resource({ name: 'guide', description: 'Guide' })
class Guide {
  static readonly uri = 'res://guide';
}

const print = (cls: AnyClass): string => {
  const metadata = readMetadata(cls);
  if (metadata === undefined) throw new Error('not decorated');
  return fingerprint(fromMetadata(metadata));
};

const graph: Graph = {
  graphVersion: 1,
  name: 'flow',
  description: 'flow',
  inputs: [],
  instructions: [],
  nodes: [],
};

function registryOf(changes: Partial<Registry> = {}): Registry {
  const tables = {
    tools: { go: { class: Go, description: 'Go', inputSchema: { type: 'object' }, fingerprint: print(Go) } },
    resources: { guide: { class: Guide, uri: 'res://guide', fingerprint: print(Guide) } },
    workflows: {},
    ...changes,
  };
  return { registryVersion: REGISTRY_VERSION, checksum: registryChecksum(tables), ...tables };
}

const differences = (registry: Registry): readonly string[] => {
  try {
    verifyRegistry(registry);
    return [];
  } catch (error) {
    if (error instanceof StaleRegistryError) return error.differences;
    throw error;
  }
};

describe('verifyRegistry', () => {
  test('accepts what codegen wrote for these classes', () => {
    expect(differences(registryOf())).toEqual([]);
  });

  test('another version is refused before anything else is read', () => {
    const registry = { registryVersion: 2, checksum: '' } as Registry;
    expect(differences(registry)).toEqual(['it has registry version 2, this runtime reads version 1']);
  });

  test('names every difference and the command to run', () => {
    @Tool({ name: 'go', description: 'Go further' })
    class Changed {
      execute() {
        return 1;
      }
    }
    class Bare {}
    const tool = registryOf().tools.go!;
    const registry = registryOf({
      tools: {
        go: { ...tool, class: Changed },
        bare: { ...tool, class: Bare },
        guide: { ...tool, class: Guide },
      },
      workflows: { flow: { class: Bare, graph, hash: 'other', fingerprint: '' } },
    });
    expect(differences({ ...registry, checksum: 'edited' })).toEqual([
      'its checksum does not match its content: it was edited by hand, or written only in part',
      'tool `go`: the decorators of Changed changed after codegen ran',
      'tool `bare`: Bare no longer has its decorator',
      'tool `guide`: Guide no longer has its decorator',
      'workflow `flow`: Bare no longer has its decorator',
    ]);
    expect(() => verifyRegistry(registry)).toThrow('Run `npx stepwright codegen`.');
  });

  test('names the package whose installed version is not the one that codegen read', () => {
    @Tool({ name: 'go', description: 'Go further' })
    class Newer {
      execute() {
        return 1;
      }
    }
    class Bare {}
    const tool = { ...registryOf().tools.go!, package: '@acme/tools' };
    const tools = { go: { ...tool, class: Newer }, gone: { ...tool, class: Bare } };
    expect(differences(registryOf({ tools }))).toEqual([
      'tool `go`: the installed package `@acme/tools` is not the one that codegen read: the decorators of Newer differ',
      'tool `gone`: the installed package `@acme/tools` is not the one that codegen read: Bare has no such decorator',
    ]);
  });

  test('a resource whose address went is stale', () => {
    @Resource({ name: 'guide', description: 'Guide' })
    class Moved {
      static readonly uri: string = 'res://guide';
    }
    Reflect.deleteProperty(Moved, 'uri');
    const guide = registryOf().resources.guide!;
    expect(differences(registryOf({ resources: { guide: { ...guide, class: Moved } } }))).toEqual([
      'resource `guide`: the decorators of Moved changed after codegen ran',
    ]);
  });

  test('prompts and templates are compared as well', () => {
    @Prompt({ name: 'hello', description: 'Hello' })
    class Hello {
      render() {
        return [];
      }
    }
    @Resource({ name: 'page' })
    class Page {
      static readonly uriTemplate = 'page://{name}';
      read() {
        return '';
      }
    }
    const prompt = { class: Hello, description: 'Hello', arguments: [], fingerprint: print(Hello) };
    const page = { class: Page, uri: Page.uriTemplate, fingerprint: print(Page) };
    const parts = { resources: { page }, prompts: { hello: prompt } };
    expect(differences(registryOf(parts))).toEqual([]);
    expect(differences(registryOf({ ...parts, prompts: { hello: { ...prompt, class: Go } } }))).toEqual([
      'prompt `hello`: Go no longer has its decorator',
    ]);
    const edited = { hello: { ...prompt, description: 'Bye' } };
    expect(differences({ ...registryOf(parts), prompts: edited })).toEqual([
      'its checksum does not match its content: it was edited by hand, or written only in part',
    ]);
  });

  test('the checksum covers the hash of a graph', () => {
    const flow = { class: Go, graph, hash: hashGraph(graph), fingerprint: print(Go) };
    const undecorated = 'workflow `flow`: Go no longer has its decorator';
    const registry = registryOf({ workflows: { flow } });
    expect(differences(registry)).toEqual([undecorated]);
    const edited = { ...registry, workflows: { flow: { ...flow, hash: '0'.repeat(64) } } };
    expect(differences(edited)).toEqual([
      'its checksum does not match its content: it was edited by hand, or written only in part',
      undecorated,
    ]);
  });
});
