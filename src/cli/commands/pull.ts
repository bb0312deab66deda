import { realpathSync, statSync } from 'node:fs';
import { readUpstream } from '../../codegen/config.js';
import { readSourceIn } from '../../codegen/read-source.js';
import { pullServer } from '../../codegen/upstream/pull.js';
import { type Diagnostic, hasErrors } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import { upstreamServers } from '../../runtime/protocol/sdk1/upstream.js';
import type { UpstreamConfig } from '../../runtime/upstream/config.js';
import { UpstreamError, type UpstreamPort } from '../../runtime/upstream/port.js';
import { misused, type Output, parseOptions, texts } from '../command-line.js';

const OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  help: { type: 'boolean' },
} as const;

/** `stepwright pull [NAME]`: records the tools of upstream servers. */
export async function pullCommand(args: readonly string[], output: Output): Promise<number> {
  const parsed = parseOptions('stepwright pull', args, OPTIONS, 1);
  if (parsed.kind === 'fault') return misused(parsed.text, output);
  const { help, root = '.', config } = parsed.values;
  if (help) {
    output.out(texts.pullHelp);
    return 0;
  }
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) return misused(texts.noFolder(root), output);
  const project = realpathSync(root);
  const print = (diagnostics: readonly Diagnostic[]): void =>
    output.err(formatDiagnostics(diagnostics, readSourceIn(project), { color: output.color }));
  const read = readUpstream({ root: project, ...(config === undefined ? {} : { configFile: config }) });
  if (read.value === undefined) {
    print(read.diagnostics);
    return 1;
  }
  const servers = read.value;
  const known = Object.keys(servers).sort();
  if (known.length === 0) return misused(texts.noServers, output);
  const [name] = parsed.args;
  if (name !== undefined && !known.includes(name)) return misused(texts.unknownServer(name, known), output);
  // What servers log matters only where one fails.
  const said: string[] = [];
  const upstream = upstreamServers(servers, { root: project, log: (text) => said.push(text) });
  try {
    let code = 0;
    for (const each of name === undefined ? known : [name]) {
      if (!(await pull(each, { project, servers, upstream, said, output, print }))) code = 1;
    }
    return code;
  } finally {
    await upstream.close();
  }
}

interface Pull {
  readonly project: string;
  readonly servers: UpstreamConfig;
  readonly upstream: UpstreamPort;
  readonly said: readonly string[];
  readonly output: Output;
  readonly print: (diagnostics: readonly Diagnostic[]) => void;
}

/** Returns whether the server was recorded. */
async function pull(
  name: string,
  { project, servers, upstream, said, output, print }: Pull,
): Promise<boolean> {
  const server = servers[name];
  if (server === undefined) return false;
  try {
    const listing = await upstream.list(name, new AbortController().signal);
    const { written, current, notes, diagnostics } = await pullServer({
      root: project,
      name,
      server,
      listing,
    });
    for (const note of notes) output.err(`${texts.pullNote(name, note)}\n`);
    if (diagnostics.length > 0) print(diagnostics);
    for (const file of written) output.out(`${texts.written(file)}\n`);
    for (const file of current) output.out(`${texts.current(file)}\n`);
    return !hasErrors(diagnostics);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    for (const line of said) output.err(`${line}\n`);
    output.err(`${texts.pullFailed(error.message)}\n`);
    return false;
  }
}
