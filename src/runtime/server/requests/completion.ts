import type { CompletionContext } from '../../../decorators/context.js';
import type { Input } from '../../../graph/model.js';
import { clip, oneLine } from '../../../graph/printable-text.js';
import type { IdentifiedRequest } from '../../runs/request.js';
import { thrownText } from '../../tools/exceptions.js';
import type { TemplateInfo } from '../../tools/resources.js';
import { requestContextOf } from '../../tools/tool-context.js';
import { type Completer, choicesOf, unknownArgument } from '../catalogue/arguments.js';
import type { CompletionRequest } from '../stepwright-server.js';
import { type CompletionResult, faultCodes, ProtocolFault } from '../wire.js';
import { limited, unfinished } from './limits.js';

/** More values than this are cut, as MCP demands. */
const MOST_VALUES = 100;

/** A prompt whose arguments can be completed. */
interface CompletedPrompt {
  readonly inputs: readonly Input[];
  /** By argument. */
  readonly completers: ReadonlyMap<string, Completer>;
}

/**
 * Suggests values of an argument of a prompt: what its `complete` says, else the values of its type that go on from
 * the text typed so far, whatever their case.
 *
 * @throws ProtocolFault -32602 for an argument the prompt does not have, -32603 when `complete` fails.
 */
export async function completeArgument(
  { inputs, completers }: CompletedPrompt,
  asked: CompletionRequest,
  request: IdentifiedRequest,
  limitMs: number,
): Promise<CompletionResult> {
  const { argument, value } = asked;
  const input = inputs.find(({ name }) => name === argument);
  if (input === undefined) {
    const names = inputs.map(({ name }) => name);
    throw new ProtocolFault(faultCodes.invalidParams, unknownArgument(argument, names));
  }
  const completer = completers.get(argument);
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
  if (!names.includes(argument))
    throw new ProtocolFault(faultCodes.invalidParams, unknownArgument(argument, names));
  if (complete === undefined) return resultOf([]);
  const completer: Completer = (value, context) => complete(argument, value, context) as readonly string[];
  return completeWith(completer, asked, request, limitMs);
}

/** Suggests the values an author's function gives. */
async function completeWith(
  completer: Completer,
  { argument, value, given }: CompletionRequest,
  request: IdentifiedRequest,
  limitMs: number,
): Promise<CompletionResult> {
  try {
    const answer = await limited(limitMs, request.signal, async (signal) => {
      const context: CompletionContext = { ...requestContextOf({ ...request, signal }), arguments: given };
      return completer(value, context);
    });
    if (answer.kind !== 'done') throw new Error(unfinished(answer.kind, limitMs).message);
    if (!isTexts(answer.value)) throw new TypeError('`complete` must return a list of texts');
    return resultOf(answer.value);
  } catch (error) {
    throw new ProtocolFault(
      faultCodes.internal,
      `Argument '${clip(argument)}' cannot be completed: ${oneLine(thrownText(error))}`,
    );
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
