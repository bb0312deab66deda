import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type ConfiguredUpstream, readUpstream } from '../../codegen/config.js';
import { readSourceIn } from '../../codegen/diagnostics.js';
import { checkServer, recordedSnapshot } from '../../codegen/upstream/check.js';
import { type PullRequest, type PullResult, pullServer, upstreamFiles } from '../../codegen/upstream/pull.js';
import { writeOutputs } from '../../codegen/writer.js';
import { SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic, hasErrors } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import { isJsonObject, type Json, type JsonObject, keysOf } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { nearestName } from '../../graph/names.js';
import { oneLine } from '../../graph/printable-text.js';
import type { SourceLocation } from '../../graph/source-location.js';
import { upstreamServers } from '../../runtime/protocol/upstream/upstream-servers.js';
import { checkInput } from '../../runtime/tools/check-input.js';
import {
  cassetteText,
  type Interaction,
  isCassette,
  RecordingUpstream,
} from '../../runtime/upstream/cassette.js';
import { secretMask, type UpstreamConfig } from '../../runtime/upstream/config.js';
import { UpstreamError, type UpstreamPort, type UpstreamTool } from '../../runtime/upstream/port.js';
import { folderAt, Misuse, type Output, optionCommand, texts } from '../command-line.js';
import { readProject } from '../registries.js';
import { checkCassette, type PlannedCall, plannedCalls } from './pull/check-cassette.js';
import { ownServer } from './pull/own-server.js';

const OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  self: { type: 'string' },
  record: { type: 'boolean' },
  'allow-writes': { type: 'boolean' },
  check: { type: 'boolean' },
  cassette: { type: 'string', isRepeatable: true },
} as const;

/** How long a call that is recorded may take where the configuration does not say, in ms. */
const RECORD_LIMIT_MS = 60_000;

/** `stepwright pull [NAME]`: records the tools of upstream servers. */
export const pullCommand = optionCommand(
  'stepwright pull',
  `Usage: stepwright pull [NAME] [options]

Connects to the upstream server NAME of the configuration, records its tools as a snapshot, and writes a tool class for
each of them beside it, and doubles for tests. Without a name it does so for all servers. A project without TypeScript
gets the snapshot alone.

Options:
  --self SERVER    the server of this project: a module that exports it (dist/server.js), or the command that starts it
                   ('node dist/server.js'). Adds it to the configuration, as NAME or by the name of the package
  --record         also make the calls that the configuration has as \`record\`, and write the answers to a cassette
  --allow-writes   of --record: call tools, too, that do not say that they only read
  --check          write nothing; fail where a server lacks what a workflow needs, or does not fit a cassette, and list
                   its other changes
  --cassette FILE  of --check: a cassette of \`stepwright run --record\` to check; may be repeated
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --help           show this
`,
  OPTIONS,
  1,
  async ({ values, args }, output) => {
    const { root = '.', config, check = false, record = false, cassette = [] } = values;
    const { 'allow-writes': allowsWrites = false } = values;
    if (record && check)
      throw new Misuse('stepwright: `stepwright pull` takes `--record` or `--check`, not both');
    if (allowsWrites && !record)
      throw new Misuse('stepwright: `--allow-writes` is for `stepwright pull --record`');
    if (cassette.length > 0 && !check)
      throw new Misuse('stepwright: `--cassette` is for `stepwright pull --check`');
    const project = folderAt(root);
    if (values.self !== undefined && (record || check))
      throw new Misuse('stepwright: `--self` adds a server: use `--record` and `--check` without it, later');
    const print = (diagnostics: readonly Diagnostic[]): void =>
      output.err(formatDiagnostics(diagnostics, readSourceIn(project), { color: output.color }));
    const upstreamConfig = readUpstream({ root: project, ...defined({ configFile: config }) });
    if (upstreamConfig.value === undefined) {
      print(upstreamConfig.diagnostics);
      return 1;
    }
    const self =
      values.self === undefined
        ? undefined
        : ownServer({
            ...{ root: project, server: values.self, servers: upstreamConfig.value.servers },
            ...defined({ configFile: config, name: args[0] }),
          });
    const servers = { ...upstreamConfig.value.servers, ...self?.servers };
    const configured = { ...upstreamConfig.value, servers };
    const name = self?.name ?? args[0];
    const names = name === undefined ? Object.keys(servers).sort() : [name];
    const misuse = misuseOf(names, servers, record);
    if (misuse !== undefined) throw new Misuse(misuse);
    const graphs = check ? await graphsOf(project, config, print, output) : [];
    if (graphs === undefined) return 1;
    // What servers log matters only where one fails.
    const said: string[] = [];
    const upstream = upstreamServers(forPull(servers), { root: project, log: (text) => said.push(text) });
    const common = { project, configured, upstream, said, output, print };
    const work: Work = check
      ? (request) => compare(request, graphs, cassette, common)
      : (request) => write(request, { ...common, record, allowsWrites });
    try {
      let code = 0;
      for (const each of names) if (!(await pull(each, common, work))) code = 1;
      if (code === 0 && self?.text !== undefined) {
        writeFileSync(path.join(project, self.file), self.text);
        output.out(`${texts.written(self.file)}\n`);
      }
      if (!check && !upstreamConfig.value.hasTypeScript) {
        // Editors complete tools by a schema of its own.
        const { checkDataProject } = await import('../../codegen/data-project.js');
        const { written } = await checkDataProject({ root: project, ...defined({ configFile: config }) });
        for (const file of written) output.out(`${texts.written(file)}\n`);
      }
      return code;
    } finally {
      await upstream.close();
    }
  },
);

/** Why there is nothing to do. */
function misuseOf(names: readonly string[], servers: UpstreamConfig, record: boolean): string | undefined {
  const serverNames = Object.keys(servers).sort();
  if (serverNames.length === 0) return texts.noServers;
  const unknown = names.find((name) => !serverNames.includes(name));
  if (unknown !== undefined) return texts.unknownServer(unknown, serverNames);
  const isPlanned = names.some((name) => servers[name]?.record !== undefined);
  return record && !isPlanned
    ? `stepwright: \`--record\` makes the calls that the configuration has as \`record\` of a server, and there are none of ${names.map((name) => `\`${name}\``).join(', ')}: add \`"record": { "TOOL": [{ … }] }\``
    : undefined;
}

/** Calls have a limit, and a server with a registry of this project beside it is asked for its own tools. */
function forPull(servers: UpstreamConfig): UpstreamConfig {
  const limited = Object.entries(servers).map(([name, server]) => {
    const env = { STEPWRIGHT_PULL: '1', STEPWRIGHT_SOURCE_CHECK: 'off' };
    const own = 'command' in server ? { env: { ...server.env, ...env } } : {};
    return [name, { timeoutMs: RECORD_LIMIT_MS, ...server, ...own }];
  });
  return Object.fromEntries(limited) as UpstreamConfig;
}

interface Pull {
  readonly project: string;
  readonly configured: ConfiguredUpstream;
  readonly upstream: Required<UpstreamPort>;
  readonly said: readonly string[];
  readonly output: Output;
  readonly print: (diagnostics: readonly Diagnostic[]) => void;
}

/** What is done with a server that has listed its tools. Returns whether it has succeeded. */
type Work = (request: PullRequest) => Promise<boolean>;

/** The workflows of the project, with the locations of their steps. Errors are printed. */
async function graphsOf(
  root: string,
  configFile: string | undefined,
  print: Pull['print'],
  output: Output,
): Promise<readonly Graph[] | undefined> {
  const result = await readProject('pull', { root, ...defined({ configFile }), check: true }, output);
  if (typeof result === 'number') return undefined;
  const { diagnostics, workflows } = result;
  // A registry that is stale has the same workflows as its sources will have.
  const errors = diagnostics.filter(({ severity, code }) => severity === 'error' && code !== 'SW9001');
  if (errors.length === 0) return workflows.map(({ graph }) => graph);
  print(errors);
  return undefined;
}

/** Compares a server with its snapshot and with cassettes. */
async function compare(
  request: PullRequest,
  graphs: readonly Graph[],
  cassettes: readonly string[],
  { output, print }: Pull,
): Promise<boolean> {
  const { root, name, server, listing } = request;
  const { diagnostics: ofSteps, changes } = checkServer({ ...request, graphs });
  for (const change of changes) output.out(`${`${name}: ${change}; no workflow depends on it`}\n`);
  const snapshot = recordedSnapshot(root, name, server);
  const toolLists = [listing.tools, ...(snapshot === undefined ? [] : [snapshot.tools])];
  const { cassette: own } = upstreamFiles(name, server);
  const planned = plannedCalls(server);
  const diagnostics = [...ofSteps];
  if (planned.length > 0 || existsSync(path.join(root, own)))
    diagnostics.push(...(await checkCassette({ root, file: own, name, toolLists, planned })));
  for (const file of cassettes) diagnostics.push(...(await checkCassette({ root, file, name, toolLists })));
  if (diagnostics.length > 0) print(diagnostics);
  else if (changes.length === 0) output.out(`${`${name} is as recorded`}\n`);
  return diagnostics.length === 0;
}

interface Write extends Pull {
  readonly record: boolean;
  readonly allowsWrites: boolean;
}

/** Writes what a server has listed, and its answers if they are to be recorded. */
async function write(request: PullRequest, context: Write): Promise<boolean> {
  const { configured, upstream, record, allowsWrites } = context;
  const { servers, hasTypeScript, placeOf } = configured;
  const isCurrent = show(request.name, pullServer(request, hasTypeScript), context);
  if (!record || request.server.record === undefined) return isCurrent;
  const recorded = await recordServer({
    ...{ ...request, upstream, placeOf, allowsWrites },
    mask: secretMask(servers, process.env),
  });
  return show(request.name, recorded, context) && isCurrent;
}

function show(
  name: string,
  { written, current, notes, diagnostics }: PullResult,
  { output, print }: Pull,
): boolean {
  for (const note of notes) output.err(`${`${name}: ${note}`}\n`);
  if (diagnostics.length > 0) print(diagnostics);
  for (const file of written) output.out(`${texts.written(file)}\n`);
  for (const file of current) output.out(`${texts.current(file)}\n`);
  return !hasErrors(diagnostics);
}

/** Asks a server for its tools. A failure is printed. */
async function pull(name: string, context: Pull, work: Work): Promise<boolean> {
  const { project, configured, upstream, said, output } = context;
  const server = configured.servers[name];
  if (server === undefined) return false;
  try {
    const listing = await upstream.list(name, new AbortController().signal);
    for (const note of listing.notes ?? []) output.err(`${name}: ${note}\n`);
    return await work({ root: project, name, server, listing });
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    for (const line of said) output.err(`${line}\n`);
    output.err(`${texts.pullFailed(error.message)}\n`);
    return false;
  }
}

interface RecordRequest extends PullRequest {
  readonly upstream: UpstreamPort;
  /** Where a setting under `upstream` of the configuration is written. */
  readonly placeOf: (path: readonly (string | number)[]) => SourceLocation | undefined;
  /** Masks secrets. */
  readonly mask: (value: Json) => Json;
  /** Whether tools may be called that do not say that they only read. */
  readonly allowsWrites: boolean;
}

/**
 * Makes the calls of `record` of a server, one after the other, and writes the answers to its cassette. None is made if
 * one of them would be refused.
 *
 * @throws UpstreamError for a call that is not answered. Nothing is written then.
 */
async function recordServer(request: RecordRequest): Promise<PullResult> {
  const { root, name, server, listing, upstream, mask } = request;
  const planned = plannedCalls(server);
  const refused = await refusals(planned, request);
  if (refused.length > 0) return { written: [], current: [], notes: [], diagnostics: refused };
  const recording = new RecordingUpstream(upstream, mask);
  for (const { tool, input } of planned) {
    const call = { signal: new AbortController().signal, progress: () => {} };
    try {
      await recording.call({ server: name, tool }, input, call);
    } catch (error) {
      // A refusal is an answer.
      if (!(error instanceof UpstreamError) || error.code !== 'E_UPSTREAM_REFUSED') throw error;
    }
  }
  const { cassette } = recording;
  const { cassette: file } = upstreamFiles(name, server);
  const text = cassetteText(cassette);
  const result = writeOutputs(root, [{ file, text, isOurs: isCassette }], false);
  const notes = cassette.interactions.flatMap(failureNote);
  if (result.diagnostics.length > 0) return { ...result, notes };
  const fits = { root, file, name, toolLists: [listing.tools], planned };
  return { ...result, notes, diagnostics: await checkCassette(fits) };
}

/** Tells the author of a call that has failed. */
function failureNote({ tool, result, failure }: Interaction): readonly string[] {
  if (failure !== undefined) return [texts.recordedFailure(tool, oneLine(failure.message))];
  if (result?.isError !== true) return [];
  const said = result.content.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));
  return [texts.recordedFailure(tool, oneLine(said.join(' ')))];
}

/** What keeps calls from being made, at their places in the configuration. */
async function refusals(
  planned: readonly PlannedCall[],
  { name, listing, placeOf, allowsWrites }: RecordRequest,
): Promise<readonly Diagnostic[]> {
  const offered = new Map(listing.tools.map((tool) => [tool.name, tool]));
  const schemas = new SchemaCompiler();
  const diagnostics: Diagnostic[] = [];
  for (const { tool, input, index } of planned) {
    const refuse = (path: readonly (string | number)[], problem: string, repair?: string): void => {
      diagnostics.push(
        diagnostic('SW9033', placeOf([name, 'record', tool, ...path]), {
          server: name,
          tool,
          problem,
          repair,
        }),
      );
    };
    const contract = offered.get(tool);
    if (contract === undefined) {
      const near = nearestName(tool, [...offered.keys()]);
      if (index === 0) refuse([], 'the server does not offer it', near && `did you mean \`${near}\`?`);
      continue;
    }
    if (index === 0 && !allowsWrites && contract.annotations?.readOnlyHint !== true)
      refuse(
        [],
        'it has no `readOnlyHint`, so that it may change something',
        'add `--allow-writes` to call it all the same',
      );
    for (const { pointer, message } of await inputProblems(contract, input, schemas))
      refuse([index, ...keysOf(pointer)], message);
  }
  return diagnostics;
}

/** What a server would refuse of an input. */
async function inputProblems(
  { name, inputSchema }: UpstreamTool,
  input: JsonObject,
  schemas: SchemaCompiler,
): Promise<readonly { readonly pointer: string; readonly message: string }[]> {
  const checked = await checkInput(input, { tool: name, jsonSchema: inputSchema }, schemas);
  if (checked.ok) return [];
  const { message, details } = checked.failure;
  if (!isJsonObject(details) || !Array.isArray(details.problems)) return [{ pointer: '', message }];
  return details.problems as unknown as readonly { readonly pointer: string; readonly message: string }[];
}
