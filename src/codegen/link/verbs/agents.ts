import { defined } from '../../../graph/defined.js';
import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { JsonSchema } from '../../../graph/json.js';
import type { AgentDeclaration } from '../../declarations.js';
import { readClasses } from '../../extract/read-options.js';
import { schemaOfValue } from '../../schemas/type-schema.js';
import { type ExpressionSyntax, printType } from '../../syntax.js';
import { type CallSyntax, unwrap, verbOf } from '../../verbs.js';
import { describeGiven } from '../describe.js';
import { lowerExpression } from '../expressions.js';
import { boundToNode, boundToProperty, type NodeCore, type StepOutcome } from '../nodes.js';
import { type CallOptionsRead, readCallOptions } from '../options.js';
import { isGivenTwice, standInFor } from './calls.js';
import { type Linker, refuse } from './linker.js';

/** The filter that quotes a value, so that a shell reads it as one word. */
const QUOTE = 'filter.shq.py';

/** `` shell`…` ``, which is read as a call with the template and the options. */
export function linkShell(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [template, given] = args;
  if (template?.kind !== 'template')
    return refuse(
      linker,
      callee.place,
      'a `shell` without a command',
      'write the command behind it: shell`…`',
    );
  const options = optionsOf(linker, 'shell', given);
  const command = commandOf(linker, template);
  const [argv, env] = [options?.syntax.argv, options?.syntax.env].map((each) => optionOf(linker, each));
  if (options === undefined || command === undefined || argv === undefined || env === undefined)
    return undefined;
  const core: NodeCore = {
    ...{ kind: 'shell', command, ...defined({ argv: argv.value, env: env.value }) },
    ...(options.values.failOnError === true ? { failOnError: true } : {}),
  };
  return performed(linker, core, options);
}

/** The value of an option; undefined where it has a fault, which is reported. */
function optionOf(
  linker: Linker,
  syntax: ExpressionSyntax | undefined,
): { readonly value?: Expr } | undefined {
  if (syntax === undefined) return {};
  const value = lowerExpression(syntax, linker.arguments);
  return value && { value };
}

/** The text of a command, with its values quoted. */
function commandOf(
  linker: Linker,
  { parts, place }: Extract<ExpressionSyntax, { kind: 'template' }>,
): Expr | undefined {
  const lowered = parts.map((part) => (typeof part === 'string' ? part : wordOf(linker, part)));
  if (!lowered.every((part) => part !== undefined)) return undefined;
  const at = place.span;
  if (lowered.every((part) => typeof part === 'string'))
    return { kind: 'literal', at, value: lowered.join('') };
  return { kind: 'text', at, style: 'js', parts: lowered };
}

function wordOf(linker: Linker, part: ExpressionSyntax): Expr | undefined {
  const inner = unwrap(part);
  if (inner.kind === 'call' && verbOf(inner) === 'shell.raw') {
    const raw = linker.argument(inner.args[0], inner.place);
    if (raw !== undefined && raw.kind !== 'literal')
      linker.scope.report(diagnostic('SW2011', part.place, {}));
    return raw;
  }
  const value = lowerExpression(part, linker.arguments);
  return value && { kind: 'call', at: part.place.span, fn: QUOTE, args: [value] };
}

/** `delegate(Agent, instructions, options)`: the value is the reply. */
export function linkDelegate(linker: Linker, call: CallSyntax): StepOutcome | undefined {
  const [handle, text, given] = call.args;
  const { place } = call.callee;
  if (handle === undefined || text === undefined) {
    const what = `a \`delegate\` without ${handle === undefined ? 'an agent' : 'instructions'}`;
    return refuse(linker, place, what, "write `delegate(CodeReviewer, '…')`, or `delegate(null, '…')`");
  }
  const isCaller = handle.kind === 'literal' && handle.value === null;
  const agent = isCaller ? undefined : linker.scope.handles.agent(handle, 'delegate', place);
  const prompt = lowerExpression(text, { ...linker.arguments, template: 'reader' });
  const options = optionsOf(linker, 'delegate', given);
  const schema = options && responseOf(linker, call, options, agent);
  const tools = options && toolsOf(linker, options);
  if (options === undefined || schema === undefined || tools === undefined) return undefined;
  if (prompt === undefined || (agent === undefined && !isCaller)) return undefined;
  const core: NodeCore = { kind: 'delegate', agent: agent?.name ?? null, prompt, ...tools, ...schema };
  const { id = linker.scope.id } = options;
  return {
    ...performed(linker, core, options, boundToProperty(id, 'response')),
    standIn: standInFor('response'),
  };
}

/** The schema of the reply: that of the option, or that of the agent's class; undefined for a fault, which is reported. */
function responseOf(
  linker: Linker,
  { schema }: CallSyntax,
  { syntax: { response } }: CallOptionsRead,
  agent: AgentDeclaration | undefined,
): { readonly responseSchema?: JsonSchema } | undefined {
  const { report, handles } = linker.scope;
  if (response !== undefined) {
    const responseSchema = schema && handles.response(response.place.file, schema);
    if (responseSchema !== undefined) return { responseSchema };
    const hint = 'write it here or as a `const`, with the functions of zod and literals alone';
    return refuse(linker, response.place, 'this schema', hint);
  }
  const { reply } = agent ?? {};
  if (agent === undefined || reply === undefined || reply.kind === 'string' || reply.kind === 'unknown')
    return {};
  const { schema: derived, faults } = schemaOfValue(reply);
  if (derived !== undefined && faults.length === 0) return { responseSchema: derived };
  const what = `a reply of the type \`${printType(reply)}\`, which has no JSON form,`;
  report(diagnostic('SW2001', agent.place, { what }, { hint: 'write the type as one of JSON values' }));
  return undefined;
}

function toolsOf(
  { scope: { handles, report } }: Linker,
  { syntax: { tools: list } }: CallOptionsRead,
): { readonly tools?: readonly string[] } | undefined {
  if (list === undefined) return {};
  const classes = readClasses('delegate', 'tools', unwrap(list), report);
  const tools = classes?.map((each) => handles.tool(each, 'tools', each.place)?.name);
  return tools?.every((name) => name !== undefined) ? { tools } : undefined;
}

/** An `onClient` around something else than a call. */
export function linkOnClient(linker: Linker, { args, callee }: CallSyntax): undefined {
  const [first] = args;
  if (first !== undefined && unwrap(first).kind === 'call')
    linker.part(first, { id: linker.scope.id, prefix: linker.prefix });
  const actual = first === undefined ? 'an empty list of arguments' : describeGiven(first);
  const params = { taker: '`onClient`', takes: 'a `call`', actual };
  const hint = 'write `onClient(call(SomeTool, { … }))`: the server does everything else itself';
  linker.scope.report(diagnostic('SW2008', first?.place ?? callee.place, params, { hint }));
}

/** The options of a verb, unless a part of them has a fault, which is reported. */
function optionsOf(
  linker: Linker,
  verb: 'shell' | 'delegate',
  given: ExpressionSyntax | undefined,
): CallOptionsRead | undefined {
  const options = readCallOptions(verb, given, linker.scope.report);
  return options === undefined || isGivenTwice(linker, verb, options) ? undefined : options;
}

/** A node that the client executes. */
function performed(
  linker: Linker,
  core: NodeCore,
  options: CallOptionsRead,
  bind?: StepOutcome['bind'],
): StepOutcome {
  const { id = linker.scope.id } = options;
  const more = { ...linker.attempts(options), id, executor: 'client' } as const;
  return linker.outcome(core, more, bind ?? boundToNode(id));
}
