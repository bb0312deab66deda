import { realpathSync, statSync } from 'node:fs';
import { runCodegen } from '../../codegen/codegen.js';
import { readUpstream } from '../../codegen/config.js';
import { readSourceIn } from '../../codegen/read-source.js';
import { checkServer } from '../../codegen/upstream/check.js';
import { type PullRequest, pullServer } from '../../codegen/upstream/pull.js';
import { type Diagnostic, hasErrors } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import type { Graph } from '../../graph/model.js';
import { upstreamServers } from '../../runtime/protocol/sdk1/upstream.js';
import type { UpstreamConfig } from '../../runtime/upstream/config.js';
import { UpstreamError, type UpstreamPort } from '../../runtime/upstream/port.js';
import { misused, type Output, parseOptions, texts } from '../command-line.js';

const OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  check: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** `stepwright pull [NAME]`: records the tools of upstream servers. */
export async function pullCommand(args: readonly string[], output: Output): Promise<number> {
  const parsed = parseOptions('stepwright pull', args, OPTIONS, 1);
  if (parsed.kind === 'fault') return misused(parsed.text, output);
  const { help, root = '.', config, check = false } = parsed.values;
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
  const graphs = check ? await graphsOf(project, config, print) : [];
  if (graphs === undefined) return 1;
  // What servers log matters only where one fails.
  const said: string[] = [];
  const upstream = upstreamServers(servers, { root: project, log: (text) => said.push(text) });
  try {
    let code = 0;
    for (const each of name === undefined ? known : [name]) {
      if (
        !(await pull(each, { project, servers, upstream, said, output, print, ...(check ? { graphs } : {}) }))
      )
        code = 1;
    }
    return code;
  } finally {
    await upstream.close();
  }
}

interface Pull {
  readonly project: string;
  readonly servers: UpstreamConfig;
  readonly upstream: Required<UpstreamPort>;
  readonly said: readonly string[];
  readonly output: Output;
  readonly print: (diagnostics: readonly Diagnostic[]) => void;
  /** The workflows that the server is checked against; missing where it is recorded. */
  readonly graphs?: readonly Graph[];
}

/** The workflows of the project, with the locations of their steps. Errors are printed. */
async function graphsOf(
  root: string,
  configFile: string | undefined,
  print: Pull['print'],
): Promise<readonly Graph[] | undefined> {
  const named = configFile === undefined ? {} : { configFile };
  const { diagnostics, workflows } = await runCodegen({ root, ...named, check: true });
  // A registry that is stale has the same workflows as its sources will have.
  const errors = diagnostics.filter(({ severity, code }) => severity === 'error' && code !== 'SW9001');
  if (errors.length === 0) return workflows.map(({ graph }) => graph);
  print(errors);
  return undefined;
}

function compare(
  { graphs, output, print }: Pull & { readonly graphs: readonly Graph[] },
  request: PullRequest,
): boolean {
  const { diagnostics, changes } = checkServer({ ...request, graphs });
  for (const change of changes) output.out(`${texts.pullChange(request.name, change)}\n`);
  if (diagnostics.length > 0) print(diagnostics);
  else if (changes.length === 0) output.out(`${texts.pullUnchanged(request.name)}\n`);
  return diagnostics.length === 0;
}

/** Returns whether the server was recorded. */
async function pull(name: string, context: Pull): Promise<boolean> {
  const { project, servers, upstream, said, output, print, graphs } = context;
  const server = servers[name];
  if (server === undefined) return false;
  try {
    const listing = await upstream.list(name, new AbortController().signal);
    const request = { root: project, name, server, listing };
    if (graphs !== undefined) return compare({ ...context, graphs }, request);
    const { written, current, notes, diagnostics } = await pullServer(request);
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
