import type { Graph } from '../graph/model.js';
import { counted } from '../graph/printable-text.js';
import { type ChartTool, chartOf } from '../print/chart/chart.js';
import { dryRunText, type ShownReport } from '../print/dry-run.js';
import type { FormFault, FormFields } from '../print/form/fields.js';
import { formOf } from '../print/form/form.js';
import { printText } from '../print/text.js';
import { inputSchemaOf } from '../runtime/server/composite/served-workflows.js';
import { Html, html, noticeParts, type Part, picture, status, type View } from './html.js';
import type { KnownDefinition, RunFate, ServedDefinition } from './workflows.js';

/** The list of workflows. */
export function workflowsView(definitions: readonly ServedDefinition[]): View {
  const content =
    definitions.length === 0
      ? html`<h1>Workflows</h1><p class="sheet empty">This page knows the store alone. Start it in the folder of a project, or with <code>--registry FILE</code>, to see workflows and start them.</p>`
      : html`<h1>Workflows</h1><ul class="cards">${definitions.map(card)}</ul>`;
  return { title: 'Workflows', tab: 'workflows', parts: [{ id: 'workflows', content }] };
}

function card({ graph, file }: ServedDefinition): Html {
  const { name, description, nodes, inputs } = graph;
  const address = encodeURIComponent(name);
  const steps = nodes.filter(({ kind }) => kind !== 'return').length;
  return html`<li class="card"><h2><a class="row" href="/workflows/${address}">${name}</a></h2><p>${description}</p><p class="soft">${counted(steps, 'step')} at the top · ${counted(inputs.length, 'argument')} · ${file}</p><p><a href="/runs?workflow=${address}">Its runs</a></p></li>`;
}

/** What the page of a workflow shows beside its definition. */
export interface WorkflowPageOptions {
  readonly formKey: string;
  /** Whether runs can be started here. */
  readonly canStart: boolean;
  /** What was sent with the last form, and what is wrong with it. */
  readonly sent?: {
    readonly fields: FormFields;
    readonly faults: readonly FormFault[];
    readonly stubs: string;
  };
  readonly notice?: string;
  /** Of the last dry run. */
  readonly report?: ShownReport;
}

/** The page of one workflow. */
export function workflowView(definition: ServedDefinition, options: WorkflowPageOptions): View {
  const { graph, tools } = definition;
  const { notice, report } = options;
  const address = encodeURIComponent(graph.name);
  const parts: Part[] = [
    {
      id: 'head',
      content: html`<h1>${graph.name}</h1><p class="facts"><span>${graph.description}</span><span><a href="/runs?workflow=${address}">Its runs</a></span><span><a href="/workflows/${address}/change">Its changes, and what they do to open runs</a></span></p>`,
    },
    ...noticeParts(notice),
    { id: 'graph', content: workflowGraph(graph, tools) },
    { id: 'end', content: startForm(definition, options) },
  ];
  if (report !== undefined) parts.push({ id: 'report', content: dryRunReport(report) });
  return { title: graph.name, tab: 'workflows', parts };
}

function workflowGraph(graph: Graph, tools: ReadonlyMap<string, ChartTool>): Html {
  return html`<h2>Graph</h2>${picture(chartOf(graph, tools), 'Graph of the workflow')}`;
}

/** The arguments, sent to a start or to a dry run. */
function startForm({ graph }: ServedDefinition, { formKey, canStart, sent }: WorkflowPageOptions): Html {
  const address = `/workflows/${encodeURIComponent(graph.name)}`;
  const fields = formOf(inputSchemaOf(graph), {
    idPrefix: 'start',
    ...(sent === undefined ? {} : { fields: sent.fields, faults: sent.faults }),
  });
  const start = canStart && html`<button class="main" formaction="${address}/start">Start a run</button>`;
  return html`<h2>Run it</h2><form method="post" action="${address}/${canStart ? 'start' : 'dry'}" id="start"><input type="hidden" name="key" value="${formKey}">${new Html(fields)}<details id="stubs"${sent !== undefined && sent.stubs !== '' && new Html(' open')}><summary>Stubs of a dry run</summary><label>Results by step or tool, in YAML or JSON. A list has one for each call; <code>{"error":{"code":"E","message":"…"}}</code> fails it.<textarea name="stubs" rows="4" spellcheck="false">
${sent?.stubs ?? ''}</textarea></label></details>${start}<button formaction="${address}/dry">Dry run</button></form>${!canStart && html`<p class="soft">Runs are started where this page has a store that servers use: give <code>--store</code>.</p>`}`;
}

function dryRunReport(report: ShownReport): Html {
  return html`<h2>Dry run ${status(report.status)}</h2><pre tabindex="0">${dryRunText(report)}</pre>`;
}

/** What the page of the changes of a workflow shows. */
interface ChangePageOptions {
  readonly fates: readonly RunFate[];
  readonly definitions: ReadonlyMap<string, KnownDefinition>;
  /** The hashes of the definitions to compare. Missing: those of open runs alone are compared. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The page of what changed in a workflow since its open runs began, what that does to them, and of older changes. */
export function changeView(definition: ServedDefinition, options: ChangePageOptions): View {
  const { graph, hash } = definition;
  const { fates } = options;
  const others = new Map(fates.filter((each) => each.hash !== hash).map((each) => [each.hash, each.graph]));
  const current = fates.filter((each) => each.hash === hash);
  const address = encodeURIComponent(graph.name);
  const content = html`<h1>Change of ${graph.name}</h1><p class="facts"><span>${fates.length} open ${fates.length === 1 ? 'run' : 'runs'}</span><span>${current.length} on the definition of today</span><span><a href="/workflows/${address}">The workflow</a></span></p>`;
  const parts = [...others].map(([other, old], index): Part => {
    const runs = fates.filter((each) => each.hash === other);
    return {
      id: `change-${index}`,
      content: html`<div class="sheet"><h2>${runs.length === 1 ? 'A run' : `${runs.length} runs`} of another definition</h2><p class="soft"><del>−</del> as ${runs.length === 1 ? 'it' : 'they'} began, <ins>+</ins> as the workflow is now</p>${comparison(old, graph)}<h3>What becomes of ${runs.length === 1 ? 'it' : 'them'}</h3><table><tbody>${runs.map(({ run, text }) => html`<tr><th scope="row"><a href="/runs/${run}"><code>${run}</code></a></th><td>${text}</td></tr>`)}</tbody></table></div>`,
    };
  });
  const unchanged: Part = {
    id: 'unchanged',
    content: html`<p class="sheet empty">No open run has another definition: a deployment changes none of them.</p>`,
  };
  return {
    title: `Change of ${graph.name}`,
    tab: 'workflows',
    parts: [
      { id: 'head', content },
      ...comparisonOf(definition, options),
      ...(parts.length === 0 ? [unchanged] : parts),
    ],
  };
}

/** A choice of two definitions, and how they differ. */
function comparisonOf(
  { graph: { name }, hash }: ServedDefinition,
  { definitions, from, to }: ChangePageOptions,
): readonly Part[] {
  if (definitions.size < 2) return [];
  const [latest] = [...definitions.keys()].filter((each) => each !== hash);
  const select = (label: string, field: string, chosen: string | undefined): Html =>
    html`<label>${label} <select name="${field}">${[...definitions].map(([each, { run }]) => html`<option value="${each}"${each === chosen && new Html(' selected')}>${run === undefined ? 'the workflow as it is now' : `run ${run.ref} of ${new Date(run.startedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`}</option>`)}</select></label>`;
  const [old, now] = [definitions.get(from ?? ''), definitions.get(to ?? '')];
  const missing = [from, to].filter((each) => each !== undefined && !definitions.has(each));
  const content = html`<div class="sheet"><h2>Compare two definitions</h2><form method="get" action="/workflows/${encodeURIComponent(name)}/change">${select('From', 'from', from ?? latest)}${select('To', 'to', to ?? hash)}<button>Compare</button></form>${missing.length > 0 && html`<p class="notice" role="alert">The latest runs have no definition ${missing.join(' and ')}.</p>`}${old !== undefined && now !== undefined && comparison(old.graph, now.graph)}</div>`;
  return [{ id: 'compare', content }];
}

function comparison(before: Graph, after: Graph): Html {
  return html`<pre class="diff" tabindex="0">${differences(printText(before), printText(after)).map(line)}</pre>`;
}

function line({ kind, text }: LineChange): Html {
  if (kind === 'same') return html`  ${text}\n`;
  return kind === 'added' ? html`<ins>+ ${text}</ins>\n` : html`<del>− ${text}</del>\n`;
}

interface LineChange {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** How a text became another one, line by line, with the fewest changes. */
export function differences(before: string, after: string): readonly LineChange[] {
  const [old, now] = [before.trimEnd().split('\n'), after.trimEnd().split('\n')];
  // The length of the longest common part of what follows two lines.
  const common = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const row = common[i] ?? [];
      row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const lines: LineChange[] = [];
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ kind: 'same', text: old[i] ?? '' });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'removed', text: old[i] ?? '' });
      i += 1;
    } else {
      lines.push({ kind: 'added', text: now[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}
