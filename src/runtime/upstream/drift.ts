import {
  itemsIn,
  type JsonType,
  propertyNames,
  requiredKeys,
  type SchemaView,
  stepInto,
  typesIn,
  viewOf,
} from '../../check/schema-view.js';
import { describeTypes, schemaMismatch } from '../../check/type-of.js';
import { currentSchema } from '../../formats/json-schema/dialect.js';
import { canonicalJson } from '../../graph/canonical.js';
import { defined } from '../../graph/defined.js';
import { childrenOf, dataPath } from '../../graph/expression/traversal.js';
import type { DictExpr, Expr } from '../../graph/expression/tree.js';
import { isJsonObject, type Json, type JsonSchema, ownProperty } from '../../graph/json.js';
import { append } from '../../graph/maps.js';
import type { Graph } from '../../graph/model.js';
import { compensationsOf, expressionsOf, isServerCall } from '../../graph/nodes.js';
import { boundSchema } from '../../graph/part-schema.js';
import { locationOfNode, type SourceLocation } from '../../graph/source-location.js';
import { planOf } from '../../plan/compile.js';
import type { PlannedNode, ScopePlan, WorkflowPlan } from '../../plan/plan.js';
import type { UpstreamReference, UpstreamTool } from './port.js';

/** The members of a registered tool that a comparison needs. */
export interface RecordedTool {
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly upstream?: UpstreamReference;
}

/** The tools of a registry by name. */
export type RecordedTools = Readonly<Record<string, RecordedTool>>;

/** Something that a step needs and that the server does not have any more. */
export interface Break {
  readonly workflow: string;
  readonly step: string;
  readonly server: string;
  /** The name of the tool at the server. */
  readonly tool: string;
  readonly part: 'tool' | 'input' | 'output';
  readonly path: Path;
  /** The end of a sentence about the path. */
  readonly problem: string;
  /** The location of the step, if it is known. */
  readonly source?: SourceLocation;
}

/** A difference between two versions of a tool, whether a step needs it or not. */
export interface Change extends PartOfTool {
  readonly tool: string;
  /** As a sentence without its subject, the tool. */
  readonly what: string;
}

interface PartOfTool {
  readonly part: Break['part'];
  /** The property of the input or the output; missing if it is not one alone. */
  readonly property?: string;
}

type ToolChange = Omit<Change, 'tool'>;

/** The tools that a server lists, by its name. A server that was not asked is missing. */
export type LiveTools = ReadonlyMap<string, readonly UpstreamTool[]>;

/** What a graph needs of the servers that were asked, and does not get. */
export function breaksOf(graph: Graph, recorded: RecordedTools, live: LiveTools): readonly Break[] {
  const isUsed = (tool: string): boolean => {
    const upstream = ownProperty(recorded, tool)?.upstream;
    return upstream !== undefined && live.has(upstream.server);
  };
  return usesOf(graph, isUsed).flatMap((use) => {
    const tool = ownProperty(recorded, use.tool);
    if (tool?.upstream === undefined) return [];
    const { server, tool: name } = tool.upstream;
    const breaks = breakOf(
      use,
      tool,
      live.get(server)?.find((each) => each.name === name),
    );
    const { workflow, step, source } = use;
    const of = { workflow, step, server, tool: name, ...defined({ source }) };
    return breaks.map((each) => ({ ...of, ...each }));
  });
}

type PartBreak = Misfit & Pick<Break, 'part'>;

function breakOf(
  { input, reads }: ToolUse,
  recorded: RecordedTool,
  live: UpstreamTool | undefined,
): readonly PartBreak[] {
  if (live === undefined) return [{ part: 'tool', path: [], problem: 'is not offered any more' }];
  const ofInput = inputMisfit(input, recorded.inputSchema, currentSchema(live.inputSchema));
  const breaks: PartBreak[] = ofInput === undefined ? [] : [{ part: 'input', ...ofInput }];
  if (reads.length === 0) return breaks;
  const [was, is] = [recorded.outputSchema, live.outputSchema && currentSchema(live.outputSchema)];
  if (was === undefined || is === undefined) {
    if (was === is) return breaks;
    const problem =
      is === undefined ? 'has no schema any more' : 'has a schema now, and with it another form';
    return [...breaks, { part: 'output', path: [], problem }];
  }
  const paths = new Set<string>();
  for (const output of reads) {
    const misfit = readMisfit(output, boundSchema(was), boundSchema(is));
    const key = canonicalJson([...(misfit?.path ?? [])]);
    if (misfit === undefined || paths.has(key)) continue;
    paths.add(key);
    breaks.push({ part: 'output', ...misfit });
  }
  return breaks;
}

/** All differences between the recorded tools of a server and those that it lists now. */
export function changesOf(
  recorded: readonly UpstreamTool[],
  live: readonly UpstreamTool[],
): readonly Change[] {
  const before = new Map(recorded.map((tool) => [tool.name, tool]));
  const now = new Map(live.map((tool) => [tool.name, tool]));
  const names = [...new Set([...before.keys(), ...now.keys()])].sort();
  return names.flatMap((tool) => {
    const [was, is] = [before.get(tool), now.get(tool)];
    if (was === undefined) return [{ tool, part: 'tool', what: 'is new' }];
    if (is === undefined) return [{ tool, part: 'tool', what: 'is not offered any more' }];
    return toolChanges(was, is).map((change) => ({ tool, ...change }));
  });
}

function toolChanges(was: UpstreamTool, is: UpstreamTool): readonly ToolChange[] {
  const ofTool = [
    ...(same(was.title, is.title) ? [] : ['has another title']),
    ...(same(was.description, is.description) ? [] : ['has another description']),
    ...(same({ ...was.annotations }, { ...is.annotations }) ? [] : ['has other annotations']),
  ];
  return [
    ...ofTool.map((what): ToolChange => ({ part: 'tool', what })),
    ...schemaChanges('input', was.inputSchema, is.inputSchema),
    ...schemaChanges('output', was.outputSchema, is.outputSchema),
  ];
}

function schemaChanges(
  part: 'input' | 'output',
  was: JsonSchema | undefined,
  is: JsonSchema | undefined,
): readonly ToolChange[] {
  if (same(was, is)) return [];
  if (was === undefined) return [{ part, what: `has a schema of its ${part}` }];
  if (is === undefined) return [{ part, what: `has no schema of its ${part} any more` }];
  const [before, now] = [propertiesOf(was), propertiesOf(is)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  const changes = names.flatMap((property): readonly ToolChange[] => {
    const path = `\`${property}\` of its ${part}`;
    if (!Object.hasOwn(before, property)) return [{ part, property, what: `has a new ${path}` }];
    if (!Object.hasOwn(now, property)) return [{ part, property, what: `has no ${path} any more` }];
    const isSame =
      same(before[property], now[property]) && isRequired(was, property) === isRequired(is, property);
    return isSame ? [] : [{ part, property, what: `has changed ${path}` }];
  });
  return changes.length > 0 ? changes : [{ part, what: `has changed the schema of its ${part}` }];
}

export function isAbout({ tool, part, path }: Break, change: Change): boolean {
  if (tool !== change.tool || part !== change.part) return false;
  return change.property === undefined || path[0] === change.property;
}

function propertiesOf({ properties }: JsonSchema): Readonly<Record<string, Json>> {
  return isJsonObject(properties) ? properties : {};
}

function isRequired({ required }: JsonSchema, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

function same(one: Json | object | undefined, other: Json | object | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonicalJson(one as Json) === canonicalJson(other as Json);
}

/** The sentence that describes a break, without the workflow and the step. */
export function breakText({ server, tool, part, path, problem }: Break): string {
  const of = `tool '${tool}' of the upstream server '${server}'`;
  if (part === 'tool') return `${of} ${problem}`;
  return path.length === 0
    ? `the ${part} of ${of} ${problem}`
    : `'${pathText(path)}' in the ${part} of ${of} ${problem}`;
}

/** `entities[].name` */
function pathText(path: Path): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[]` : `${text}${text === '' ? '' : '.'}${key}`),
    '',
  );
}

/** A value that no longer fits, and why, as the end of a sentence about it. */
interface Misfit {
  readonly path: Path;
  readonly problem: string;
}

/** Nested schemas are compared down to here: a recursive one has no end. */
const DEEPEST = 12;

/** What a step can no longer read of a result; nothing where everything is as it was. */
function readMisfit(
  { path, isWhole }: OutputUse,
  recorded: JsonSchema,
  live: JsonSchema,
): Misfit | undefined {
  let [was, is] = [viewOf(recorded), viewOf(live)];
  for (const [index, key] of path.entries()) {
    const at = path.slice(0, index + 1);
    const before = stepInto(was, key);
    // It was not there before either.
    if (before.kind === 'missing') return undefined;
    const now = stepInto(is, key);
    if (now.kind === 'missing') return { path: at, problem: 'is not in the output any more' };
    const isRequired = (view: SchemaView): boolean =>
      view.shapes !== 'unknown' && requiredKeys(view).includes(String(key));
    if (typeof key === 'string' && isRequired(was) && !isRequired(is) && key !== 'length')
      return { path: at, problem: 'may be missing now' };
    [was, is] = [before.view, now.view];
  }
  return isWhole ? misfit(is, was, path, 'read') : typeMisfit(is, was, path);
}

/** What a tool no longer accepts of the input that a step passes; nothing where it accepts everything. */
function inputMisfit(expr: Expr, recorded: JsonSchema, live: JsonSchema): Misfit | undefined {
  return passedMisfit(expr, viewOf(recorded), viewOf(live), []);
}

function passedMisfit(expr: Expr, was: SchemaView, is: SchemaView, path: Path): Misfit | undefined {
  if (expr.kind === 'literal') {
    const { value } = expr;
    if (value === undefined || schemaMismatch(value, was) !== undefined) return undefined;
    const problem = schemaMismatch(value, is);
    return problem === undefined ? undefined : { path, problem: `is not accepted any more: ${problem}` };
  }
  if (expr.kind === 'list') {
    const [before, now] = [itemsIn(was), itemsIn(is)];
    const wrong = typesIn(is)?.has('array') === false ? typeMisfit(was, is, path) : undefined;
    if (wrong !== undefined || before === undefined || now === undefined) return wrong;
    return first(expr.items, ({ value, spread }) =>
      spread === undefined ? passedMisfit(value, before, now, [...path, 0]) : undefined,
    );
  }
  if (expr.kind !== 'dict') return misfit(was, is, path, 'pass');
  const wrong = typesIn(is)?.has('object') === false ? typeMisfit(was, is, path) : undefined;
  if (wrong !== undefined) return wrong;
  const isOpen = expr.entries.some((entry) => !('key' in entry));
  const keys = new Set<string>();
  for (const entry of expr.entries) {
    if (!('key' in entry)) continue;
    const at = [...path, entry.key];
    keys.add(entry.key);
    const [before, now] = [stepInto(was, entry.key), stepInto(is, entry.key)];
    if (before.kind === 'missing') continue;
    if (now.kind === 'missing') return { path: at, problem: 'is not accepted any more' };
    const inner = passedMisfit(entry.value, before.view, now.view, at);
    if (inner !== undefined) return inner;
  }
  const requiredBefore = requiredKeys(was);
  const missing = requiredKeys(is).find((key) => !keys.has(key) && !requiredBefore.includes(key));
  return missing === undefined || isOpen
    ? undefined
    : { path: [...path, missing], problem: 'is required now' };
}

/**
 * Where values of one schema may not fit another, down to a limit.
 *
 * @param use `pass`: the other schema may refuse what it does not name; `read`: a reader ignores it.
 */
function misfit(
  offered: SchemaView,
  wanted: SchemaView,
  path: Path,
  use: 'pass' | 'read',
): Misfit | undefined {
  const wrong = typeMisfit(offered, wanted, path) ?? valueMisfit(offered, wanted, path);
  if (wrong !== undefined || path.length > DEEPEST) return wrong;
  if (offered.shapes === 'unknown' || wanted.shapes === 'unknown') return undefined;
  const [items, wantedItems] = [itemsIn(offered), itemsIn(wanted)];
  if (items !== undefined && wantedItems !== undefined && typesIn(wanted)?.has('array') === true) {
    const inner = misfit(items, wantedItems, [...path, 0], use);
    if (inner !== undefined) return inner;
  }
  const required = requiredKeys(offered);
  for (const key of requiredKeys(wanted)) {
    if (!required.includes(key))
      return { path: [...path, key], problem: use === 'pass' ? 'is required now' : 'may be missing now' };
  }
  const names = use === 'pass' ? propertyNames(offered) : propertyNames(wanted);
  return first(names, (key) => {
    const [one, other] = [stepInto(offered, key), stepInto(wanted, key)];
    if (one.kind === 'missing') return undefined;
    if (other.kind === 'missing') return { path: [...path, key], problem: 'is not accepted any more' };
    return misfit(one.view, other.view, [...path, key], use);
  });
}

function typeMisfit(offered: SchemaView, wanted: SchemaView, path: Path): Misfit | undefined {
  const [types, allowed] = [typesIn(offered), typesIn(wanted)];
  if (allowed === undefined || allowed.size === 0) return undefined;
  if (types === undefined)
    return { path, problem: `may be anything now, and is used as ${describeTypes(allowed)}` };
  const isAllowed = (type: JsonType): boolean =>
    allowed.has(type) || (type === 'integer' && allowed.has('number'));
  if ([...types].every(isAllowed)) return undefined;
  return { path, problem: `is ${describeTypes(types)}, where it has to be ${describeTypes(allowed)}` };
}

/** A value that is not among the listed ones. */
function valueMisfit(offered: SchemaView, wanted: SchemaView, path: Path): Misfit | undefined {
  const [values, allowed] = [listedIn(offered), listedIn(wanted)];
  if (allowed === undefined) return undefined;
  if (values === undefined) return { path, problem: `has to be one of ${allowed.join(', ')}` };
  const other = values.find((value) => !allowed.includes(value));
  return other === undefined
    ? undefined
    : { path, problem: `may be ${other}, which is not one of ${allowed.join(', ')}` };
}

/** All values of a view, as JSON; nothing where they are not listed. */
function listedIn({ shapes }: SchemaView): readonly string[] | undefined {
  if (shapes === 'unknown' || shapes.length === 0) return undefined;
  const lists = shapes.map(({ const: only, enum: some }): Json | undefined =>
    only === undefined ? some : [only],
  );
  if (!lists.every((list) => Array.isArray(list))) return undefined;
  return lists.flatMap((list) => (list as readonly Json[]).map((value) => canonicalJson(value)));
}

function first<T>(parts: Iterable<T>, misfitOf: (part: T) => Misfit | undefined): Misfit | undefined {
  for (const part of parts) {
    const first = misfitOf(part);
    if (first !== undefined) return first;
  }
  return undefined;
}

/** Keys from a value; a number is any item of a list. */
type Path = readonly (string | number)[];

/** What a workflow reads of the result of a call. */
interface OutputUse {
  readonly path: Path;
  /** False where only the fact is used that the value is a list or an object: what is in it is read by other paths. */
  readonly isWhole: boolean;
}

/** What one step needs of a tool. */
interface ToolUse {
  readonly workflow: string;
  readonly step: string;
  /** The name of the tool in the registry. */
  readonly tool: string;
  readonly input: DictExpr;
  readonly reads: readonly OutputUse[];
  /** The location of the step, if the front end recorded it. */
  readonly source?: SourceLocation;
}

/**
 * The calls of a graph and of its tasks, with what is read of their results. A value that passes through a branch, a
 * loop, a `parallel` or a computed path is followed; one that goes anywhere else counts as read as a whole.
 *
 * @param isUsed whether the calls of a tool are of interest.
 */
export function usesOf(graph: Graph, isUsed: (tool: string) => boolean): readonly ToolUse[] {
  const { main, tasks } = planOf(graph);
  return [main, ...tasks.values()].flatMap((plan) => new Contract(plan).uses(isUsed));
}

/** Where a value comes from: keys of the results of steps. */
type Origin = readonly { readonly step: string; readonly path: Path }[];

class Contract {
  readonly #reads = new Map<string, OutputUse[]>();

  constructor(readonly plan: WorkflowPlan) {}

  uses(isUsed: (tool: string) => boolean): ToolUse[] {
    const { plan } = this;
    for (const planned of plan.nodes) {
      const { node, scope } = planned;
      // What only passes a value on reads it where the value is read.
      const passed = node.kind === 'compute' && node.function === undefined ? node.value : undefined;
      const items = node.kind === 'foreach' ? node.items : undefined;
      for (const expr of expressionsOf(node)) {
        if (expr === passed && dataPath(expr)?.complete === true) continue;
        if (expr === items) this.#list(expr, scope);
        else this.#read(expr, scope, new Map());
      }
    }
    for (const scope of plan.scopes) {
      if (scope.value === undefined) continue;
      if (scope.container === undefined || dataPath(scope.value)?.complete !== true)
        this.#read(scope.value, scope, new Map());
    }
    return plan.nodes.flatMap(({ node }) => {
      const source = locationOfNode(node, plan.graph);
      const common = {
        workflow: plan.graph.name,
        step: node.id,
        ...defined({ source }),
      };
      const use = (tool: string, input: DictExpr, reads: readonly OutputUse[]): ToolUse[] =>
        isUsed(tool) ? [{ ...common, tool, input, reads }] : [];
      return [
        ...(isServerCall(node) ? use(node.tool, node.input, this.#reads.get(node.id) ?? []) : []),
        ...compensationsOf(node).flatMap(({ tool, input }) => use(tool, input, [])),
      ];
    });
  }

  #note(origin: Origin, isWhole: boolean): void {
    for (const { step, path } of origin) {
      append(this.#reads, step, { path, isWhole });
    }
  }

  #read(expr: Expr, scope: ScopePlan, locals: ReadonlyMap<string, Origin>): void {
    const origin = this.#originOf(expr, scope, locals);
    if (origin !== undefined) this.#note(origin, true);
    if (expr.kind === 'each') {
      const items = this.#list(expr.in, scope, locals);
      this.#read(expr.body, scope, new Map([...locals, [expr.as, items]]));
      return;
    }
    if (expr.kind === 'let') {
      const value = this.#originOf(expr.value, scope, locals);
      if (value === undefined) this.#read(expr.value, scope, locals);
      this.#read(expr.body, scope, new Map([...locals, [expr.name, value ?? []]]));
      return;
    }
    if (origin !== undefined && expr.kind === 'ref') return;
    if (origin !== undefined && expr.kind === 'get') {
      // Of a chain only computed keys are left.
      for (let link: Expr = expr; link.kind === 'get'; link = link.of) this.#read(link.key, scope, locals);
      return;
    }
    for (const child of childrenOf(expr)) this.#read(child.expr, scope, locals);
  }

  /** Notes that an expression is a list, and returns where its items come from. */
  #list(expr: Expr, scope: ScopePlan, locals: ReadonlyMap<string, Origin> = new Map()): Origin {
    const origin = this.#originOf(expr, scope, locals);
    if (origin === undefined) {
      this.#read(expr, scope, locals);
      return [];
    }
    this.#note(origin, false);
    return origin.map(({ step, path }) => ({ step, path: [...path, 0] }));
  }

  /** Where the value of a path comes from; nothing for another expression, or a path of something else. */
  #originOf(expr: Expr, scope: ScopePlan, locals: ReadonlyMap<string, Origin>): Origin | undefined {
    const data = dataPath(expr);
    if (data === undefined) return undefined;
    const { ref, segments } = data;
    const path = segments.map(({ key }) => key);
    const name = String(ref.path[0]);
    switch (ref.root) {
      case 'steps':
        return this.#resolved(this.plan.byId.get(name), path);
      case 'local':
        return locals.get(name)?.map((base) => ({ ...base, path: [...base.path, ...path] }));
      case 'item': {
        const loop = scope.loops.findLast(({ node }) => node.kind === 'foreach' && node.as === name);
        if (loop?.node.kind !== 'foreach') return undefined;
        const items = this.#originOf(loop.node.items, loop.scope, new Map());
        return items?.map((base) => ({ ...base, path: [...base.path, 0, ...path] }));
      }
      default:
        return undefined;
    }
  }

  /** Where a key of the value of a step comes from. */
  #resolved(planned: PlannedNode | undefined, path: Path): Origin | undefined {
    if (planned === undefined) return undefined;
    const { node, parts, scope } = planned;
    const [first, ...rest] = path;
    const inParts = (keys: Path, wanted = parts): Origin =>
      wanted.flatMap((part) => {
        const value = part.value && this.#originOf(part.value, part, new Map());
        return (value ?? []).map((base) => ({ ...base, path: [...base.path, ...keys] }));
      });
    switch (node.kind) {
      case 'call':
        return [{ step: node.id, path }];
      case 'compute': {
        if (node.function !== undefined) return undefined;
        const value = this.#originOf(node.value, scope, new Map());
        return value?.map((base) => ({ ...base, path: [...base.path, ...path] }));
      }
      case 'branch':
        return inParts(path);
      case 'foreach':
        return inParts(rest);
      case 'parallel':
        return inParts(
          rest,
          parts.filter(({ arm }) => first === undefined || arm === first),
        );
      default:
        return undefined;
    }
  }
}
