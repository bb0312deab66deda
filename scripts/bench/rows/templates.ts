import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { lowerTemplate } from '../../../src/formats/jinja/lower.js';
import { loadRe2 } from '../../../src/formats/json-schema/regular-expression.js';
import { Budget, evaluate } from '../../../src/graph/expression/evaluate.js';
import { useRegexLibrary } from '../../../src/graph/expression/python/texts.js';
import type { Expr } from '../../../src/graph/expression/tree.js';
import type { JsonObject } from '../../../src/graph/json.js';
import { inTurns, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';

useRegexLibrary(loadRe2);

/** The part of nunjucks that is measured. */
interface Nunjucks {
  readonly Environment: new (loader: null, options: object) => object;
  readonly Template: new (
    source: string,
    environment: object,
    path: string,
    eager: boolean,
  ) => { render(context: object): string };
}

const PEERS = new URL('../peers/', import.meta.url);

const PYTHON = fileURLToPath(new URL('templates.py', PEERS));

/** Texts of the workflows in the specification, in the language that both engines have. */
const TEMPLATES = [
  'The user wants to: {{ state.request.input }}\n\nGenerate up to {{ inputs.most }} focused questions.',
  '{% for result in state.results %}\nTask: {{ result.task }}\nKey findings: {{ result.findings }}\n---\n{% endfor %}',
  'Original plan:\n{{ state.plan.response }}\n\nReview feedback:\n{{ state.review.response }}',
  "- Tests: {{ 'Passed' if state.passed else 'Failed' }}\n- Quality Score: {{ state.score }}/100",
  'Large PR #{{ inputs.most }} needs review ({{ state.score }} files)',
  'k8s/{{ inputs.environment }}/{{ inputs.service }}.yaml',
  'Deployment complete for {{ inputs.service | upper }}',
  '{% if state.passed and state.score >= 90 %}merge{% else %}comment{% endif %} {{ inputs.service }}',
  '{% for result in state.results %}{{ result.task }}{% if not loop.last %}, {% endif %}{% endfor %}',
  "Topics: {{ state.results | length }}, {{ inputs.environment | default('staging') }}",
] as const;

const CONTEXT = {
  inputs: { most: 5, environment: 'staging', service: 'shop' },
  state: {
    request: { input: 'sign users in' },
    plan: { response: 'A plan of some lines.\nIt has two.' },
    review: { response: 'It is good.' },
    results: Array.from({ length: 5 }, (_, index) => ({
      task: `topic ${index}`,
      findings: 'Much was learned.',
    })),
    passed: true,
    score: 96,
  },
} as const satisfies JsonObject;

/** Templates of durable workflows, compared with the engines that are installed. */
export async function templates(sizes: Sizes): Promise<Row[]> {
  return [...(await besideNunjucks(sizes)), ...(await besidePython(sizes))];
}

async function besideNunjucks(sizes: Sizes): Promise<Row[]> {
  if (!hasNunjucks()) return [];
  const nunjucks = createRequire(PEERS)('nunjucks') as Nunjucks;
  const environment = new nunjucks.Environment(null, { autoescape: false, throwOnUndefined: true });
  const compile = () => TEMPLATES.map((text) => new nunjucks.Template(text, environment, 'bench', true));
  const [trees, compiled] = [TEMPLATES.map(lower), compile()];
  for (const [index, tree] of trees.entries()) {
    const [ours, peer] = [evaluated(tree), compiled[index]?.render(CONTEXT)];
    if (ours !== peer) throw new Error(`template ${index} gives ${ours} here, and ${peer} with nunjucks`);
  }
  const cost = await inTurns(
    {
      ours: timed(TEMPLATES.length, sizes.goMs, () => trees.map(evaluated)),
      peer: timed(TEMPLATES.length, sizes.goMs, () => compiled.map((each) => each.render(CONTEXT))),
      lowering: timed(TEMPLATES.length, sizes.goMs, () => TEMPLATES.map(lower)),
      compiling: timed(TEMPLATES.length, sizes.goMs, compile),
    },
    sizes,
  );
  return [
    row({
      name: 'template: rendered',
      unit: 'µs',
      ours: cost.ours,
      peer: { name: 'nunjucks, precompiled', value: cost.peer },
      target: { of: 'ratio', atMost: 1 },
    }),
    row({
      name: 'template: parsed and lowered',
      unit: 'µs',
      ours: cost.lowering,
      peer: { name: 'nunjucks, compiled', value: cost.compiling },
      target: { of: 'ratio', atMost: 2 },
    }),
  ];
}

/** Jinja2 of Python, for orientation: another language, in a process of its own, which takes turns with this one. */
async function besidePython(sizes: Sizes): Promise<Row[]> {
  if (!hasJinja2()) return [];
  const trees = TEMPLATES.map(lower);
  if (JSON.stringify(python(sizes).texts) !== JSON.stringify(trees.map(evaluated))) {
    throw new Error('a template gives another text with Jinja2');
  }
  const cost = await inTurns(
    {
      ours: timed(TEMPLATES.length, sizes.goMs, () => trees.map(evaluated)),
      peer: () => python(sizes).rendered,
      lowering: timed(TEMPLATES.length, sizes.goMs, () => TEMPLATES.map(lower)),
      compiling: () => python(sizes).compiled,
    },
    sizes,
  );
  const unit = 'µs' as const;
  const peer = (value: number) => ({ name: 'Jinja2, Python', value });
  return [
    row({ name: 'template: rendered', unit, ours: cost.ours, peer: peer(cost.peer) }),
    row({ name: 'template: parsed and lowered', unit, ours: cost.lowering, peer: peer(cost.compiling) }),
  ];
}

/** What Jinja2 makes of the templates, and its CPU time in µs for each. */
interface PythonFigures {
  readonly texts: readonly string[];
  readonly rendered: number;
  readonly compiled: number;
}

function python({ goMs }: Pick<Sizes, 'goMs'>): PythonFigures {
  const input = JSON.stringify({ templates: TEMPLATES, context: CONTEXT, goMs });
  const { status, stdout, stderr } = spawnSync('python3', [PYTHON], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`Jinja2 ended with status ${status}:\n${stderr}`);
  return JSON.parse(stdout) as PythonFigures;
}

/** The engines that templates are compared with and that are not installed. */
export function missingTemplates(): string[] {
  return [
    ...(hasNunjucks() ? [] : ['nunjucks: not installed (`npm run bench:peers`)']),
    ...(hasJinja2() ? [] : ['Jinja2: not installed (`python3 -m pip install jinja2`)']),
  ];
}

function hasNunjucks(): boolean {
  return existsSync(fileURLToPath(new URL('node_modules/nunjucks', PEERS)));
}

function hasJinja2(): boolean {
  return spawnSync('python3', ['-c', 'import jinja2']).status === 0;
}

function lower(template: string): Expr {
  return lowerTemplate(template, 'text', {
    inputs: Object.keys(CONTEXT.inputs),
    state: Object.keys(CONTEXT.state),
    names: new Map(),
  });
}

function evaluated(tree: Expr) {
  return evaluate(tree, { lookup: (root, name) => partOf(root)[name] }, new Budget(1_000_000));
}

function partOf(root: string): JsonObject {
  return root === 'state' ? CONTEXT.state : CONTEXT.inputs;
}
