import type { CompletionContext } from '../../decorators/context.js';
import { nearestName } from '../../graph/suggest.js';
import { thrownText } from '../tools/exceptions.js';
import type { TemplateInfo } from '../tools/resources.js';
import type { Completer, PromptOffer } from './offers.js';
import { choicesOf } from './prompt-arguments.js';
import { faultCodes, type IdentifiedRequest, limited, ProtocolFault } from './request.js';
import { texts } from './texts.js';
import type { CompletionResult } from './wire.js';

/** More values than this are cut, as MCP demands. */
const MOST_VALUES = 100;

/** An argument somebody is typing. */
export interface CompletionRequest {
  readonly argument: string;
  /** What has been typed so far. */
  readonly value: string;
  /** What is filled in already, by argument. */
  readonly given: Readonly<Record<string, string>>;
}

/**
 * Suggests values of an argument of a prompt: what its `complete` says, else the values of its type that go on from
 * the text typed so far, whatever their case.
 *
 * @throws ProtocolFault -32602 for an argument the prompt does not have, -32603 when `complete` fails.
 */
export async function completeArgument(
  offer: PromptOffer,
  asked: CompletionRequest,
  request: IdentifiedRequest,
  limitMs: number,
): Promise<CompletionResult> {
  const { argument, value } = asked;
  const input = offer.inputs.find(({ name }) => name === argument);
  if (input === undefined) {
    const near = nearestName(
      argument,
      offer.inputs.map(({ name }) => name),
    );
    throw new ProtocolFault(faultCodes.invalidParams, texts.unknownArgument(argument, near));
  }
  const completer = offer.completers.get(argument);
  if (completer !== undefined) return completeWith(completer, asked, request, limitMs);
  const start = value.toLowerCase();
  return resultOf((choicesOf(input.schema) ?? []).filter((choice) => choice.toLowerCase().startsWith(start)));
}

/**
 * Suggests values of a variable of a resource template: what `complete` of the resource class says; none where it has
 * no such method.
 *
 * @throws ProtocolFault -32602 for a variable the template does not have, -32603 when `complete` fails.
 */
export async function completeVariable(
  { names, complete }: TemplateInfo,
  asked: CompletionRequest,
  request: IdentifiedRequest,
  limitMs: number,
): Promise<CompletionResult> {
  const { argument } = asked;
  if (!names.includes(argument)) {
    throw new ProtocolFault(
      faultCodes.invalidParams,
      texts.unknownArgument(argument, nearestName(argument, names)),
    );
  }
  if (complete === undefined) return resultOf([]);
  const completer: Completer = (value, context) => complete(argument, value, context) as readonly string[];
  return completeWith(completer, asked, request, limitMs);
}

/** Suggests the values an author's function gives. */
async function completeWith(
  completer: Completer,
  { argument, value, given }: CompletionRequest,
  { signal, requestId, auth, principal }: IdentifiedRequest,
  limitMs: number,
): Promise<CompletionResult> {
  try {
    const answer = await limited(limitMs, signal, async (limitedSignal) => {
      const context: CompletionContext = {
        signal: limitedSignal,
        requestId,
        ...(auth === undefined ? {} : { auth }),
        principal,
        arguments: given,
      };
      return completer(value, context);
    });
    if (answer.kind === 'timedOut') throw new Error(texts.noAnswer(limitMs));
    if (answer.kind === 'cancelled') throw new Error(texts.requestCancelled());
    if (!isTexts(answer.value)) throw new TypeError(texts.badCompletion());
    return resultOf(answer.value);
  } catch (error) {
    throw new ProtocolFault(faultCodes.internal, texts.notCompleted(argument, thrownText(error)));
  }
}

function isTexts(values: unknown): values is readonly string[] {
  return Array.isArray(values) && values.every((value) => typeof value === 'string');
}

/** Each value once. */
function resultOf(values: readonly string[]): CompletionResult {
  const distinct = [...new Set(values)];
  return {
    completion: {
      values: distinct.slice(0, MOST_VALUES),
      total: distinct.length,
      hasMore: distinct.length > MOST_VALUES,
    },
  };
}
