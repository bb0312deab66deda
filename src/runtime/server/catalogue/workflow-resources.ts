import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import { DEFAULT_DOMAIN, type Domain, type Graph } from '../../../graph/model.js';
import { skillName } from '../../../graph/names.js';
import { HINTS_META, hintsFrom } from '../../../infer/tool.js';
import { isPrivateTool, type Registry } from '../../tools/registry.js';
import type { TemplateInfo } from '../../tools/resources.js';
import type { ServedWorkflow } from '../composite/served-workflows.js';
import type { ResourceContents, ResourceListing, ResourceTemplateListing, ToolListing } from '../wire.js';

/** The forms of a workflow, by what its address ends with. */
const FORMS = { '': 'application/json', '.yaml': 'application/yaml', '.mmd': 'text/vnd.mermaid' } as const;

type Form = keyof typeof FORMS;

const OVERVIEW = 'overview';
const ADDRESS = /^workflow:\/\/([^/?#]+)\/([^/?#.]+)(|\.yaml|\.mmd)$/;

/**
 * Workflows as resources: `workflow://{domain}/{name}` as JSON, with `.yaml` and `.mmd` behind it in other forms, and
 * `workflow://{domain}/overview` as a guide to the domain. A workflow is one with `expose: ['resource']`. With
 * `expose: ['skill']` it is `skill://{domain}/{name}/SKILL.md`. One with scopes is listed nowhere, and read by callers
 * that have them.
 */
export class WorkflowResources {
  readonly listings: readonly ResourceListing[];
  readonly templates: readonly ResourceTemplateListing[];
  readonly #workflows: readonly ServedWorkflow[];
  /** By address. */
  readonly #skills: ReadonlyMap<string, ServedWorkflow>;
  readonly #privateTools: ReadonlySet<string>;
  readonly #tools: () => readonly ToolListing[];
  readonly #resources: Registry['resources'];
  readonly #domains: readonly Domain[];

  constructor(
    workflows: Iterable<ServedWorkflow>,
    tools: () => readonly ToolListing[],
    { registry, domains: said }: { readonly registry: Registry; readonly domains: readonly Domain[] },
  ) {
    this.#domains = said;
    const all = [...workflows];
    this.#workflows = all.filter(({ graph }) => graph.expose?.includes('resource') === true);
    const skills = all.filter(({ graph }) => graph.expose?.includes('skill') === true);
    this.#skills = new Map(skills.map((workflow) => [skillAddress(workflow.graph), workflow]));
    this.#resources = registry.resources;
    this.#tools = tools;
    this.#privateTools = new Set(
      Object.entries(registry.tools).flatMap(([name, tool]) => (isPrivateTool(tool) ? [name] : [])),
    );
    const shown = this.#workflows.filter(({ graph }) => isForAll(graph));
    const domains = [...new Set(shown.map(({ graph }) => domainOf(graph)))].sort();
    this.listings = [
      ...domains.map((domain) => ({
        uri: addressOf(domain, OVERVIEW),
        name: `${domain}-${OVERVIEW}`,
        description: `The workflows of ${domain}, their steps and rules: read it before you plan`,
        mimeType: 'text/markdown',
      })),
      ...shown.map(({ graph }) => ({
        uri: addressOf(domainOf(graph), graph.name),
        name: `workflow-${graph.name}`,
        ...defined({ title: graph.title }),
        description: graph.description,
        mimeType: FORMS[''],
      })),
      ...[...this.#skills].flatMap(([uri, { graph }]) =>
        isForAll(graph)
          ? [{ uri, name: skillName(graph.name), description: graph.description, mimeType: 'text/markdown' }]
          : [],
      ),
    ];
    this.templates =
      shown.length === 0
        ? []
        : Object.entries(FORMS).map(([form, mimeType]) => ({
            uriTemplate: addressOf('{domain}', `{name}${form}`),
            name: `workflow-as-${form === '' ? 'json' : form.slice(1)}`,
            description: 'A workflow: its parameters, and its steps with the tools that they call',
            mimeType,
          }));
  }

  /** Whether a workflow, a skill or an overview has this address. */
  has(uri: string): boolean {
    return this.#find(uri) !== undefined;
  }

  /** What a caller needs to read an address. */
  scopesOf(uri: string): readonly string[] | undefined {
    const target = this.#find(uri);
    return target === undefined || target.kind === 'overview' ? undefined : target.workflow.graph.scopes;
  }

  /** The content at an address; nothing for another address. */
  async read(uri: string): Promise<ResourceContents | undefined> {
    const target = this.#find(uri);
    if (target === undefined) return undefined;
    if (target.kind === 'overview') {
      const { overviewText } = await import('../../../print/overview.js');
      const workflows = target.workflows.map(({ graph, tool }) => ({
        graph: this.#shown(graph),
        ...defined({ tool: tool?.name }),
        uri: addressOf(domainOf(graph), graph.name),
      }));
      const said = this.#domains.find(({ name }) => name === target.domain);
      const domain = said ?? { name: target.domain, rules: [] };
      const text = overviewText(domain, workflows, {
        toolNamed: (name) => this.#described(name),
        addressOf: (name) => this.#resources[name]?.uri ?? name,
      });
      return { uri, mimeType: 'text/markdown', text };
    }
    const graph = this.#shown(target.workflow.graph);
    if (target.kind === 'skill') {
      const { skillText } = await import('../../../print/skill.js');
      return { uri, mimeType: 'text/markdown', text: skillText(graph, target.workflow.tool?.name) };
    }
    return { uri, mimeType: FORMS[target.form], text: await textOf(graph, target.form) };
  }

  /** What is known about one of {@link templates}. */
  template(uriTemplate: string): TemplateInfo | undefined {
    if (!this.templates.some((each) => each.uriTemplate === uriTemplate)) return undefined;
    const graphs = this.#workflows.map(({ graph }) => graph).filter(isForAll);
    return {
      names: ['domain', 'name'],
      complete: (variable, value, { arguments: filled }) => {
        const { domain, name } = filled;
        const all = graphs.flatMap((graph) => {
          const of = domainOf(graph);
          if (variable === 'domain') return name === undefined || name === graph.name ? [of] : [];
          return domain === undefined || domain === of ? [graph.name] : [];
        });
        return [...new Set(all)].filter((each) => each.startsWith(value)).sort();
      },
    };
  }

  #find(uri: string) {
    const skill = this.#skills.get(uri);
    if (skill !== undefined) return { kind: 'skill', workflow: skill } as const;
    const [, domain = '', name = '', form = ''] = ADDRESS.exec(uri) ?? [];
    const workflows = this.#workflows.filter(({ graph }) => domainOf(graph) === domain);
    if (name === OVERVIEW && form === '') {
      const shown = workflows.filter(({ graph }) => isForAll(graph));
      return shown.length === 0 ? undefined : ({ kind: 'overview', domain, workflows: shown } as const);
    }
    const workflow = workflows.find(({ graph }) => graph.name === name);
    return workflow && ({ kind: 'workflow', workflow, form: form as Form } as const);
  }

  #described(name: string) {
    const tool = this.#tools().find((each) => each.name === name);
    const hints = tool?._meta?.[HINTS_META];
    if (tool === undefined) return undefined;
    const { requires = [] } = isJsonObject(hints) ? hintsFrom(hints) : {};
    return { description: tool.description, requires };
  }

  /** A graph without the names and inputs of private tools. */
  #shown(graph: Graph): Graph {
    if (this.#privateTools.size === 0) return graph;
    return withoutTools(graph as unknown as JsonObject, this.#privateTools) as unknown as Graph;
  }
}

async function textOf(graph: Graph, form: Form): Promise<string> {
  if (form === '.mmd') return (await import('../../../print/mermaid.js')).printMermaid(graph);
  const { workflowData, yamlText } = await import('../../../print/workflow-data.js');
  const data = workflowData(graph);
  return form === '' ? `${JSON.stringify(data, null, 2)}\n` : yamlText(data);
}

function withoutTools(value: Json, tools: ReadonlySet<string>): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutTools(item, tools));
  if (!isJsonObject(value)) return value;
  const isPrivate = typeof value.tool === 'string' && tools.has(value.tool);
  const entries = Object.entries(value).map(([key, part]) => [key, withoutTools(part, tools)] as const);
  const hidden = { tool: 'internal-step', input: { kind: 'dict', entries: [] } };
  return { ...Object.fromEntries(entries), ...(isPrivate ? hidden : {}) };
}

function domainOf({ domain = DEFAULT_DOMAIN }: Graph): string {
  return domain;
}

/** The last folder is the name of the skill: a workflow with another name is a folder above it. */
function skillAddress(graph: Graph): string {
  const name = skillName(graph.name);
  const folder = name === graph.name ? name : `${graph.name}/${name}`;
  return `skill://${domainOf(graph)}/${folder}/SKILL.md`;
}

function isForAll({ scopes = [] }: Graph): boolean {
  return scopes.length === 0;
}

function addressOf(domain: string, name: string): string {
  return `workflow://${domain}/${name}`;
}
