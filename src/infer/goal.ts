import { defined } from '../graph/defined.js';
import type { Input } from '../graph/model.js';
import { compareText } from '../graph/names.js';
import { type Edge, ENOUGH, type Evidence } from './evidence.js';
import { parametersOf } from './fields.js';
import { inferOrder } from './infer.js';
import { comparison, KnownOrder, linksOf, orderOf } from './sequences.js';
import { describeTool, type ToolDescription } from './tool.js';
import { isVerb, rootOf, rootsOf, wordsOf } from './words.js';

/** A workflow that a planner may choose. */
export interface WorkflowChoice {
  readonly name: string;
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

type Score = (text: Scored) => number;

/** Scores texts by the words of the goal that they have. Words that are in no text do not count. */
function scorer(goal: string, texts: readonly Scored[]): Score {
  const wordsIn = ({ name, description = '' }: Scored) =>
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
function joinedWords(goal: string, texts: readonly Scored[]): string {
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

/** What a goal wants to be done, or what a tool does: to read, to act, or to undo. */
type Intent = 'read' | 'act' | 'undo';

/** Verbs with one meaning. A goal that pays an invoice does not fit a tool that creates one. */
const GROUPS: readonly (readonly [Intent, string])[] = [
  [
    'read',
    'search find get list lookup look read query fetch show browse retrieve discover describe display view see compare ' +
      'track check verify validate count know tell explain give summarize translate',
  ],
  ['undo', 'cancel delete remove rollback revert undo void revoke drop erase'],
  ['undo', 'refund'],
  ['act', 'book reserve order buy purchase place'],
  ['act', 'create add make new register open write draft'],
  ['act', 'schedule arrange plan'],
  ['act', 'send share email message mail notify inform forward'],
  ['act', 'post publish release'],
  ['act', 'update edit change set modify rename adjust'],
  ['act', 'assign give hand'],
  ['act', 'move transfer'],
  ['act', 'pay charge settle'],
  ['act', 'submit upload save store put'],
  ['act', 'run execute start launch play'],
  ['act', 'complete finish finalize close resolve mark confirm'],
  ['act', 'escalate'],
  ['act', 'archive'],
  ['act', 'return'],
  ['act', 'rent hire'],
  ['act', 'print'],
  ['act', 'approve accept'],
  ['act', 'reject decline deny'],
];

interface VerbGroup {
  readonly intent: Intent;
  readonly index: number;
}

const groupOf = new Map<string, VerbGroup>();
for (const [index, [intent, verbs]] of GROUPS.entries())
  for (const verb of verbs.split(' '))
    if (!groupOf.has(rootOf(verb))) groupOf.set(rootOf(verb), { intent, index });

const QUESTION =
  /^(?:which|what|who|whom|whose|where|when|why|how|is|are|was|were|did|does|has|have|had|do (?:i|we|you|they)|am i|can i|may i|should i|any)\b/i;

/** What a request may begin with, and what does not belong to it. */
const POLITE =
  /^(?:please|kindly|hey|hi|hello|can you|could you|would you|will you|i want to|i want you to|i would like to|i'd like to|i need to|i have to|i wish to|help me(?: to)?|let me|let us|let's|now|also|finally|first)\b[\s,]*/i;

/** One thing that a goal wants. */
interface GoalPart {
  /** In the words of the goal. */
  readonly text: string;
  /** Its words, with the verb or the noun that it shares with the part beside it. */
  readonly words: string;
  /** Undefined for a goal without a verb. */
  readonly intent: Intent | undefined;
  /** The group of its verb. */
  readonly group: number | undefined;
}

/** The parts of a goal: `find a flight and book it` has two. A part without a verb or without a noun takes that of its neighbour. */
function partsOf(goal: string): GoalPart[] {
  const texts = goal
    .split(/[;,.!]\s+|\s+(?:and then|after that|afterwards|then|and also|and|as well as)\s+|\?\s*/i)
    .map((text) => withoutPolite(text.trim()))
    .filter((text) => rootsOf(text).size > 0);
  const verbs = texts.map((text) => (QUESTION.test(text) ? undefined : verbIn(text)));
  const nouns = texts.map((text) => wordsOf(text).filter((word) => !isAnyVerb(word)));
  let earlier: string | undefined;
  return texts.map((text, index) => {
    const isQuestion =
      QUESTION.test(text) || (index === 0 && goal.trim().endsWith('?') && texts.length === 1);
    const verb = verbs[index] ?? (isQuestion ? undefined : earlier);
    if (verbs[index] !== undefined) earlier = verbs[index];
    const own = rootsOf((nouns[index] ?? []).join(' ')).size > 0;
    const beside = own
      ? []
      : (nouns.slice(0, index).reverse().find(hasNoun) ?? nouns.slice(index + 1).find(hasNoun) ?? []);
    const group = verb === undefined ? undefined : groupOf.get(rootOf(verb));
    const words = [...(verbs[index] === undefined && verb !== undefined ? [verb] : []), text, ...beside].join(
      ' ',
    );
    return {
      text,
      words,
      intent: isQuestion ? 'read' : group?.intent,
      group: isQuestion ? groupOf.get('find')?.index : group?.index,
    };
  });
}

function hasNoun(words: readonly string[]): boolean {
  return rootsOf(words.join(' ')).size > 0;
}

function withoutPolite(text: string): string {
  const rest = text.replace(POLITE, '');
  return rest === text ? text : withoutPolite(rest);
}

/** Verbs that leave the meaning to their noun: `make a booking`. */
const LIGHT: ReadonlySet<string> = new Set(['make', 'do', 'take', 'have', 'put', 'place']);

/** The verb of a request: its first word that is one. */
function verbIn(text: string): string | undefined {
  const [first, second] = wordsOf(text).filter(isAnyVerb);
  return first !== undefined && LIGHT.has(first) ? (second ?? first) : first;
}

function isAnyVerb(word: string): boolean {
  return groupOf.has(rootOf(word)) || isVerb(word);
}

/** What a tool or a workflow does, as it says itself. */
function intentOf({ name, readOnly }: Pick<ToolDescription, 'name' | 'readOnly'>): Intent {
  if (readOnly === true) return 'read';
  const verbs = wordsOf(name).flatMap((word) => groupOf.get(rootOf(word)) ?? []);
  if (verbs.some(({ intent }) => intent === 'undo')) return 'undo';
  return readOnly !== false && verbs[0]?.intent === 'read' ? 'read' : 'act';
}

/** Whether a tool or a workflow does what a part of a goal wants. */
function doesWhat(
  { intent, group }: GoalPart,
  { name, description = '', readOnly }: Pick<ToolDescription, 'name' | 'description' | 'readOnly'>,
): boolean {
  const own = intentOf({ name, ...(readOnly === undefined ? {} : { readOnly }) });
  if (intent === undefined) return own !== 'undo';
  if (intent !== own || intent === 'read') return intent === own;
  const groups = wordsOf(`${name} ${description}`).flatMap((word) => groupOf.get(rootOf(word))?.index ?? []);
  return groups.includes(group ?? -1);
}
