import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { CheckEnvironment } from '../../src/check/check-graph.js';
import { parseWorkflows, type SpecWorkflows, type TextFormat } from '../../src/formats/index.js';
import type { Diagnostic } from '../../src/graph/diagnostics/diagnostic.js';
import type { JsonObject } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { formatLocation } from '../../src/graph/source-location.js';
import type { Fact } from '../../src/runtime/engine/contract.js';
import type { runInProcess } from '../../src/runtime/runs/run/run-in-process.js';

import { Setup, type Tool } from '../../src/runtime/runs/run/setup.fixture.js';

/** The text of a file of `spec-files`. */
export function specText(file: string): string {
  return readFileSync(path.join(import.meta.dirname, 'spec-files', file), 'utf8');
}

/** Reads a file of `spec-files`. */
export function specFile(file: string, registered?: CheckEnvironment): Promise<SpecWorkflows> {
  const format = path.extname(file).slice(1) as TextFormat;
  return parseWorkflows(specText(file), {
    file,
    format,
    ...(registered === undefined ? {} : { registered }),
  });
}

/** The only workflow of a text, which has no error. */
export async function onlyGraph(text: string, format: TextFormat = 'yaml'): Promise<Graph> {
  const { workflows, diagnostics } = await parseWorkflows(text, { file: `f.${format}`, format });
  const graph = workflows[0]?.graph;
  if (graph === undefined || workflows.length > 1) throw new Error(said(diagnostics).join('\n'));
  return graph;
}

/** Diagnostics as lines: `f.yaml:1:2 SW5005 message (hint)`. */
export function said(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ code, message, hint, place }) =>
    [place && formatLocation(place), code, message, ...(hint === undefined ? [] : [`(${hint})`])].join(' '),
  );
}

/** One call of a tool. */
export interface Called {
  readonly tool: string;
  readonly input: JsonObject;
}

export interface SpecRun extends Awaited<ReturnType<typeof runInProcess>> {
  readonly calls: readonly Called[];
  readonly facts: readonly Fact[];
}

/** Runs a graph with tools that are values, or functions of their input that may throw. */
export async function runSpec(
  graph: Graph,
  input: JsonObject,
  tools: Readonly<Record<string, unknown>>,
): Promise<SpecRun> {
  const calls: Called[] = [];
  const ports = Object.entries(tools).map(([name, tool]): [string, Tool] => [
    name,
    (given) => {
      calls.push({ tool: name, input: given });
      try {
        const value = typeof tool === 'function' ? tool(given) : tool;
        return { ok: true, value } as never;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return { ok: false, failure: { code: 'E_TOOL', message }, attempted: true } as never;
      }
    },
  ]);
  const setup = new Setup();
  const running = setup.run(graph, Object.fromEntries(ports), { input });
  return { ...(await passing(running, setup)), calls, facts: setup.facts };
}

/** Lets time pass until a run is over: its retries wait. */
async function passing<T>(running: Promise<T>, { clock }: Setup): Promise<T> {
  let isOver = false;
  const over = running.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!isOver) clock.pass(500);
  }
  return over;
}

/** What a tool does that fails. */
export function failing(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}

/** The names of the tools that were called, in order. */
export function toolsOf({ calls }: SpecRun): string[] {
  return calls.map(({ tool }) => tool);
}
