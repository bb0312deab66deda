import path from 'node:path';
import type { CheckEnvironment } from '../check/check-graph.js';
import { schemaOf } from '../check/value-type.js';
import { resultTypeOf } from '../check/values.js';
import { describedInputs } from '../formats/editor-schema/call-schemas.js';
import { specSchema } from '../formats/editor-schema/spec-schema.js';
import { loadFile } from '../formats/load-workflow-files.js';
import { checkedGraphs, type LoweredSpec, lowerSpec } from '../formats/spec-files.js';
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
import type { Graph } from '../graph/model.js';
import type { Declarations, FaultyClass } from './declarations.js';
import { GENERATED_COMMENT } from './emit/manifest.js';
import { type SpecEntry, specEntryText } from './emit/registry.js';
import type { Inputs, States } from './inputs.js';
import { sha256 } from './schemas/cache/cache-file.js';
import type { SpecPlan } from './spec-plan.js';
import { typeText } from './upstream/type-text.js';
import type { OutputFile } from './writer.js';

/** What is remembered of spec files, by file: they are read again when their state is another one. */
export type SpecMemory = Map<string, { readonly state: string; readonly spec: LoweredSpec }>;

/** How spec files are read. */
interface SpecReading {
  /** Absolute. */
  readonly root: string;
  readonly memory: SpecMemory;
  readonly states: States;
  readonly inputs?: Inputs | undefined;
  readonly overlay?: ReadonlyMap<string, string> | undefined;
}

/** The spec files of a registry, which can be checked against its parts. */
export interface SpecFiles {
  check(declarations: Declarations, environment: CheckEnvironment): LinkedSpecs;
}

/** The workflows of the spec files of a registry. */
export interface LinkedSpecs {
  /** In the order of writing. */
  readonly graphs: readonly Graph[];
  readonly diagnostics: readonly Diagnostic[];
  /** For the registry. Only without errors. */
  entries(): readonly SpecEntry[];
  /** The JSON Schema for editors. */
  schema(): OutputFile;
}

/** Reads the spec files of a registry. Faults are reported by `check`. */
export async function openSpecs(plan: SpecPlan, reading: SpecReading): Promise<SpecFiles> {
  const specs: LoweredSpec[] = [];
  for (const file of plan.files) specs.push(await readSpec(file, reading));
  return { check: (declarations, environment) => linkSpecs(plan, specs, declarations, environment) };
}

async function readSpec(
  file: string,
  { root, memory, states, inputs, overlay }: SpecReading,
): Promise<LoweredSpec> {
  const absolute = path.join(root, file);
  const text = overlay?.get(absolute) ?? overlay?.get(file);
  const format = formatOf(file);
  if (text !== undefined && format !== undefined) return lowerSpec(text, { file, format });
  inputs?.see(file);
  const state = states.of(absolute);
  const known = memory.get(file);
  if (known?.state === state) return known.spec;
  const spec = await loadFile(file, root);
  memory.set(file, { state, spec });
  return spec;
}

function linkSpecs(
  plan: SpecPlan,
  specs: readonly LoweredSpec[],
  declarations: Declarations,
  environment: CheckEnvironment,
): LinkedSpecs {
  const { graphs, byName, diagnostics: found } = checkedGraphs(specs, environment);
  const diagnostics = [
    ...found.filter((fault) => !isEcho(fault, declarations)),
    ...graphs.flatMap((graph) => takenName(graph, declarations) ?? []),
  ];
  const registered = { ...environment, workflows: byName };
  return {
    graphs,
    diagnostics,
    entries: () => (hasErrors(diagnostics) ? [] : graphs.map((graph) => specEntry(graph, registered))),
    schema: () => ({ file: plan.schema, text: schemaText(registered, declarations) }),
  };
}

/** Whether what is missing may be a class that could not be read, which has been reported. */
function isEcho({ code }: Diagnostic, { faulty, brokenFiles }: Declarations): boolean {
  const kind = MISSING[code];
  return kind !== undefined && (brokenFiles.size > 0 || faulty.some((each) => each.kind === kind));
}

const MISSING: { readonly [C in DiagnosticCode]?: FaultyClass['kind'] } = {
  SW4001: 'tool',
  SW4026: 'workflow',
};

/** Clients know workflows and prompts by one list of names. */
function takenName({ name, source }: Graph, { workflows, prompts }: Declarations): Diagnostic | undefined {
  const other = [...workflows, ...prompts].find((each) => each.name === name);
  if (other === undefined) return undefined;
  const kind = prompts.some((each) => each === other) ? 'prompt' : 'workflow';
  const related = [{ message: 'the other one is here', place: other.namePlace }];
  return diagnostic('SW1004', source, { kind, name }, { related });
}

function specEntry(graph: Graph, registered: CheckEnvironment): SpecEntry {
  const text = canonicalGraph(graph);
  return {
    name: graph.name,
    text: specEntryText(text, sha256(text)),
    types: {
      args: typeText(describedInputs(graph), 2),
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

function schemaText({ tools, workflows }: CheckEnvironment, declarations: Declarations): string {
  const described = declarations.tools.map(({ name, title, description }) => ({
    name,
    title,
    description,
    inputSchema: tools.get(name)?.inputSchema ?? {},
  }));
  const schema = specSchema({ tools: described, workflows: [...(workflows?.values() ?? [])] });
  return `${JSON.stringify({ $comment: GENERATED_COMMENT, ...schema }, undefined, 2)}\n`;
}
