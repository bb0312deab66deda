import path from 'node:path';
import { textIn } from '../../formats/source-record.js';
import { hashGraph } from '../../graph/canonical.js';
import { type Diagnostic, hasErrors } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import type { Graph } from '../../graph/model.js';
import { dryRunText } from '../../print/dry-run.js';
import { dryRun } from '../../runtime/runs/operate/dry-run.js';
import { missingStubs, readStubs } from '../../runtime/runs/operate/stubs.js';
import { readArguments } from '../../runtime/server/catalogue/arguments.js';
import { servedWorkflows } from '../../runtime/server/composite/served-workflows.js';
import { RegistrationError } from '../../runtime/server/registrations.js';
import { verifyCurrent } from '../../runtime/server/verify-sources.js';
import type { Registry } from '../../runtime/tools/registry.js';
import { Misuse, type Output, texts } from '../command-line.js';

/** A workflow to run on stubs. */
interface DryRunCommand {
  readonly registry: Registry;
  readonly workflow: string;
  /** Workflows besides those of the registry. */
  readonly workflows: readonly { readonly graph: Graph }[];
  readonly arguments: Readonly<Record<string, string>>;
  /** A file of stubs, relative to the root. */
  readonly stubs: string | undefined;
  readonly root: string;
  readonly json: boolean;
}

/** `stepwright run WORKFLOW --dry`: runs a workflow on stubs, and prints the path that it took. */
export async function dryRunCommand(command: DryRunCommand, output: Output): Promise<number> {
  const { registry, workflow, workflows: others, arguments: given, root, json } = command;
  const runnable = others.map(({ graph }) => ({ graph, hash: hashGraph(graph) }));
  const { workflows, problems } = servedWorkflows(registry, runnable);
  if (problems.length > 0) throw new RegistrationError(problems);
  const graph = workflows.get(workflow)?.graph;
  if (graph === undefined) throw new Error(`the registry has no workflow ${workflow}`);
  const stubbed = { graph, tools: registry.tools };
  const source = command.stubs === undefined ? undefined : { file: command.stubs, root };
  const stubs = await readStubs(source, stubbed);
  const report = (diagnostics: readonly Diagnostic[]): number => {
    const read = (file: string) => stubs.readSource(file) ?? textIn(path.resolve(root, file));
    output.err(formatDiagnostics(diagnostics, read, { color: output.color }));
    return 1;
  };
  const stubFaults = [...stubs.diagnostics, ...missingStubs(stubbed, stubs.results)];
  if (hasErrors(stubFaults)) return report(stubFaults);
  verifyCurrent(registry);
  const outcome = await dryRun({ registry, graph, given, stubs: stubs.results, readArguments });
  switch (outcome.kind) {
    case 'refused':
      throw new Misuse(texts.refusedArguments(outcome.problems));
    case 'unfit':
      return report([stubs.unfit(outcome.names, outcome.problem)]);
    case 'report':
      output.out(json ? `${JSON.stringify(outcome.report, null, 2)}\n` : dryRunText(outcome.report));
      return outcome.report.status === 'succeeded' ? 0 : 1;
    default:
      return outcome satisfies never;
  }
}
