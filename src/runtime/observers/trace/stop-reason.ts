import { references } from '../../../graph/expression/references.js';
import type { Expr } from '../../../graph/expression/tree.js';
import { isJsonObject, ownProperty } from '../../../graph/json.js';
import type { CallNode, Graph, Node } from '../../../graph/model.js';
import type { Failure, RunState } from '../../engine/contract.js';
import type { PauseReason } from './messages.js';
import type { Resolver } from './resolve.js';
import { texts } from './texts.js';

/** A failed node and what is known about its failure. */
export interface FailedStep {
  readonly node: Node;
  readonly failure: Failure;
  /** How often the tool or resource was reached. */
  readonly attempts: number;
  /** Repeating it does no harm: it changes nothing, or nothing more. */
  readonly retryable: boolean;
}

/** Why a run stopped, as a sentence and for programs. */
export interface StopReason {
  readonly sentence: string;
  readonly pause: PauseReason;
}

/** Whether a step that ends the workflow did so; it fails otherwise where its condition or message has no value. */
export function hasFired(node: Node, failure: Failure): boolean {
  return node.kind === 'error' && failure.code === node.id;
}

/** What kept one step from completing. `resolver` must know the state the run stopped in. */
export function stepReason(
  failed: FailedStep,
  state: RunState,
  resolver: Resolver,
  graph: Graph,
): StopReason {
  const { node, failure, attempts, retryable } = failed;
  const { id } = node;
  const { code } = failure;
  const suggested = node.kind === 'call' ? { suggestedTool: node.tool } : {};
  if (node.kind === 'call' && attempts === 0) {
    const missingFields = missingFieldsOf(failure);
    const parameter =
      unresolvable(node, resolver) ?? entriesFor(node, missingFields).find((e) => lostStep(e.value, state));
    const producer = parameter === undefined ? undefined : lostStep(parameter.value, state);
    if (producer !== undefined) {
      const output = graph.nodes.find((other) => other.id === producer)?.output ?? producer;
      return {
        sentence: texts.unresolvedDependency(id, output, producer),
        pause: {
          type: 'unresolvedDependency',
          blockedStep: id,
          missingOutput: output,
          producingStep: producer,
          ...suggested,
          code,
        },
      };
    }
    if (code === 'E_INPUT_INVALID') {
      const onlyMissing = missingFields.length > 0 && missingFields.length === problemCount(failure);
      return {
        sentence: onlyMissing
          ? texts.missingFields(id, missingFields)
          : texts.stepFailed(id, failure.message),
        pause: { type: 'schemaMismatch', blockedStep: id, missingFields, ...suggested, code },
      };
    }
    if (parameter !== undefined) {
      return {
        sentence: texts.unresolvable(id, parameter.key),
        pause: {
          type: 'unresolvableParams',
          blockedStep: id,
          missingParam: parameter.key,
          ...suggested,
          code,
        },
      };
    }
  }
  const sentence = hasFired(node, failure)
    ? texts.stopped(id, failure.message)
    : texts.stepFailed(id, failure.message, attempts);
  const unknown = failure.outcomeUnknown === true && !retryable;
  return {
    sentence: `${sentence}${retryable ? texts.retryable : ''}${unknown ? texts.outcomeUnknown : ''}`,
    pause: { type: 'toolError', failedStep: id, error: failure.message, retryable, ...suggested, code },
  };
}

interface Entry {
  readonly key: string;
  readonly value: Expr;
}

function entriesOf(node: CallNode): Entry[] {
  return node.input.entries.flatMap((entry) => ('key' in entry ? [entry] : []));
}

function entriesFor(node: CallNode, keys: readonly string[]): Entry[] {
  return entriesOf(node).filter((entry) => keys.includes(entry.key));
}

/** The first parameter that has no value. */
function unresolvable(node: CallNode, resolver: Resolver): Entry | undefined {
  return entriesOf(node).find((entry) => !resolver.resolve(entry.value).ok);
}

/** The first step an expression needs whose value does not exist. */
function lostStep(expr: Expr, state: RunState): string | undefined {
  for (const { ref, guarded } of references(expr)) {
    const step = String(ref.path[0]);
    if (ref.root === 'steps' && !guarded && ownProperty(state.nodes, step)?.status !== 'succeeded')
      return step;
  }
  return undefined;
}

/** Required arguments the catalogue missed; it lists them in the details of `E_INPUT_INVALID`. */
function missingFieldsOf({ details }: Failure): string[] {
  const missing = isJsonObject(details) ? details.missing : undefined;
  return Array.isArray(missing) ? missing.map(String) : [];
}

function problemCount({ details }: Failure): number {
  const problems = isJsonObject(details) ? details.problems : undefined;
  return Array.isArray(problems) ? problems.length : 0;
}
