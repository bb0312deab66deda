import type {
  AgentLike,
  DelegateDefinition,
  DelegateTaskOptions,
  ShellCommandOptions,
  ShellDefinition,
} from './definition.js';
import { text } from './sources.js';
import { DetailsBuilder } from './steps.js';

/** Builds a step in which the client runs a command. Its value is `{ stdout, stderr, exit_code }`. */
export class ShellBuilder extends DetailsBuilder<ShellDefinition> {}

/** Builds a step that an agent of the client does. Its value is the reply. */
export class DelegateBuilder extends DetailsBuilder<DelegateDefinition> {}

/**
 * Begins a step in which the client runs a command. `{name}` is replaced by an argument or an earlier binding, quoted, so
 * that a shell reads it as one word.
 *
 * @example
 * ```ts
 * shell('wc -l {path}').bind('counted')
 * ```
 */
export function shell(command: string, options: ShellCommandOptions = {}): ShellBuilder {
  return new ShellBuilder({ kind: 'shell', command: text(command), ...options, resources: [] });
}

/**
 * Begins a step that an agent of the client does, by instructions. `{name}` in them is replaced by an argument or an earlier
 * binding.
 *
 * @example
 * ```ts
 * delegate('@code-reviewer', 'Review {change}').bind('review')
 * ```
 */
export function delegate(
  agent: AgentLike,
  instructions: string,
  options: DelegateTaskOptions = {},
): DelegateBuilder {
  return new DelegateBuilder({
    kind: 'delegate',
    agent,
    instructions: text(instructions),
    ...options,
    resources: [],
  });
}
