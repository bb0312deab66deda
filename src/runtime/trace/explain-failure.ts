import { Budget, EXPRESSION_BUDGET, ExpressionError, evaluate } from '../../graph/expression/evaluate.js';
import { references } from '../../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../../graph/expression/tree.js';
import { isJsonObject, ownProperty, type Value } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import type { CallNode } from '../../graph/model.js';
import { failureCodeOf } from '../../graph/names.js';
import { isServerCall } from '../../graph/nodes.js';
import { oneLine } from '../../graph/printable-text.js';
import type { NodeInstance, ScopeInstance } from '../../plan/instances.js';
import { bindsName } from '../../plan/instances.js';
import type { Failure } from '../engine/contract.js';
import { fieldOf } from '../engine/fields.js';
import { containsLost, LOST, type StoppedState, settledIn } from '../engine/rehearsal.js';
import { whereIs } from './hand-off-calls.js';
import type { Ledger, NodeRecord } from './ledger.js';
import type { PauseReason } from './messages.js';
import type { OpenNodes, PlannedRunContext } from './planned-run.js';
import { stepFailed, stop } from './sentences.js';

/** A failed node and what is known about its failure. */
export interface FailedStep {
  readonly node: NodeInstance;
  readonly record: NodeRecord;
  readonly failure: Failure;
  /** How often the tool or resource was reached. */
  readonly attempts: number;
  /** Repeating it does no harm: it changes nothing, or nothing more. */
  readonly retryable: boolean;
  /** The outcome of the call is unknown. */
  readonly isUnknown: boolean;
}

/** Follows the reason of a failure after which it is not known what the call did. */
export const OUTCOME_UNKNOWN =
  ' The outcome of this call is unknown: it may have taken effect. Check that first, before you repeat it or go on.';

/** Why a run stopped: the sentence of the hand-off, and its `pause_reason` for programs. */
export interface Explanation {
  readonly sentence: string;
  readonly pause: PauseReason;
  /** Key of the call with an unknown outcome that the sentence is about. */
  readonly unknown?: string;
}

/** Whether a step that ends the workflow did so; it fails otherwise where its condition or message has no value. */
export function hasFired(node: Node, failure: Failure): boolean {
  return node.kind === 'error' && failure.code === failureCodeOf(node);
}

/**
 * Explains the failure of one step.
 * @param hasValue whether an expression has a value although the run has stopped.
 * @param wasAborted its call was cancelled because another step failed.
 */
export function explainFailure(
  failed: FailedStep,
  ledger: Ledger,
  hasValue: (expr: Expr, at: ScopeInstance) => boolean,
  wasAborted = false,
): Explanation {
  const { node: instance, failure, attempts, retryable, isUnknown } = failed;
  const { key } = instance;
  const { node } = instance.planned;
  const { id } = node;
  const { code } = failure;
  const where = whereIs(instance.scope);
  const suggested = isServerCall(node) ? { suggestedTool: node.tool } : {};
  if (isServerCall(node) && attempts === 0) {
    const missingFields = missingFieldsOf(failure);
    const missingStep = (expr: Expr): NodeInstance | undefined => lostStep(expr, instance, ledger);
    const parameter =
      unresolvable(node, (expr) => hasValue(expr, instance.scope)) ??
      entriesOf(node)
        .filter((entry) => missingFields.includes(entry.key))
        .find((entry) => missingStep(entry.value) !== undefined);
    const producer = parameter === undefined ? undefined : missingStep(parameter.value);
    if (producer !== undefined) {
      const producingStep = producer.planned.node.id;
      return {
        sentence: `Step '${id}'${where} depends on output '${producingStep}' from step '${producingStep}', which did not complete.`,
        pause: {
          type: 'unresolvedDependency',
          blockedStep: key,
          missingOutput: producingStep,
          producingStep: producer.key,
          ...suggested,
          code,
        },
      };
    }
    if (code === 'E_INPUT_INVALID') {
      const onlyMissing = missingFields.length > 0 && missingFields.length === problemCount(failure);
      return {
        sentence: onlyMissing
          ? `Step '${id}'${where} has missing required fields: ${missingFields.join(', ')}.`
          : stepFailed(id, failure.message, 1, where),
        pause: { type: 'schemaMismatch', blockedStep: key, missingFields, ...suggested, code },
      };
    }
    if (parameter !== undefined) {
      return {
        sentence: `Could not resolve parameter '${parameter.key}' for step '${id}'${where}: ${stop(oneLine(failure.message))}`,
        pause: {
          type: 'unresolvableParams',
          blockedStep: key,
          missingParam: parameter.key,
          ...suggested,
          code,
        },
      };
    }
  }
  if (hasFired(node, failure)) {
    const sentence = `Step '${id}'${where} stopped the workflow: ${stop(oneLine(failure.message))}`;
    return { sentence, pause: { type: 'stopped', failedStep: key, error: failure.message, code } };
  }
  const sentence = wasAborted
    ? `Step '${id}'${where} was cancelled because of another failure.`
    : stepFailed(id, failure.message, attempts, where);
  const warning = isUnknown && !retryable ? OUTCOME_UNKNOWN : '';
  return {
    sentence: `${sentence}${retryable ? ' This step is retryable.' : ''}${warning}`,
    pause: { type: 'toolError', failedStep: key, error: failure.message, retryable, ...suggested, code },
    ...(isUnknown ? { unknown: key } : {}),
  };
}

interface Entry {
  readonly key: string;
  readonly value: Expr;
}

function entriesOf(node: CallNode): Entry[] {
  return node.input.entries.flatMap((entry) => ('key' in entry ? [entry] : []));
}

/** The first parameter that has no value. */
function unresolvable(node: CallNode, hasValue: (expr: Expr) => boolean): Entry | undefined {
  return entriesOf(node).find((entry) => !hasValue(entry.value));
}

/** The first step an expression needs whose value does not exist. */
function lostStep(expr: Expr, { scope }: NodeInstance, ledger: Ledger): NodeInstance | undefined {
  for (const { ref, guarded } of references(expr)) {
    if (ref.root !== 'steps' || guarded) continue;
    const step = ledger.seenFrom(scope, String(ref.path[0]));
    if (step !== undefined && ledger.record(step)?.status !== 'succeeded') return step;
  }
  return undefined;
}

/** Required arguments that were missing; the toolset lists them in the details of `E_INPUT_INVALID`. */
function missingFieldsOf({ details }: Failure): string[] {
  const missing = isJsonObject(details) ? details.missing : undefined;
  return Array.isArray(missing) ? missing.map(String) : [];
}

function problemCount({ details }: Failure): number {
  const problems = isJsonObject(details) ? details.problems : undefined;
  return Array.isArray(problems) ? problems.length : 0;
}

/** Returns whether an expression has a value although the run has stopped. */
export function knownValues(
  { state, ledger }: Pick<PlannedRunContext, 'state' | 'ledger'>,
  nodes: OpenNodes,
): (expr: Expr, at: ScopeInstance) => boolean {
  const read = (root: RefExpr['root'], name: string, at: ScopeInstance): Value => {
    switch (root) {
      case 'inputs': {
        const { node } = at.workflow;
        return ownProperty(node === undefined ? state.input : (ledger.record(node)?.input ?? {}), name);
      }
      case 'steps': {
        const step = ledger.seenFrom(at, name);
        const stoppedState: StoppedState =
          step === undefined ? { kind: 'skipped' } : nodes.stoppedState(step.key);
        if (stoppedState.kind === 'settled') return stoppedState.value;
        return stoppedState.kind === 'skipped' || stoppedState.kind === 'handled' ? undefined : LOST;
      }
      case 'nodes': {
        const step = ledger.seenFrom(at, name);
        return step === undefined ? undefined : (settledIn(nodes, step.key) ?? LOST);
      }
      case 'item':
      case 'index':
        for (let scope = at; scope.container !== undefined; scope = scope.container.scope) {
          const { container, part } = scope;
          const { node } = container.planned;
          if (!bindsName(node, root, name)) continue;
          return root === 'index' ? part : (ledger.record(container)?.items?.[part] ?? LOST);
        }
        return undefined;
      case 'state':
        return fieldOf(state, at.workflow, name);
      default:
        return undefined;
    }
  };
  return (expr, at) => {
    try {
      const lookup = (root: RefExpr['root'], name: string | number) => read(root, String(name), at);
      return !containsLost(evaluate(expr, { lookup }, new Budget(EXPRESSION_BUDGET)));
    } catch (error) {
      if (error instanceof ExpressionError) return false;
      throw error;
    }
  };
}
