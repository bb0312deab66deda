import { describeAnswerers, isForOthers } from '../../graph/answerers.js';
import { defined } from '../../graph/defined.js';
import { references } from '../../graph/expression/traversal.js';
import { isJsonObject, type Json, type JsonObject, type Value } from '../../graph/json.js';
import type { AskNode, CallNode } from '../../graph/model.js';
import { bodyText, clipText, jsonText, oneLine } from '../../graph/printable-text.js';
import { ANY_ITEM, type NodeInstance, type ScopeInstance } from '../../plan/instances.js';
import { soleBody } from '../../print/shapes.js';
import { answerSchema } from '../engine/actions.js';
import type { RunMask } from '../secrets/run-mask.js';
import { nameOf } from './ledger.js';
import { type HandOffCall, RESULT_LIMIT } from './messages.js';

/** The place of a step, from the inside out: ` in item 3 of 'line', in branch 'left' of 'both'`. Empty at the top. */
export function whereIs(scope: ScopeInstance): string {
  const words: string[] = [];
  for (let each = scope; each.container !== undefined; each = each.container.scope) {
    const { node } = each.container.planned;
    const name = nameOf(node.id);
    switch (node.kind) {
      case 'foreach':
        if (each.part !== ANY_ITEM) words.push(` in item ${each.part + 1} of '${name}'`);
        break;
      case 'parallel':
        words.push(` in branch '${each.plan.arm ?? ''}' of '${name}'`);
        break;
      case 'workflow':
        words.push(` in workflow '${node.workflow}' of '${name}'`);
        break;
      default:
        // A body that only groups steps is not a place to a reader.
        if (soleBody(node) === undefined) words.push(` in '${each.plan.arm ?? ''}' of '${name}'`);
    }
  }
  return words.join(',');
}

/** The body of a step, for programs; `*` means every item. */
export function bodyName(scope: ScopeInstance): { in?: string } {
  return scope.container === undefined ? {} : { in: scope.key.replaceAll(`[${ANY_ITEM}]`, '[*]') };
}

/**
 * A call, a read or a question as a hand-off lists it.
 * @param input the input of the call, the address of the resource, or the message and the options of the question.
 */
export function entryOf(node: NodeInstance, input: Value, secrets: RunMask): HandOffCall {
  const { node: model } = node.planned;
  const value = withPlaceholders(input);
  const [step, around] = [nameOf(node.key), bodyName(node.scope)];
  switch (model.kind) {
    case 'call':
      return { step, tool: model.tool, arguments: shown(value, model, secrets), ...around };
    case 'resource':
      return { step, resource: model.resource, uri: secrets.text(String(value)), ...around };
    case 'ask':
      return { step, ...question(model, value, secrets), ...around };
    case 'shell':
      return { step, ...command(value, secrets), ...around };
    case 'delegate': {
      const { agent, tools } = model;
      const { prompt = null } = isJsonObject(value) ? value : {};
      return { step, instructions: secrets.text(String(prompt)), agent, ...defined({ tools }), ...around };
    }
    default:
      throw new Error(`a ${model.kind} node is not a call`);
  }
}

/** A call as the text of a hand-off lists it, with its note below. */
export function callText(call: HandOffCall): string {
  const line = lineOf(call);
  return call.note === undefined ? line : `${line}\n   Note: ${call.note}`;
}

function lineOf(call: HandOffCall): string {
  if ('tool' in call) return `Call ${call.tool} with ${jsonText(call.arguments)}`;
  if ('uri' in call) return `Read resource ${oneLine(call.uri)}`;
  if ('command' in call) return `Run the command ${jsonText(partsOf(call))}`;
  if ('instructions' in call)
    return `${call.agent === null ? 'Do this task' : `Have ${call.agent} do this task`}: ${jsonText(call.instructions)}`;
  const { ask, options = [], schema, answer_by: answerBy } = call;
  if (call.mode === 'model')
    return `Supply a value: ${jsonText(ask)} It is JSON that fits ${jsonText(schema)}`;
  const how = isForOthers(answerBy)
    ? `Somebody else answers, so start the workflow again instead of asking the user; only ${describeAnswerers(answerBy)} may answer`
    : 'Ask the user';
  const choices = options.map((option) => jsonText(option)).join(', ');
  return `${how}: ${jsonText(ask)}${choices === '' ? '' : ` Options: ${choices}.`} The answer is JSON that fits ${jsonText(schema)}`;
}

/** A value with placeholder texts for what is not known. */
function withPlaceholders(value: Value): Json {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json);
}

type Command = Extract<HandOffCall, { readonly command: string }>;

function partsOf({ command: text, argv, env }: Command): Json {
  return argv === undefined && env === undefined ? text : { command: text, ...defined({ argv, env }) };
}

/** A command that the reader of the hand-off runs. */
function command(value: Json, secrets: RunMask): Pick<Command, 'command' | 'argv' | 'env'> {
  const { command: text = null, argv, env } = isJsonObject(value) ? value : {};
  return {
    command: secrets.text(String(text)),
    ...(Array.isArray(argv) ? { argv: argv.map((arg) => secrets.text(String(arg))) } : {}),
    ...(isJsonObject(env) ? { env: secrets.json(env) as JsonObject } : {}),
  };
}

/** A question that the reader of the hand-off asks the user. */
function question(step: AskNode, value: Json, secrets: RunMask) {
  const { message = null, options: choices } = isJsonObject(value) ? value : {};
  const options = Array.isArray(choices) ? choices.map(String) : undefined;
  return {
    ask: secrets.text(String(message)),
    ...(options === undefined ? {} : { options: options.map((option) => secrets.text(option)) }),
    schema: answerSchema(step, options),
    ...(step.mode === 'model' ? { mode: step.mode } : {}),
    ...defined({ answer_by: step.answerBy }),
  };
}

/** Arguments as a hand-off shows them. */
function shown(value: Json, node: CallNode, secrets: RunMask): JsonObject {
  // References to secrets are placeholders already; copies of their values are masked here.
  return shortArguments(secrets.pending(node, isJsonObject(value) ? value : {}), node);
}

/** Arguments in which one that is too long to repeat is named by where it comes from. */
export function shortArguments(args: JsonObject, { input }: CallNode): JsonObject {
  return Object.fromEntries(
    Object.entries(args).map(([key, member]) => {
      if (jsonText(member).length <= RESULT_LIMIT) return [key, member];
      const entry = input.entries.find((candidate) => 'key' in candidate && candidate.key === key);
      const source = entry !== undefined && 'key' in entry ? references(entry.value) : [];
      return [key, `<value computed from ${source.map(({ ref }) => ref.path.join('.')).join(', ')}>`];
    }),
  );
}

/**
 * The guidance of a call: one line is a note of it; several lines, such as a numbered list, are a text of their own.
 * @param guidance in which values have no line breaks: those of the author are kept.
 */
export function guidanceNote(
  { planned }: NodeInstance,
  guidance: string,
): { readonly lines?: readonly string[]; readonly text?: string } {
  const lines = bodyText(guidance.trim()).split(/\r?\n/);
  if (lines.length === 1) return { lines: [oneLine(lines.join(''))] };
  return {
    lines: [`Follow the guidance of step '${planned.node.id}' above.`],
    text: clipText(lines.join('\n'), GUIDANCE_LIMIT),
  };
}

/** Names the resources of steps that the reader has not seen. */
export function readNote(uris: readonly string[]): string[] {
  const what = uris.length === 1 ? 'resource' : 'resources';
  return uris.length === 0 ? [] : [`Read ${what} ${uris.map((uri) => oneLine(uri)).join(', ')} first.`];
}

/** The longest guidance of several lines in a hand-off, in UTF-16 code units. */
const GUIDANCE_LIMIT = 2_000;
