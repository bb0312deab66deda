import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../src/graph/json.js';
import { ENOUGH } from '../src/infer/evidence.js';
import { inferOrder } from '../src/infer/infer.js';
import type { ToolDescription } from '../src/infer/tool.js';

/** How inferred edges compare with the edges of recorded sequences of calls. */
export interface Score {
  readonly samples: number;
  /** Edges of the recorded calls: a call uses a result of an earlier one. */
  readonly recorded: number;
  /** Inferred edges with a confidence of at least 0.7. */
  readonly inferred: number;
  readonly correct: number;
  /** Samples whose tools were inferred to need each other, or whose sequence contradicts an edge. */
  readonly cyclic: number;
}

/**
 * Scores each pair of files `X-data.json` and `X-spec.json` of a folder, by the name `X`. For each sample, inference gets
 * the tools that the sample calls, in the order of their names, and nothing else.
 *
 * @throws Error without a pair of files.
 */
export function scoreFolder(folder: string): Map<string, Score> {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('-data.json'))
    .map((file) => file.slice(0, -'-data.json'.length))
    .sort();
  if (names.length === 0) throw new Error(`no file *-data.json in ${folder}`);
  return new Map(names.map((name) => [name, scoreFile(path.join(folder, name))] as const));
}

export function sumOf(scores: Iterable<Score>): Score {
  const none: Score = { samples: 0, recorded: 0, inferred: 0, correct: 0, cyclic: 0 };
  return [...scores].reduce(
    (sum, each) => ({
      samples: sum.samples + each.samples,
      recorded: sum.recorded + each.recorded,
      inferred: sum.inferred + each.inferred,
      correct: sum.correct + each.correct,
      cyclic: sum.cyclic + each.cyclic,
    }),
    none,
  );
}

function scoreFile(file: string): Score {
  const tools = new Map(read(`${file}-spec.json`).map((entry) => [String(entry.name), toolOf(entry)]));
  return sumOf(read(`${file}-data.json`).map((sample) => scoreSample(sample, tools)));
}

function scoreSample({ output }: JsonObject, tools: ReadonlyMap<string, ToolDescription>): Score {
  const calls = Array.isArray(output) ? output.filter(isJsonObject) : [];
  const labels = new Map<string, string>();
  const names = new Set<string>();
  const recorded = new Set<string>();
  for (const { name, arguments: given, label } of calls) {
    // The last entry of a sample lists its results.
    if (name === 'var_result') continue;
    for (const [, source = ''] of JSON.stringify(given).matchAll(/\$(\w+)[.[$]/g)) {
      const from = labels.get(source);
      if (from !== undefined && from !== name) recorded.add(JSON.stringify([from, name]));
    }
    names.add(String(name));
    labels.set(String(label), String(name));
  }
  const called = [...names].sort().flatMap((name) => tools.get(name) ?? []);
  const { edges, cycles, sequences } = inferOrder(called);
  const sure = edges.filter(({ confidence }) => confidence >= ENOUGH);
  const correct = sure.filter(({ from, to }) => recorded.has(JSON.stringify([from, to])));
  const isOrdered = sure.every(({ from, to }) =>
    sequences.every((order) => !order.includes(to) || order.indexOf(from) < order.indexOf(to)),
  );
  return {
    samples: 1,
    recorded: recorded.size,
    inferred: sure.length,
    correct: correct.length,
    cyclic: cycles.length > 0 || !isOrdered ? 1 : 0,
  };
}

function toolOf(entry: JsonObject): ToolDescription {
  const given = entry.query_parameters ?? entry.arguments ?? entry.parameters ?? {};
  return {
    name: String(entry.name),
    ...(typeof entry.description === 'string' ? { description: entry.description } : {}),
    inputSchema: schemaOf(given),
    outputSchema: schemaOf(entry.output_parameters ?? {}),
  };
}

/** Fields by name, each with `required: true` where it is, or a schema of an object. */
function schemaOf(fields: Json): JsonSchema {
  if (!isJsonObject(fields)) return {};
  if (fields.type === 'object' && isJsonObject(fields.properties)) return fields;
  const entries = Object.entries(fields).flatMap(([name, field]) =>
    isJsonObject(field) ? [[name, field] as const] : [],
  );
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { required: _, ...schema }]) => [name, schema])),
    required: entries.filter(([, { required }]) => required === true).map(([name]) => name),
  };
}

function read(file: string): readonly JsonObject[] {
  const found: Json = JSON.parse(readFileSync(file, 'utf8'));
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
}
