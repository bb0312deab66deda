import { defined } from '../graph/defined.js';
import type { Input } from '../graph/model.js';
import { compareText } from '../graph/names.js';
import { type Edge, ENOUGH, type Evidence } from './evidence.js';
import { parametersOf } from './fields.js';
import { inferOrder } from './infer.js';
import { doesWhat, partsOf } from './intent.js';
import { comparison, KnownOrder, linksOf, orderOf } from './sequences.js';
import { describeTool, type ToolDescription } from './tool.js';
import { rootOf, rootsOf } from './words.js';

/** A workflow that a planner may choose. */
export interface WorkflowChoice {
  readonly name: string;
  /** Its tool, if it is one. */
  readonly tool?: string;
  readonly description: string;
  /** Whether none of its steps acts. Default: as its name says. */
  readonly readOnly?: boolean;
  readonly inputs: readonly (Pick<Input, 'name' | 'required'> & Partial<Pick<Input, 'description'>>)[];
}

/** Workflows or calls that may lead to a goal. */
export interface Plan {
  readonly goal: string;
  /** The workflows that fit, the best first. */
  readonly workflows: readonly FittingWorkflow[];
  /** The tools to call, in their order, for the parts of the goal that no workflow fits. */
  readonly steps: readonly PlannedCall[];
  /** Parts of the goal that neither a workflow nor a tool fits. */
  readonly missing?: readonly string[];
}

export interface FittingWorkflow {
  readonly workflow: string;
  readonly tool?: string;
  /** The share of the goal's words that it is about, between 0 and 1. Rare words count more. */
  readonly score: number;
  readonly parameters: readonly PlannedParameter[];
}

export interface PlannedCall {
  readonly tool: string;
  /** The least confidence of the edges that place it; none for the first calls. */
  readonly confidence?: number;
  /** Required parameters, and where their values come from. */
  readonly parameters: readonly PlannedParameter[];
  readonly evidence: readonly Evidence[];
}

export interface PlannedParameter {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  /** The earlier call and the field of its result. Without it the caller gives the value. */
  readonly from?: { readonly tool: string; readonly output: string };
}

/** The least share of a goal's words of what fits it. */
const FITS = 0.5;

/** How much a word in a name counts beside one in a description. */
const NAMED = 0.25;

/** The share of the best tool's score from which another tool belongs to the goal as well. */
const ALSO_FITS = 0.9;

/**
 * Plans for a goal, part by part: the workflows that fit, or else the tools, after those that they need. A part that asks
 * is answered by what only reads, and no part by what does something else than it wants.
 */
export function planFor(
  goal: string,
  tools: readonly ToolDescription[],
  workflows: readonly WorkflowChoice[],
): Plan {
  const texts = [
    ...workflows.map(({ name, description }) => ({ name, description })),
    ...tools.map(({ name, description = '' }) => ({ name, description })),
  ];
  const joined = joinedWords(goal, texts);
  const parts = partsOf(joined).map((part) => ({ part, score: scorer(part.words, texts) }));
  const fitting = new Map<WorkflowChoice, { score: number; parts: number }>();
  const steps = new Map<string, PlannedCall>();
  const missing: string[] = [];
  for (const { part, score } of parts) {
    const able = workflows.filter((workflow) => doesWhat(part, workflow) && score(workflow) >= FITS);
    const ableTools = tools.filter((tool) => doesWhat(part, tool));
    // A workflow that only mentions what a tool is for does something else.
    const isForTools = able.length === 0 || bestOf(ableTools, score) > bestOf(able, score);
    const calls = isForTools ? stepsFor(ableTools, tools, score) : [];
    for (const call of calls) if (!steps.has(call.tool)) steps.set(call.tool, call);
    if (calls.length > 0) continue;
    if (able.length === 0) missing.push(part.text);
    for (const workflow of able) {
      const before = fitting.get(workflow) ?? { score: 0, parts: 0 };
      fitting.set(workflow, { score: Math.max(before.score, score(workflow)), parts: before.parts + 1 });
    }
  }
  const most = Math.max(0, ...[...fitting.values()].map((each) => each.parts));
  // A workflow that does all of the goal makes those unnecessary that do a part of it.
  const chosen = [...fitting].filter(([, each]) => most < parts.length || each.parts === most);
  return {
    goal,
    workflows: chosen
      .sort(([a, one], [b, other]) => other.score - one.score || compareText(a.name, b.name))
      .map(([{ name, tool, inputs }, { score }]) => ({
        workflow: name,
        ...defined({ tool }),
        score: Math.round(score * 100) / 100,
        parameters: inputs.map(({ name, description, required }) => parameterOf(name, description, required)),
      })),
    steps: [...steps.values()],
    ...(missing.length === 0 ? {} : { missing }),
  };
}

type Scored = Pick<ToolDescription, 'name' | 'description'>;

/** The best score of some candidates, a little more where names have the words. */
function bestOf(candidates: readonly Scored[], score: Score): number {
  return Math.max(0, ...candidates.map((each) => score(each) + NAMED * score({ name: each.name })));
}

type Score = (text: Pick<ToolDescription, 'name' | 'description'>) => number;

/** Scores texts by the words of the goal that they have. Words that are in no text do not count. */
function scorer(goal: string, texts: readonly Pick<ToolDescription, 'name' | 'description'>[]): Score {
  const wordsIn = ({ name, description = '' }: Pick<ToolDescription, 'name' | 'description'>) =>
    // The box of hints names other tools.
    rootsOf(`${name} ${describeTool(description, undefined)}`);
  const documents = texts.map(wordsIn);
  const countOf = (root: string) => documents.filter((words) => words.has(root)).length;
  const weights = new Map(
    [...rootsOf(goal)].flatMap((root) => {
      const count = countOf(root);
      return count === 0 ? [] : [[root, Math.log(1 + documents.length / count)] as const];
    }),
  );
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return (text) => {
    const words = wordsIn(text);
    const matches = [...weights].filter(([root]) => words.has(root));
    return total === 0 ? 0 : matches.reduce((sum, [, weight]) => sum + weight, 0) / total;
  };
}

/** A goal whose two words are one where a text writes them so: `check out` and `checkout`. */
function joinedWords(goal: string, texts: readonly Pick<ToolDescription, 'name' | 'description'>[]): string {
  const roots = new Set(
    texts.flatMap(({ name, description = '' }) => [...rootsOf(`${name} ${description}`)]),
  );
  return goal.replace(/\b(\p{L}+) (?=(\p{L}+))/gu, (pair, one: string, other: string) =>
    roots.has(rootOf(`${one}${other}`.toLowerCase())) ? one : pair,
  );
}

/** @param able the tools that may do it. The others may be needed before. */
function stepsFor(
  able: readonly ToolDescription[],
  tools: readonly ToolDescription[],
  score: Score,
): PlannedCall[] {
  const scores = new Map(able.map((tool) => [tool.name, score(tool)]));
  const best = Math.max(0, ...scores.values());
  if (best < FITS) return [];
  const { edges, choices, cycles } = inferOrder(tools);
  const circular = new Set(cycles.flat());
  const rivals = (name: string) =>
    choices.flatMap(({ oneOf }) => (oneOf.includes(name) ? oneOf.filter((each) => each !== name) : []));
  const targets: string[] = [];
  for (const [name, value] of [...scores].sort(([, a], [, b]) => b - a)) {
    if (value >= best * ALSO_FITS && !rivals(name).some((each) => targets.includes(each))) targets.push(name);
  }
  const inferred = new KnownOrder(tools, edges, choices, circular);
  const needs = inferred.needsOf(targets);
  const order = orderOf(needs, inferred, comparison(tools));
  return order.flatMap((name) => {
    const tool = inferred.tools.get(name);
    const own = needs.get(name)?.filter(({ from }) => order.includes(from));
    return tool === undefined ? [] : [callOf(tool, own ?? [])];
  });
}

function callOf(tool: ToolDescription, needs: readonly Edge[]): PlannedCall {
  const sources = new Map<string, { tool: string; output: string }>();
  for (const edge of needs) {
    for (const { parameter, output } of linksOf(edge)) {
      if (!sources.has(parameter)) sources.set(parameter, { tool: edge.from, output });
    }
  }
  const parameters = parametersOf(tool).filter(
    ({ isRequired, path, name }) => isRequired && (path === name || sources.has(path)),
  );
  return {
    tool: tool.name,
    ...(needs.length === 0 ? {} : { confidence: Math.min(...needs.map(({ confidence }) => confidence)) }),
    parameters: parameters.map(({ path, description }) => {
      const from = sources.get(path);
      return { ...parameterOf(path, description, true), ...defined({ from }) };
    }),
    evidence: needs.flatMap(({ evidence }) => evidence.filter(({ confidence }) => confidence >= ENOUGH)),
  };
}

function parameterOf(name: string, description: string | undefined, required: boolean): PlannedParameter {
  return { name, ...(description === undefined || description === '' ? {} : { description }), required };
}

/** Tools of a server that manage runs and plans. */
const MANAGING: ReadonlySet<string> = new Set([
  'start_workflow',
  'submit_result',
  'get_workflow_status',
  'cancel_workflow',
  'list_workflows',
  'list_runs',
  'get_next_step',
  'submit_step_result',
  'get_workflow_state',
  'resume_workflow',
  '_plan',
]);

/** The prefix of the names of workflows' tools. */
const PREFIX = 'w_';

/**
 * Tells the tools of workflows (`w_…`) in a list of a server from the others. They have an order inside, and none among
 * the tools that they call. Tools that look after runs are left out.
 */
export function separateWorkflows(list: readonly ToolDescription[]): {
  readonly tools: readonly ToolDescription[];
  readonly workflows: readonly WorkflowChoice[];
} {
  const isWorkflow = ({ name }: ToolDescription) => name.startsWith(PREFIX);
  const workflows = list.filter(isWorkflow).map((tool) => ({
    name: tool.name.slice(PREFIX.length),
    tool: tool.name,
    description: tool.description ?? '',
    inputs: parametersOf(tool)
      .filter(({ path, name }) => path === name)
      .map(({ name, description, isRequired }) => ({ name, description, required: isRequired })),
  }));
  return { tools: list.filter((tool) => !isWorkflow(tool) && !MANAGING.has(tool.name)), workflows };
}
