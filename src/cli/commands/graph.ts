import { statSync } from 'node:fs';
import type { CodegenResult } from '../../codegen/codegen.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import { printMermaid } from '../../print/mermaid.js';
import { printText } from '../../print/text.js';
import { misused, type Output, parseOptions, texts } from '../command-line.js';
import { isNamed, shortName } from '../registry-names.js';

const OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  registry: { type: 'string' },
  'no-cache': { type: 'boolean' },
  format: { type: 'string', oneOf: ['text', 'mermaid'] },
  help: { type: 'boolean' },
} as const;

/** `stepwright graph WORKFLOW`: prints a workflow, as it is in the sources. */
export async function graphCommand(given: readonly string[], output: Output): Promise<number> {
  const parsed = parseOptions('stepwright graph', given, OPTIONS, 1);
  if (parsed.kind === 'fault') return misused(parsed.text, output);
  const { root = '.', config, registry, format = 'text', help, 'no-cache': noCache = false } = parsed.values;
  if (help) {
    output.out(texts.graphHelp);
    return 0;
  }
  const [name] = parsed.args;
  if (name === undefined) return misused(texts.missingWorkflow('stepwright graph'), output);
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) return misused(texts.noFolder(root), output);
  const configured = config === undefined ? {} : { configFile: config };
  // Loaded here, so that `--help` works without the compilers.
  const { runCodegen } = await import('../../codegen/codegen.js');
  const result = await runCodegen({ root, check: true, cache: !noCache, ...configured });
  // SW9001 and SW9004 are about the registry files, which are not shown.
  const faults = result.diagnostics.filter(
    ({ severity, code }) => severity === 'error' && code !== 'SW9001' && code !== 'SW9004',
  );
  if (faults.length > 0) {
    output.err(formatDiagnostics(faults, result.readSource, { color: output.color }));
    return 1;
  }
  const found = find(result.workflows, name, registry);
  if ('fault' in found) return misused(found.fault, output);
  output.out(format === 'mermaid' ? printMermaid(found.graph) : printText(found.graph));
  return 0;
}

type Workflows = CodegenResult['workflows'];

function find(
  workflows: Workflows,
  name: string,
  registry: string | undefined,
): Workflows[number] | { readonly fault: string } {
  const among =
    registry === undefined ? workflows : workflows.filter((each) => isNamed(each.registry, registry));
  if (registry !== undefined && among.length === 0) {
    const known = workflows.flatMap((each) => [each.registry, shortName(each.registry)]);
    return { fault: texts.unknownRegistry(registry, known) };
  }
  const named = among.filter(({ graph }) => graph.name === name);
  const [first, ...others] = named;
  if (first === undefined) {
    const known = among.map(({ graph }) => graph.name);
    return { fault: texts.unknownWorkflow(name, known) };
  }
  if (others.length === 0) return first;
  const registries = named.map((each) => each.registry);
  return { fault: texts.severalWorkflows(name, registries) };
}
