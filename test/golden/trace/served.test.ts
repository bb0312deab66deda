import { Resource, Tool } from 'stepwright';
import { createServer, ProtocolFault, RegistrationError, type ServerSettings } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import { hashGraph } from '../../../src/graph/canonical.js';
import { pathKey, readKey } from '../../../src/graph/expression/traversal.js';
import type { Graph } from '../../../src/graph/model.js';
import { registryOf as generated } from '../../e2e/server/fixture/registry-of.js';
import { isNightly } from '../../nightly.js';
import { cases } from './cases.js';
import { registryOf, type Scenario } from './scenario.js';

/** A case whose time passes only with the clock of its scenario. */
const TAKES_TIME = /"(?:delayMs|timeoutMs|durationMs|until)":/;
const HAS_NO_ANSWER = /-without-an-answer$/;
/** How many of its items begin before one of them fails depends on how busy the machine is. */
const IN_ANY_ORDER = 'foreach-fifty-items-fail';

const plain = Object.entries(cases).filter(
  ([name, { graph, deadlineMs }]) =>
    name !== IN_ANY_ORDER &&
    graph.task !== true &&
    deadlineMs === undefined &&
    !HAS_NO_ANSWER.test(name) &&
    !TAKES_TIME.test(JSON.stringify(graph)),
);

/** One case in so many is served. */
const EACH = isNightly ? 1 : 8;

/** A graph with keys in the one spelling that a server takes. */
function canonical(graph: Graph): Graph {
  return JSON.parse(JSON.stringify(graph), (_, value) =>
    value?.kind === 'get' && value.optional !== true && pathKey(value.key) !== undefined
      ? readKey(value.of, value.key)
      : value,
  );
}

/** The classes of a scenario with decorators, as those of a program. */
function decorated(scenario: Scenario, abort: (reason: string) => void) {
  const { tools, resources, functions } = registryOf(scenario, abort);
  return generated({
    tools: Object.entries(tools).map(([name, { class: Base, inputSchema, fingerprint: _, ...options }]) => {
      @Tool({ ...options, name })
      class Served extends (Base as new () => { execute(input: Record<string, unknown>): unknown }) {}
      return { class: Served, input: inputSchema };
    }),
    resources: Object.entries(resources).map(([name, { class: Base, uri, mimeType }]) => {
      @Resource({ name, description: name, mimeType: mimeType ?? 'text/plain' })
      class Served extends (Base as new () => { read(): string }) {
        static readonly uri = uri ?? '';
      }
      return { class: Served };
    }),
    functions: functions ?? {},
  });
}

/** The answer to the prompt of a workflow as text, without ids of runs and times. `undefined` if no server takes it. */
async function answerOf(scenario: Scenario, settings: ServerSettings): Promise<string | undefined> {
  const controller = new AbortController();
  const { given = {}, signal = controller.signal } = scenario;
  const registry = decorated(scenario, (reason) => controller.abort(reason));
  const graph = canonical(scenario.graph);
  const options = { workflows: [{ graph, hash: hashGraph(graph) }], log: () => {}, ...settings };
  let server: ReturnType<typeof createServer>;
  try {
    server = createServer(registry, options);
  } catch (error) {
    if (error instanceof RegistrationError) return undefined;
    throw error;
  }
  const request = { requestId: 'r1', signal, progress() {} };
  const answer = await server.getPrompt(graph.name, given, request).catch((error: unknown) => {
    if (error instanceof ProtocolFault) return error.message;
    throw error;
  });
  await server.stop();
  return JSON.stringify(answer)
    .replaceAll(/[0-9a-f]{32}/g, 'id')
    .replaceAll(/[\d-]{10}T[\d:.]+Z/g, 'time');
}

test('a workflow without tasks answers alike with a store and without one', { timeout: 90_000 }, async () => {
  const served: string[] = [];
  for (const [name, scenario] of plain.filter((_, index) => index % EACH === 0)) {
    const without = await answerOf(scenario, {});
    if (without === undefined) continue;
    expect(await answerOf(scenario, { store: 'memory' }), name).toBe(without);
    expect(without).not.toMatch(/"task_(?:id|status|error)"/);
    served.push(name);
  }
  // Servers refuse the others, such as those with functions that are not in a module.
  expect(served.length).toBeGreaterThan(85 / EACH);
});
