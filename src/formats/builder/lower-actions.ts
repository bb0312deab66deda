import { readMetadata } from '../../decorators/metadata.js';
import { defined } from '../../graph/defined.js';
import type { Expr } from '../../graph/expression/tree.js';
import { isValidName, NAME_RULES } from '../../graph/names.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { Bare, LoweringContext, StepOrigin } from './context.js';
import type { AgentLike, DelegateDefinition, ShellDefinition } from './definition.js';
import { InvalidNameError } from './errors.js';
import type { ValueLowering } from './lower-values.js';
import type { DataSource } from './sources.js';
import { resolveTool } from './tools-and-resources.js';

/** The part of a node that its kind decides. */
type Own<K extends 'shell' | 'delegate'> = Omit<Extract<Bare, { kind: K }>, 'id' | 'source'>;

/** A command, with its values quoted as `shell` of classes quotes them. */
export function lowerShell(
  { command, argv, env, failOnError }: ShellDefinition,
  values: ValueLowering,
  origin: StepOrigin,
): Own<'shell'> {
  const lowered = (source: DataSource): Expr => values.value(source, origin);
  const items = argv?.map((source) => ({ value: lowered(source) }));
  const variables = env && Object.entries(env).map(([key, source]) => ({ key, value: lowered(source) }));
  return {
    kind: 'shell',
    executor: 'client',
    command: quoted(lowered(command)),
    ...(items === undefined ? {} : { argv: { kind: 'list', items } }),
    ...(variables === undefined ? {} : { env: { kind: 'dict', entries: variables } }),
    ...(failOnError === true ? { failOnError } : {}),
  };
}

function quoted(command: Expr): Expr {
  if (command.kind !== 'text') return command;
  const parts = command.parts.map((part) =>
    typeof part === 'string'
      ? part
      : ({ kind: 'call', ...defined({ at: part.at }), fn: 'filter.shq.py', args: [part] } as const),
  );
  return { ...command, parts };
}

/** The task of an agent. A name that no agent can have is reported. */
export function lowerDelegate(
  { agent, instructions, schema, tools }: DelegateDefinition,
  { report, workflow }: Pick<LoweringContext, 'report' | 'workflow'>,
  values: ValueLowering,
  origin: StepOrigin,
  source: SourceLocation,
): Own<'delegate'> {
  const name = agentName(agent);
  if (name !== null && !isValidName('agent', name))
    report(source, new InvalidNameError({ kind: 'agent', name, rule: NAME_RULES.agent.source }));
  const names = tools?.map((tool) => {
    const resolved = resolveTool(tool, workflow);
    if (!resolved.ok) report(source, resolved.error);
    return resolved.name;
  });
  const prompt = values.value(instructions, origin);
  return {
    kind: 'delegate',
    executor: 'client',
    agent: name,
    prompt,
    ...defined({ tools: names, responseSchema: schema }),
  };
}

function agentName(agent: AgentLike): string | null {
  if (typeof agent !== 'function') return agent === null ? null : String(agent);
  const metadata = readMetadata(agent);
  return metadata?.kind === 'agent' ? metadata.options.name : agent.name;
}
