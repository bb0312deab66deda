import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Tool } from 'stepwright';
import { loadWorkflowFiles } from 'stepwright/formats';
import { createServer } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/graph/json.js';
import type { ToolDescription } from '../../../src/infer/tool.js';
import { expectGolden, goldenFiles } from '../../golden/golden.js';
import { type Case, cases } from '../../golden/orchestrator/cases.js';
import { connectedTo } from './connected.js';
import { type RegistryParts, registryOf } from './fixture/registry-of.js';

const GOLDEN = fileURLToPath(new URL('../../golden/orchestrator/', import.meta.url));
const FILES = fileURLToPath(new URL('../../formats/spec-files/', import.meta.url));

function toolPart(tool: ToolDescription): RegistryParts['tools'][number] {
  const { name, description = '', inputSchema, outputSchema, hints } = tool;
  @Tool({ name, description })
  class Described {
    execute() {
      throw new Error('a tool was called');
    }
  }
  return {
    class: Described,
    input: inputSchema,
    ...(outputSchema === undefined ? {} : { output: outputSchema }),
    ...(hints === undefined ? {} : { hints: hints as JsonObject }),
  };
}

/** A client of a server with the tools of a case, and the workflows of its files as tools and resources. */
async function clientOf({ tools, files }: Case): Promise<Client> {
  const registry = registryOf({ tools: tools.map(toolPart) });
  const registered = {
    tools: new Map(Object.entries(registry.tools)),
    resources: new Map(),
    workflows: new Map(),
  };
  const { workflows, domains, diagnostics } = await loadWorkflowFiles(files, { root: FILES, registered });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const exposed = workflows.map(({ graph }) => ({
    graph: { ...graph, expose: ['tool', 'resource'] as const },
  }));
  const settings = { workflows: exposed, domains, describe: 'full' as const, log: () => {} };
  return (await connectedTo(createServer(registry, settings))).client;
}

/** The descriptions of the listed tools, and the resources of workflows in all their forms. */
async function textsOf(client: Client): Promise<string> {
  const { tools } = await client.listTools();
  const parts = tools.map(({ name, description = '' }) => `== ${name}\n${description}\n`);
  if (client.getServerCapabilities()?.resources === undefined) return parts.join('\n');
  const { resources } = await client.listResources();
  const uris = resources.flatMap(({ uri }) =>
    uri.endsWith('/overview') ? [uri] : [uri, `${uri}.yaml`, `${uri}.mmd`],
  );
  for (const uri of uris) {
    const { contents } = await client.readResource({ uri });
    const [content] = contents;
    if (content === undefined || !('text' in content)) throw new Error(`${uri} has no text`);
    parts.push(`== ${uri} (${content.mimeType})\n${content.text}`);
  }
  return parts.join('\n');
}

describe('what a client reads of the examples of the orchestrator', () => {
  test.each(Object.entries(cases))('%s', async (name, given) => {
    expectGolden(`${GOLDEN}${name}.txt`, await textsOf(await clientOf(given)));
  });

  test('every golden file belongs to a case', () => {
    expect(goldenFiles(GOLDEN).map((file) => basename(file, '.txt'))).toEqual(Object.keys(cases).sort());
  });
});
