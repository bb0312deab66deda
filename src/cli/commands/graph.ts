import { createHash } from 'node:crypto';
import type { CodegenResult } from '../../codegen/codegen.js';
import { formatOf } from '../../formats/text/read-text.js';
import { defined } from '../../graph/defined.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import { bundle } from '../../graph/nodes.js';
import { type ChartTool, chartOf } from '../../print/chart/chart.js';
import type { PageChart } from '../../print/chart/page.js';
import { printMermaid } from '../../print/mermaid.js';
import { printText } from '../../print/text.js';
import { folderAt, isNamed, Misuse, optionCommand, shortName, texts } from '../command-line.js';
import { readProject } from '../registries.js';

const OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  registry: { type: 'string' },
  'no-cache': { type: 'boolean' },
  format: { type: 'string', oneOf: ['text', 'mermaid', 'svg', 'html'] },
  run: { type: 'string' },
  store: { type: 'string' },
} as const;

/** `stepwright graph WORKFLOW`: prints a workflow, as it is in the sources, or as a run of a store has it. */
export const graphCommand = optionCommand(
  'stepwright graph',
  `Usage: stepwright graph WORKFLOW [options]
       stepwright graph --format html [options]
       stepwright graph --run RUN --store sqlite:PATH --format svg|html

Shows a workflow of the project, as it is in its sources: \`stepwright graph add-task --format mermaid\`. A page (html)
without a workflow has all of them. A run of a store is shown on the workflow that it was started on.

Options:
  --format FORMAT  text, an outline; mermaid, a chart; svg, an image; or html, a page with a search and the details of
                   each step (default: text)
  --run RUN        show the states, attempts and times of a run
  --store STORE    of --run: where the run is kept, sqlite:PATH
  --registry FILE  the registry it belongs to, where several have one of this name: the file, or its name up to a dot
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --no-cache       read everything again, and keep nothing of it in node_modules/.cache
  --help           show this
`,
  OPTIONS,
  1,
  async ({ values, args }, output) => {
    const [name] = args;
    const { root = '.', config, registry, format = 'text', 'no-cache': noCache = false, run, store } = values;
    if (run !== undefined) {
      if (format !== 'svg' && format !== 'html')
        throw new Misuse(
          `stepwright: \`--run\` is for \`--format svg\` and \`--format html\`, not \`${format}\``,
        );
      if (name !== undefined)
        throw new Misuse(`stepwright: \`--run\` shows the workflow of the run: leave out \`${name}\``);
      const { graphRun } = await import('./graph-run.js');
      return graphRun({ run, store, format, hash }, output);
    }
    if (store !== undefined) throw new Misuse('stepwright: `--store` is for `stepwright graph --run RUN`');
    if (name !== undefined && formatOf(name) !== undefined)
      throw new Misuse(
        `stepwright: \`stepwright graph\` takes the name of a workflow, not a file: let codegen read \`${name}\` by \`specs\` in the configuration`,
      );
    if (name === undefined && format !== 'html') throw new Misuse(texts.missingWorkflow('stepwright graph'));
    folderAt(root);
    const configured = defined({ configFile: config });
    const result = await readProject('graph', { root, check: true, cache: !noCache, ...configured }, output);
    if (typeof result === 'number') return result;
    // SW9001 and SW9004 are about the registry files, which are not shown.
    const faults = result.diagnostics.filter(
      ({ severity, code }) => severity === 'error' && code !== 'SW9001' && code !== 'SW9004',
    );
    if (faults.length > 0) {
      output.err(formatDiagnostics(faults, result.readSource, { color: output.color }));
      return 1;
    }
    output.out(await printed(find(result.workflows, name, registry), result, format));
    return 0;
  },
);

type Workflows = CodegenResult['workflows'];
type Format = (typeof OPTIONS.format.oneOf)[number];

async function printed(workflows: Workflows, result: CodegenResult, format: Format): Promise<string> {
  if (format === 'text') return workflows.map(({ graph }) => printText(graph)).join('');
  if (format === 'mermaid') return workflows.map(({ graph }) => printMermaid(graph)).join('');
  // Loaded here, so that other formats do not load what places boxes.
  const [{ printPage }, { printSvg }] = await Promise.all([
    import('../../print/chart/page.js'),
    import('../../print/chart/svg.js'),
  ]);
  const charts = workflows.map((each): PageChart => ({ chart: chartIn(each, result) }));
  if (format === 'svg') return charts.map(({ chart }) => printSvg(chart)).join('');
  return printPage(charts, { title: workflows.map(({ graph }) => graph.name).join(', '), hash });
}

/** A chart with the workflows that it runs, and what their registry says of tools. */
function chartIn({ registry, graph }: Workflows[number], { workflows, tools }: CodegenResult) {
  const own = new Map(
    workflows.filter((each) => each.registry === registry).map((each) => [each.graph.name, each.graph]),
  );
  const charted = tools
    .filter((each) => each.registry === registry)
    .map(({ name, description, outputSchema }): [string, ChartTool] => [name, { description, outputSchema }]);
  return chartOf(
    bundle(graph, (name) => own.get(name)),
    new Map(charted),
  );
}

/** The base64 of the SHA-256 hash of a text. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** Finds a workflow by its name. Without one it finds all. */
function find(workflows: Workflows, name: string | undefined, registry: string | undefined): Workflows {
  const among =
    registry === undefined ? workflows : workflows.filter((each) => isNamed(each.registry, registry));
  if (registry !== undefined && among.length === 0) {
    const registries = [...new Set(workflows.map((each) => each.registry))];
    const names = registries.flatMap((each) => [each, shortName(each)]);
    throw new Misuse(texts.unknownRegistry(registry, names));
  }
  if (name === undefined) {
    if (among.length === 0) throw new Misuse('stepwright: the project has no workflow');
    return among;
  }
  const named = among.filter(({ graph }) => graph.name === name);
  const [first, ...others] = named;
  if (first === undefined) {
    const workflowNames = among.map(({ graph }) => graph.name);
    throw new Misuse(texts.unknownWorkflow(name, workflowNames));
  }
  if (others.length === 0) return [first];
  const registries = named.map((each) => each.registry);
  throw new Misuse(texts.severalWorkflows(name, registries));
}
