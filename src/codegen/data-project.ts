import { realpathSync } from 'node:fs';
import { defined } from '../graph/defined.js';
import {
  applySeverity,
  type Diagnostic,
  diagnostic,
  hasErrors,
  sortDiagnostics,
} from '../graph/diagnostics/diagnostic.js';
import type { Graph } from '../graph/model.js';
import type { PlanningHints } from '../infer/tool.js';
import type { UpstreamConfig } from '../runtime/upstream/config.js';
import { nameTools } from '../runtime/upstream/snapshot.js';
import type { CodegenOptions, CodegenResult } from './codegen.js';
import { type CodegenPlan, type PlanOptions, planData } from './config.js';
import type { Phase } from './declarations.js';
import { readSourceIn } from './diagnostics.js';
import { unusedSettings, withConfiguredHints } from './hints-and-domains.js';
import { States } from './incremental/inputs.js';
import { Memo } from './incremental/memo.js';
import { objectRoot } from './schemas/json-schema.js';
import { type LinkedSpecs, openSpecs } from './spec-workflows.js';
import { recordedSnapshot } from './upstream/check.js';
import { toolOptions, usableTools } from './upstream/classes.js';
import { upstreamFiles } from './upstream/pull.js';
import { writeOutputs } from './writer.js';

/** A tool of a recorded snapshot, with all that a registry says of it. */
export type SnapshotTool = ReturnType<typeof toolOptions> & { readonly hints?: PlanningHints };

/** A project without TypeScript: its tools are those of recorded snapshots, its workflows those of spec files. */
export interface DataProject {
  readonly plan: CodegenPlan;
  readonly tools: readonly SnapshotTool[];
  /** Empty if there is an error in a spec file. */
  readonly graphs: readonly Graph[];
  /** What keeps the project from being used at all, such as a snapshot that is missing. */
  readonly faults: readonly Diagnostic[];
  /** Of spec files and of hints. */
  readonly diagnostics: readonly Diagnostic[];
  readonly specs?: LinkedSpecs;
}

/**
 * Reads a project without TypeScript.
 *
 * @returns `undefined` for a project with TypeScript; no value where the configuration has faults.
 */
export async function readDataProject(
  options: PlanOptions,
): Promise<Phase<DataProject | undefined> | undefined> {
  const planned = await planData(options);
  if (planned === undefined) return undefined;
  const { value: plan, diagnostics } = planned;
  return { value: plan && (await readPlanned(options.root, plan)), diagnostics };
}

async function readPlanned(root: string, plan: CodegenPlan): Promise<DataProject> {
  const { value: recorded, diagnostics: faults } = recordedTools(root, plan.upstream ?? {});
  const declared = { value: new Map<SnapshotTool, PlanningHints>(), diagnostics: [] };
  const linked = withConfiguredHints(declared, plan.hints ?? [], { tools: recorded });
  const tools = recorded.map((tool) => ({ ...tool, ...defined({ hints: linked.value.hints.get(tool) }) }));
  const specs = await specsOf(root, plan, tools);
  // Of a server without a snapshot no tool is known.
  const ofSpecs = (specs?.diagnostics ?? []).filter(({ code }) => faults.length === 0 || code !== 'SW4001');
  const diagnostics = [...linked.diagnostics, ...ofSpecs];
  const graphs = specs === undefined || hasErrors(specs.diagnostics) ? [] : specs.graphs;
  if (!hasErrors([...faults, ...diagnostics])) {
    const servers = new Set(recorded.map(({ upstream }) => upstream.server));
    diagnostics.push(...unusedSettings(plan, graphs, servers));
  }
  return {
    ...{ plan, tools, graphs, faults },
    diagnostics: applySeverity(diagnostics, plan.severity),
    ...defined({ specs }),
  };
}

/** The tools of all snapshots, as classes of them would have them. */
function recordedTools(root: string, servers: UpstreamConfig): Phase<readonly SnapshotTool[]> {
  const tools = new Map<string, SnapshotTool>();
  const diagnostics: Diagnostic[] = [];
  for (const [server, settings] of Object.entries(servers)) {
    const snapshot = recordedSnapshot(root, server, settings);
    if (snapshot === undefined) {
      const { snapshot: file } = upstreamFiles(server, settings);
      diagnostics.push(diagnostic('SW9021', undefined, { file, server }));
      continue;
    }
    const { visibility = 'workflow' } = settings;
    for (const named of nameTools(server, usableTools(snapshot.tools).tools)) {
      const tool = toolOptions(named, { server, visibility });
      const { name, inputSchema } = tool;
      if (tools.has(name)) diagnostics.push(diagnostic('SW1004', undefined, { kind: 'tool', name }));
      tools.set(name, { ...tool, inputSchema: objectRoot(inputSchema) ?? inputSchema });
    }
  }
  return { value: [...tools.values()], diagnostics };
}

async function specsOf(
  root: string,
  { registries: [registry] }: CodegenPlan,
  tools: readonly SnapshotTool[],
): Promise<LinkedSpecs | undefined> {
  if (registry?.specs === undefined) return undefined;
  const files = await openSpecs(registry.specs, { root, memo: new Memo(), states: new States() });
  const declared = { value: { tools, workflows: [], prompts: [] }, diagnostics: [] };
  const environment = { tools: new Map(tools.map((tool) => [tool.name, tool])), resources: new Map() };
  return files.check(declared, environment);
}

/**
 * Checks a project without TypeScript, as codegen does one with it. Its registry is not written; the JSON Schema of its
 * spec files is, for editors.
 */
export async function checkDataProject({
  root: folder = '.',
  configFile,
  check = false,
}: CodegenOptions): Promise<CodegenResult> {
  const root = realpathSync(folder);
  const project = await readDataProject({ root, ...defined({ configFile }) });
  const { plan, tools = [], graphs = [], faults = [], diagnostics = [], specs } = project?.value ?? {};
  const all = [...(project?.diagnostics ?? []), ...faults, ...diagnostics];
  const outputs = check || specs === undefined || hasErrors(all) ? [] : [specs.schema()];
  const files = writeOutputs(root, outputs, check);
  const [{ out: registry } = { out: '' }] = plan?.registries ?? [];
  return {
    diagnostics: sortDiagnostics([...all, ...files.diagnostics]),
    ...{ written: files.written, current: files.current },
    found: { tools: tools.length, resources: 0, workflows: graphs.length },
    workflows: graphs.map((graph) => ({ registry, graph })),
    tools: tools.map((tool) => ({ registry, ...tool })),
    internalErrors: [],
    readSource: readSourceIn(root),
  };
}
