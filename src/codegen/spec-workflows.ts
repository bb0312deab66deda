import path from 'node:path';
import type { CheckEnvironment } from '../check/check-graph.js';
import { schemaOf } from '../check/value-type.js';
import { resultTypeOf } from '../check/values.js';
import { specSchema } from '../formats/dialects/dialects.js';
import { loadFile } from '../formats/load-files.js';
import {
  checkedGraphs,
  domainsOf,
  type LoweredSpec,
  lowerSpec,
  writtenTwice,
} from '../formats/spec-files.js';
import { formatOf } from '../formats/text/read-text.js';
import { canonicalGraph } from '../graph/canonical.js';
import {
  type Diagnostic,
  type DiagnosticCode,
  diagnostic,
  hasErrors,
} from '../graph/diagnostics/diagnostic.js';
import type { Expr } from '../graph/expression/tree.js';
import type { JsonSchema } from '../graph/json.js';
import type { Domain, Graph } from '../graph/model.js';
import { inputsSchema } from '../graph/part-schema.js';
import type { Declarations, Phase } from './declarations.js';
import { type SpecEntry, specEntryText } from './emit/registry.js';
import type { Inputs, States } from './incremental/inputs.js';
import { type Memo, sha256 } from './incremental/memo.js';
import { GENERATED_COMMENT } from './manifest.js';
import type { SpecPlan } from './spec-plan.js';
import { typeText } from './upstream/classes.js';
import type { OutputFile } from './writer.js';

interface SpecReading {
  /** Absolute. */
  readonly root: string;
  /** Of spec files, by their states. */
  readonly memo: Memo;
  readonly states: States;
  readonly inputs?: Inputs | undefined;
  readonly overlay?: ReadonlyMap<string, string> | undefined;
}

/** The spec files of a registry, which can be checked against its parts. */
export interface SpecFiles {
  check(declared: Phase<DeclaredNames>, environment: CheckEnvironment): LinkedSpecs;
}

/** What else a registry has, by name. */
export interface DeclaredNames {
  readonly tools: readonly Pick<Declarations['tools'][number], 'name' | 'title' | 'description'>[];
  readonly workflows: readonly Pick<Declarations['workflows'][number], 'name' | 'namePlace'>[];
  readonly prompts: readonly Pick<Declarations['prompts'][number], 'name' | 'namePlace'>[];
}

/** The workflows of the spec files of a registry. */
export interface LinkedSpecs {
  /** In the order of writing. */
  readonly graphs: readonly Graph[];
  readonly diagnostics: readonly Diagnostic[];
  /** What the files say about their domains, each domain once. */
  readonly domains: readonly Domain[];
  /** For the registry. Only without errors. */
  entries(): readonly SpecEntry[];
  /** The JSON Schema for editors. */
  schema(): OutputFile;
}

/** Reads the spec files of a registry. Faults are reported by `check`. */
export async function openSpecs(plan: SpecPlan, reading: SpecReading): Promise<SpecFiles> {
  const specs: LoweredSpec[] = [];
  for (const file of plan.files) specs.push(await readSpec(file, reading));
  return { check: (declared, environment) => linkSpecs(plan, specs, declared, environment) };
}

async function readSpec(
  file: string,
  { root, memo, states, inputs, overlay }: SpecReading,
): Promise<LoweredSpec> {
  const absolute = path.join(root, file);
  const text = overlay?.get(absolute) ?? overlay?.get(file);
  const format = formatOf(file);
  if (text !== undefined && format !== undefined) return lowerSpec(text, { file, format });
  inputs?.see(file);
  const state = states.of(absolute);
  const cached = memo.recall<LoweredSpec>('spec', file, state);
  if (cached !== undefined) return cached;
  const spec = await loadFile(file, root);
  memo.keepObject('spec', file, state, spec);
  return spec;
}

function linkSpecs(
  plan: SpecPlan,
  written: readonly LoweredSpec[],
  declared: Phase<DeclaredNames>,
  environment: CheckEnvironment,
): LinkedSpecs {
  const declarations = declared.value;
  const { specs, faults } = withOwnNames(written, declarations);
  const { graphs, earlier, byName, diagnostics: result } = checkedGraphs(specs, environment);
  // What classes are named is not known for certain.
  const areNamed = !hasErrors(declared.diagnostics);
  // A registry has one version of each workflow.
  const versions = earlier.map((graph) => writtenTwice(graph, byName.get(graph.name) ?? graph));
  const diagnostics = [
    ...result.filter(({ code }) => areNamed || !MISSING.has(code)),
    ...faults,
    ...versions,
  ];
  const registered = { ...environment, workflows: byName };
  return {
    graphs,
    diagnostics,
    domains: domainsOf(specs),
    entries: () => (hasErrors(diagnostics) ? [] : graphs.map((graph) => specEntry(graph, registered))),
    schema: () => ({ file: plan.schema, text: schemaText(registered, declarations) }),
  };
}

/** What may be missing because its class could not be read, which has been reported. */
const MISSING: ReadonlySet<DiagnosticCode> = new Set(['SW4001', 'SW4026']);

/**
 * Reports workflows with the name of a class: clients know workflows and prompts by one list of names. Each gets another
 * name, so that who uses the name is checked against the class.
 */
function withOwnNames(
  specs: readonly LoweredSpec[],
  { workflows, prompts }: DeclaredNames,
): { readonly specs: readonly LoweredSpec[]; readonly faults: readonly Diagnostic[] } {
  const faults: Diagnostic[] = [];
  const named = [
    ...workflows.map((declaration) => ({ kind: 'workflow', declaration })),
    ...prompts.map((declaration) => ({ kind: 'prompt', declaration })),
  ];
  const rename = (graph: Graph): Graph => {
    const other = named.find(({ declaration }) => declaration.name === graph.name);
    if (other === undefined) return graph;
    const related = [{ message: 'the other one is here', place: other.declaration.namePlace }];
    faults.push(diagnostic('SW1004', graph.source, { kind: other.kind, name: graph.name }, { related }));
    return { ...graph, name: `${graph.name}-${faults.length + 1}` };
  };
  const renamed = specs.map(({ reports, document }) =>
    document === undefined
      ? { reports }
      : { reports, document: { ...document, graphs: document.graphs.map(rename) } },
  );
  return { specs: renamed, faults };
}

function specEntry(graph: Graph, registered: CheckEnvironment): SpecEntry {
  const text = canonicalGraph(graph);
  return {
    name: graph.name,
    text: specEntryText(text, sha256(text)),
    types: {
      args: typeText(inputsSchema(graph), 2),
      result: typeText(resultSchema(graph, registered), 2),
    },
  };
}

/** Keys of `returns` whose values are never absent are required. */
function resultSchema(graph: Graph, registered: CheckEnvironment): JsonSchema {
  const schema = schemaOf(resultTypeOf(graph, registered), '#');
  const { returns } = graph;
  if (returns?.kind !== 'dict' || schema.properties === undefined) return schema;
  const required = returns.entries.flatMap((entry) =>
    'key' in entry && isAlwaysThere(entry.value) ? [entry.key] : [],
  );
  return { ...schema, required };
}

function isAlwaysThere(value: Expr): boolean {
  switch (value.kind) {
    case 'ref':
      return value.find === 'strict';
    case 'literal':
      return value.value !== undefined;
    default:
      return value.kind === 'text' || value.kind === 'list' || value.kind === 'dict';
  }
}

function schemaText({ tools, workflows }: CheckEnvironment, declarations: DeclaredNames): string {
  const described = declarations.tools.map(({ name, title, description }) => ({
    name,
    title,
    description,
    inputSchema: tools.get(name)?.inputSchema ?? {},
    upstream: tools.get(name)?.upstream,
  }));
  const schema = specSchema({ tools: described, workflows: [...(workflows?.values() ?? [])] });
  return `${JSON.stringify({ $comment: GENERATED_COMMENT, ...schema }, undefined, 2)}\n`;
}
