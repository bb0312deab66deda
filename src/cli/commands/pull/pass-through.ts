import type { ToolContext } from '../../../decorators/context.js';
import type { JsonObject } from '../../../graph/json.js';
import type { Registry, ToolEntry } from '../../../runtime/tools/registry.js';
import type { UpstreamTool } from '../../../runtime/upstream/port.js';

/** What the classes of upstream tools do. */
class PassThrough {
  execute(input: JsonObject, context: ToolContext): Promise<unknown> {
    return context.callUpstream(input);
  }
}

/** A registry of the tools of one server, by their own names, that calls them as a project does. */
export function passThrough(tools: readonly UpstreamTool[]): Registry {
  const entries = tools.map(({ name, inputSchema, outputSchema }): [string, ToolEntry] => [
    name,
    {
      class: PassThrough,
      description: name,
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      upstream: { server: '', tool: name },
      fingerprint: '',
    },
  ]);
  return {
    registryVersion: 1,
    checksum: '',
    tools: Object.fromEntries(entries),
    resources: {},
    workflows: {},
  };
}
