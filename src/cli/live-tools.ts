import { realpathSync, statSync } from 'node:fs';
import { defined } from '../graph/defined.js';
import type { JsonObject } from '../graph/json.js';
import type { UpstreamServer } from '../runtime/upstream/config.js';
import { Misuse, type Output, texts } from './command-line.js';

/** Which MCP server to ask for its tools: one of the configuration, or one that the command line gives. */
export interface LiveServer {
  readonly upstream?: string;
  readonly command?: string;
  readonly url?: string;
}

export interface ProjectChoice {
  readonly root?: string;
  readonly config?: string;
}

/** What a server is called in messages that the configuration gives no name. */
const UNNAMED = 'server';

/** Connects to a server and lists its tools; calls none. Returns an exit code if that fails, after its report. */
export async function liveTools(
  live: LiveServer,
  project: ProjectChoice,
  output: Output,
): Promise<readonly JsonObject[] | number> {
  const { root = '.' } = project;
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) throw new Misuse(texts.noFolder(root));
  const folder = realpathSync(root);
  const match =
    live.upstream === undefined
      ? namedServer(live)
      : await configured(live.upstream, folder, project, output);
  if (typeof match === 'number') return match;
  const { name, server } = match;
  const { upstreamServers } = await import('../runtime/protocol/upstream/upstream-servers.js');
  const { UpstreamError } = await import('../runtime/upstream/port.js');
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
  const { readUpstream } = await import('../codegen/config.js');
  const upstream = readUpstream({ root, ...defined({ configFile: config }) });
  if (upstream.value === undefined) {
    const { formatDiagnostics } = await import('../graph/diagnostics/format.js');
    const { readSourceIn } = await import('../codegen/diagnostics.js');
    output.err(formatDiagnostics(upstream.diagnostics, readSourceIn(root), { color: output.color }));
    return 1;
  }
  const { servers } = upstream.value;
  const server = servers[name];
  if (server !== undefined) return { name, server };
  const names = Object.keys(servers).sort();
  throw new Misuse(names.length === 0 ? texts.noServers : texts.unknownServer(name, names));
}

/**
 * The words of a command line: parted by spaces, but for those in quotes. Nothing else has a meaning of its own, so that
 * the same text works on every system. `undefined` for a quote without its end.
 */
export function wordsOf(line: string): string[] | undefined {
  const parts = /(?:"([^"]*)"|'([^']*)'|([^\s"']+))/y;
  const words: string[] = [];
  let isInWord = false;
  for (let at = 0; at < line.length; ) {
    if (/\s/.test(line.charAt(at))) {
      isInWord = false;
      at += 1;
      continue;
    }
    parts.lastIndex = at;
    const part = parts.exec(line);
    if (part === null) return undefined;
    const text = part[1] ?? part[2] ?? part[3] ?? '';
    if (isInWord) words.push(`${words.pop() ?? ''}${text}`);
    else words.push(text);
    isInWord = true;
    at = parts.lastIndex;
  }
  return words;
}
