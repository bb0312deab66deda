import { fileText } from '../../formats/text/read-text.js';
import { defined } from '../../graph/defined.js';
import type { Json, JsonObject } from '../../graph/json.js';
import { inlineText } from '../../graph/printable-text.js';
import { draftSpec } from '../../infer/draft-spec.js';
import { ENOUGH } from '../../infer/evidence.js';
import { planFor, separateWorkflows, type WorkflowChoice } from '../../infer/goal.js';
import { inferOrder } from '../../infer/infer.js';
import { inferenceMermaid, inferenceText, planText } from '../../infer/print-inference.js';
import { hintsFrom, type ToolDescription, toolsFrom } from '../../infer/tool.js';
import { toolNames } from '../../runtime/server/composite/served-workflows.js';
import { clientToolNames, type Registry } from '../../runtime/tools/registry.js';
import type { UpstreamServer } from '../../runtime/upstream/config.js';
import {
  and,
  folderAt,
  Misuse,
  type Output,
  optionCommand,
  REGISTRY_HELP,
  texts,
  wordsOf,
} from '../command-line.js';
import { REGISTRY_OPTIONS, withRegistries } from '../registries.js';

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  format: { type: 'string', oneOf: ['text', 'mermaid', 'json', 'spec'] },
  goal: { type: 'string' },
  upstream: { type: 'string' },
  command: { type: 'string' },
  url: { type: 'string' },
} as const;

/** A list of 10,000 long tools has some 30 MB. */
const MOST_BYTES = 67_108_864;

type Format = (typeof OPTIONS.format.oneOf)[number];

/** `stepwright infer [FILE]`: infers the order of tools, of a file, of a live server or of the registries. */
export const inferCommand = optionCommand(
  'stepwright infer',
  `Usage: stepwright infer [FILE] [options]

Infers which tools come before which: from hints, schemas and descriptions. Nothing is called. FILE is a JSON file with
a list of tools, such as a result of \`tools/list\`. A server that an option names is asked for its list. Without both
the tools of the project's registries are read.

Options:
  --upstream NAME  an upstream server of the configuration
  --command LINE   the command of a server over stdio: \`--command "node server.js"\`
  --url URL        the address of a server over HTTP
  --format FORMAT  text, mermaid, json, or spec, a draft of a spec file (default: text)
  --goal TEXT      what to reach: the workflows that fit, else the calls that may lead to it (text or json)
${REGISTRY_HELP}`,
  OPTIONS,
  1,
  async (parsed, output) => {
    const { format = 'text', goal, upstream, command, url } = parsed.values;
    if (goal !== undefined && format !== 'text' && format !== 'json')
      throw new Misuse('stepwright: `--goal` takes `--format text` or `--format json`');
    const [file] = parsed.args;
    const lists = Object.entries({ '--upstream': upstream, '--command': command, '--url': url })
      .filter(([, value]) => value !== undefined)
      .map(([option]) => `\`${option}\``);
    const sources = [...(file === undefined ? [] : [`\`${file}\``]), ...lists];
    if (sources.length > 1)
      throw new Misuse(
        `stepwright: \`stepwright infer\` reads one list of tools, and was given ${and(sources)}`,
      );
    const print = (tools: readonly ToolDescription[], workflows: readonly WorkflowChoice[]) => {
      output.out(shown(tools, workflows, format, goal));
      return 0;
    };
    if (sources.length === 0) {
      return withRegistries('infer', parsed.values, output, async ({ registries }) =>
        print(
          registries.flatMap(({ registry }) => toolsOf(registry)),
          registries.flatMap(({ registry }) => workflowsOf(registry)),
        ),
      );
    }
    const list =
      file === undefined ? await serverTools(parsed.values, output) : await readTools(file, output);
    if (typeof list === 'number') return list;
    const { tools, workflows } = separateWorkflows(list);
    return print(tools, workflows);
  },
);

/** Returns an exit code if the server does not answer. */
async function serverTools(
  choice: LiveServer & ProjectChoice,
  output: Output,
): Promise<readonly ToolDescription[] | number> {
  const tools = await liveTools(choice, choice, output);
  return typeof tools === 'number' ? tools : (toolsFrom([...tools]) ?? []);
}

async function readTools(file: string, output: Output): Promise<readonly ToolDescription[] | number> {
  const reading = await fileText(file, MOST_BYTES);
  if ('text' in reading) {
    const parsed = parsedJson(reading.text);
    const tools = 'fault' in parsed ? undefined : toolsFrom(parsed.json);
    if (tools !== undefined) return tools;
    const why =
      'fault' in parsed
        ? parsed.fault
        : 'it is not a list of tools, such as `{ "tools": [{ "name": "…", "inputSchema": { … } }] }`';
    output.err(`${texts.noToolList(file, why)}\n`);
  } else {
    const why = 'reason' in reading ? reading.reason : `it has more than ${MOST_BYTES} bytes`;
    output.err(`${texts.noToolList(file, why)}\n`);
  }
  return 1;
}

function parsedJson(text: string): { readonly json: Json } | { readonly fault: string } {
  try {
    return { json: JSON.parse(text) as Json };
  } catch (error) {
    return { fault: inlineText(error instanceof Error ? error.message : String(error)) };
  }
}

function shown(
  tools: readonly ToolDescription[],
  workflows: readonly WorkflowChoice[],
  format: Format,
  goal: string | undefined,
): string {
  if (goal !== undefined) {
    const plan = planFor(goal, tools, workflows);
    return format === 'json' ? jsonText(plan) : planText(plan);
  }
  const inference = inferOrder(tools);
  switch (format) {
    case 'text':
      return inferenceText(inference);
    case 'mermaid':
      return inferenceMermaid(inference);
    case 'json':
      return jsonText({
        ...inference,
        edges: inference.edges.filter(({ confidence }) => confidence >= ENOUGH),
      });
    case 'spec':
      return draftSpec(tools, inference);
  }
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function toolsOf({ tools }: Registry): ToolDescription[] {
  return Object.entries(tools).map(([name, { description, inputSchema, outputSchema, hints }]) => ({
    name,
    description,
    inputSchema,
    ...defined({ outputSchema }),
    ...(hints === undefined ? {} : { hints: hintsFrom(hints) }),
  }));
}

function workflowsOf({ workflows, tools }: Registry): WorkflowChoice[] {
  const graphs = Object.values(workflows).map(({ graph }) => graph);
  const offered = graphs.filter(({ expose }) => expose?.includes('tool'));
  const { names } = toolNames(offered, new Set(clientToolNames({ tools })));
  return graphs.map(({ name, description, inputs }) => {
    const tool = names.get(name);
    return { name, ...defined({ tool }), description, inputs };
  });
}

/** Which MCP server to ask for its tools: one of the configuration, or one that the command line gives. */
interface LiveServer {
  readonly upstream?: string;
  readonly command?: string;
  readonly url?: string;
}

interface ProjectChoice {
  readonly root?: string;
  readonly config?: string;
}

/** What a server is called in messages that the configuration gives no name. */
const UNNAMED = 'server';

/** Connects to a server and lists its tools; calls none. Returns an exit code if that fails, after its report. */
async function liveTools(
  live: LiveServer,
  project: ProjectChoice,
  output: Output,
): Promise<readonly JsonObject[] | number> {
  const folder = folderAt(project.root ?? '.');
  const match =
    live.upstream === undefined
      ? namedServer(live)
      : await configured(live.upstream, folder, project, output);
  if (typeof match === 'number') return match;
  const { name, server } = match;
  const { upstreamServers } = await import('../../runtime/protocol/upstream/upstream-servers.js');
  const { UpstreamError } = await import('../../runtime/upstream/port.js');
  // What a server logs matters only where it fails.
  const said: string[] = [];
  const port = upstreamServers({ [name]: server }, { root: folder, log: (line) => said.push(line) });
  try {
    const { tools } = await port.list(name, new AbortController().signal);
    return tools.map((tool) => ({ ...tool, ...hintsOf(server, tool.name) })) as unknown as JsonObject[];
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    for (const line of said) output.err(`${line}\n`);
    output.err(`${texts.pullFailed(error.message)}\n`);
    return 1;
  } finally {
    await port.close();
  }
}

/** Hints of the configuration, before those that the server lists. */
function hintsOf({ hints = {} }: UpstreamServer, tool: string): object {
  return Object.hasOwn(hints, tool) ? { hints: hints[tool] } : {};
}

interface NamedServer {
  readonly name: string;
  readonly server: UpstreamServer;
}

function namedServer({ command, url }: LiveServer): NamedServer {
  if (url !== undefined) {
    if (URL.canParse(url)) return { name: UNNAMED, server: { url } };
    throw new Misuse(
      `stepwright: \`--url\` takes an address such as \`http://127.0.0.1:3000/mcp\`, not \`${url}\``,
    );
  }
  const [program, ...args] = wordsOf(command ?? '') ?? [];
  if (program === undefined)
    throw new Misuse(
      `stepwright: \`--command\` takes a program and its arguments, such as \`node server.js\`, with every quote closed, not \`${command ?? ''}\``,
    );
  return { name: UNNAMED, server: { command: program, args } };
}

async function configured(
  name: string,
  root: string,
  { config }: ProjectChoice,
  output: Output,
): Promise<NamedServer | number> {
  const { readUpstream } = await import('../../codegen/config.js');
  const upstream = readUpstream({ root, ...defined({ configFile: config }) });
  if (upstream.value === undefined) {
    const { formatDiagnostics } = await import('../../graph/diagnostics/format.js');
    const { readSourceIn } = await import('../../codegen/diagnostics.js');
    output.err(formatDiagnostics(upstream.diagnostics, readSourceIn(root), { color: output.color }));
    return 1;
  }
  const { servers } = upstream.value;
  const server = servers[name];
  if (server !== undefined) return { name, server };
  const names = Object.keys(servers).sort();
  throw new Misuse(names.length === 0 ? texts.noServers : texts.unknownServer(name, names));
}
