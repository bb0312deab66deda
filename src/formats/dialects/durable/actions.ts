import { defined } from '../../../graph/defined.js';
import type { Expr } from '../../../graph/expression/tree.js';
import { isJsonObject } from '../../../graph/json.js';
import { MAX_DURATION_MS } from '../../../graph/limits.js';
import { parseTemplate } from '../../jinja/parser.js';
import type { Block, Syntax } from '../../jinja/syntax.js';
import { hasTemplate, TemplateFaults } from '../../jinja/tokens.js';
import { describeLocated, jsonOf, type Located, type LocatedText, rangeIn } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import { durationOf, parseDuration, timeLimitOf, writtenTime } from '../fields.js';
import type { StepContext, StepPart } from './context.js';
import { NAME_RULE, textSchema, usable } from './inputs.js';
import { PROMPT_TYPES } from './keys.js';
import { agentOf, literalOf } from './steps.js';
import { writtenRange } from './templates.js';

/** The limit of an attempt. Default: that of its kind. */
function timeoutOf({ reports, spec: { fields } }: StepContext): { readonly timeoutMs?: number } {
  const value = fields.value('timeout');
  if (value === undefined) return {};
  if (value.kind === 'text' && literalOf(reports, fields, 'timeout') === undefined) return {};
  return defined({ timeoutMs: timeLimitOf(reports, value, `\`timeout\` of ${fields.where}`, 'seconds') });
}

export function lowerShell(context: StepContext): StepPart | undefined {
  const { reports, spec, templates } = context;
  const { fields } = spec;
  const command = fields.text('command');
  const argv = textsOf(context, 'argv', 'list');
  const env = textsOf(context, 'env', 'map');
  const failOnError = fields.boolean('fail_on_error');
  const limit = timeoutOf(context);
  if (command === undefined) return undefined;
  if (!fields.has('argv')) checkShellQuoting(reports, command, spec.id);
  return {
    kind: 'shell',
    executor: 'client',
    command: templates.text(command, 'text'),
    ...defined({ argv, env }),
    ...(failOnError === true ? { failOnError } : {}),
    ...limit,
  };
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A list or an object of texts, or a template for one. Numbers and booleans are texts, as they are written. */
function textsOf({ reports, spec: { fields }, templates }: StepContext, key: string, kind: 'list' | 'map') {
  const value = fields.value(key);
  if (value?.kind === 'text' && hasTemplate(value.value)) return templates.value(value);
  const textOf = (part: Located): Expr => {
    if (part.kind === 'text') return templates.value(part);
    if (part.kind === 'number') return { kind: 'literal', value: part.source };
    if (part.kind === 'boolean') return { kind: 'literal', value: String(part.value) };
    const what = `a part of \`${key}\` of ${fields.where}`;
    reports.report('SW5006', part, { what, expected: 'text', actual: describeLocated(part) });
    return { kind: 'literal', value: '' };
  };
  if (value?.kind === 'list' && kind === 'list')
    return { kind: 'list', items: value.items.map((item) => ({ value: textOf(item) })) } as const;
  if (value?.kind === 'map' && kind === 'map') {
    for (const { key } of value.entries)
      if (!VARIABLE.test(key.value))
        reports.report('SW5010', key, {
          ...{ kind: 'an environment variable', name: key.value, rule: NAME_RULE },
        });
    const entries = value.entries.map(({ key, value }) => ({ key: key.value, value: textOf(value) }));
    return { kind: 'dict', entries } as const;
  }
  const expected = `${kind === 'list' ? 'a list' : 'an object'} of texts, or \`{{ … }}\``;
  if (value !== undefined) fields.mismatch(key, value, expected);
  return undefined;
}

/** The tool is the client's, and is passed on as it is located. [Q20] */
export function lowerMcpCall(context: StepContext): StepPart | undefined {
  const { reports, spec, templates } = context;
  const tool = literalOf(reports, spec.fields, 'tool');
  const parameters = spec.fields.object('parameters');
  const input =
    parameters === undefined ? ({ kind: 'dict', entries: [] } as const) : templates.dict(parameters);
  const limit = timeoutOf(context);
  return tool && { kind: 'call', executor: 'client', tool: tool.value, input, ...limit };
}

export function lowerPrompt({ reports, spec, templates }: StepContext): StepPart | undefined {
  const { fields } = spec;
  const text = fields.text('message');
  const mode = fields.oneOf('prompt_type', PROMPT_TYPES);
  const options = fields.value('options');
  const validation = fields.object('validation');
  const misplaced = (key: string, only: string): void => {
    const entry = fields.entry(key);
    if (entry === undefined || mode === only || mode === undefined) return;
    const instead = `remove it: only a prompt with \`prompt_type: ${only}\` has it`;
    reports.report('SW5018', entry.key, { key, kind: `a prompt of type \`${mode}\``, instead });
  };
  misplaced('options', 'choice');
  misplaced('validation', 'text');
  misplaced('approves', 'confirm');
  if (mode === 'choice' && options === undefined) fields.require('options');
  if (options !== undefined && options.kind !== 'list' && options.kind !== 'text')
    fields.mismatch('options', options, 'a list of texts');
  const where = `\`validation\` of ${fields.where}`;
  const expects = validation && mode === 'text' ? textSchema(reports, validation, where) : undefined;
  const choices = options && templates.value(options);
  const approves = mode === 'confirm' ? literalOf(reports, fields, 'approves')?.value : undefined;
  if (text === undefined || mode === undefined) return undefined;
  const message = templates.text(text, 'reader');
  const own = defined({ expects, approves, options: mode === 'choice' ? choices : undefined });
  if (mode === 'choice' && choices === undefined) return undefined;
  return { kind: 'ask', mode, message, ...own };
}

/** Seconds are milliseconds in a graph. The message is shown while the run waits. */
export function lowerWait(context: StepContext): StepPart | undefined {
  const { spec, templates } = context;
  const text = spec.fields.text('message');
  const guidance = text && templates.text(text, 'reader');
  const durationMs = waitMs(context);
  return durationMs && { kind: 'wait', durationMs, ...defined({ guidance }) };
}

function waitMs({ reports, spec: { fields }, templates }: StepContext): Expr | undefined {
  const value = fields.value('duration_seconds');
  if (value === undefined) return undefined;
  if (value.kind === 'text' && hasTemplate(value.value)) {
    return millisecondsOf(templates.text(value, 'value'));
  }
  if (value.kind === 'text' && parseDuration(value.value) === undefined) {
    const expected = 'seconds, a time such as `30s`, or a template';
    const what = `\`duration_seconds\` of ${fields.where}`;
    reports.report('SW5006', value, { what, expected, actual: `\`${value.value}\`` });
    return undefined;
  }
  const ms = durationOf(reports, value, `\`duration_seconds\` of ${fields.where}`, 'seconds');
  if (ms === undefined) return undefined;
  if (ms >= 0 && ms <= MAX_DURATION_MS) return { kind: 'literal', value: ms };
  const what = `\`duration_seconds\` of ${fields.where}`;
  const expected = `from 0 to ${MAX_DURATION_MS / 1_000} seconds (ten years)`;
  reports.report('SW5006', value, { what, expected, actual: writtenTime(value) });
  return undefined;
}

/** The milliseconds of seconds. What is not a number fails as it is. */
function millisecondsOf(value: Expr): Expr {
  const name = 'seconds';
  const left: Expr = { kind: 'ref', root: 'local', path: [name] };
  const body: Expr = {
    kind: 'conditional',
    truth: 'truthy.py',
    test: { kind: 'call', fn: 'test.number.py', args: [left] },
    // biome-ignore lint/suspicious/noThenProperty: a part of the expression
    then: { kind: 'arithmetic', op: 'mul.py', left, right: { kind: 'literal', value: 1_000 } },
    else: left,
  };
  return { kind: 'let', name, value, body };
}

export function lowerDelegate(context: StepContext): StepPart | undefined {
  const { reports, spec, templates } = context;
  const { fields } = spec;
  const instructions = fields.text('instructions');
  const agent = agentOf(reports, spec) ?? null;
  const limit = timeoutOf(context);
  const located = fields.value('response_schema');
  const json = located && jsonOf(located);
  let responseSchema = {};
  if (located !== undefined && (located.kind !== 'map' || !isJsonObject(json ?? null)))
    fields.mismatch('response_schema', located, `a JSON Schema, not ${describeLocated(located)}`);
  else if (located?.kind === 'map' && json !== undefined && isJsonObject(json))
    responseSchema = {
      responseSchema: usable(reports, located, `\`response_schema\` of ${fields.where}`, json),
    };
  if (instructions === undefined) return undefined;
  const prompt = templates.text(instructions, 'reader');
  return { kind: 'delegate', executor: 'client', agent, prompt, ...responseSchema, ...limit };
}

/** Filters with a result that a shell reads as one word, or as separate words on purpose. */
const QUOTING: ReadonlySet<string> = new Set(['shq', 'quote', 'shargs']);

/** Filters with a result in which a shell finds no word of its own, and the one that leaves a value as it is on purpose. */
const PLAIN: ReadonlySet<string> = new Set([
  ...['int', 'float', 'length', 'count', 'hash', 'round', 'wordcount', 'raw_shell'],
]);

/** A value in a command, and the quotes of the shell around it. */
interface Insertion {
  readonly value: Syntax;
  readonly start: number;
  readonly end: number;
  readonly quote: '"' | "'" | undefined;
  /** The offset of the opening quote. */
  readonly opening: number;
}

/**
 * Reports values in a command that a shell could read as more than one word. A value in quotes of the shell is not safe
 * either, and must not be quoted twice.
 */
function checkShellQuoting(reports: Reports, command: LocatedText, step: string): void {
  if (!hasTemplate(command.value)) return;
  let blocks: readonly Block[];
  try {
    blocks = parseTemplate(command.value, new TemplateFaults());
  } catch {
    // The fault is reported where the command is lowered.
    return;
  }
  const insertions: Insertion[] = [];
  collect(blocks, new QuoteScanner(), insertions);
  for (const insertion of insertions) check(reports, command, step, insertion);
}

function check(reports: Reports, command: LocatedText, step: string, insertion: Insertion): void {
  const { value, start, end, quote } = insertion;
  const filter = value.kind === 'filter' ? value.filter.name : undefined;
  if (value.kind === 'literal' || value.kind === 'float' || (filter !== undefined && PLAIN.has(filter)))
    return;
  if (value.kind === 'attribute' && value.of.kind === 'name' && value.of.name === 'loop') return;
  const isQuoted = filter !== undefined && QUOTING.has(filter);
  if (isQuoted && quote === undefined) return;
  const range = rangeIn(command, insertion);
  const source = command.value.slice(start, end);
  const quoted = isQuoted ? source : withFilter(source);
  const edit = editOf(reports, command, insertion, quoted);
  if (isQuoted) {
    const problem = `has \`${source}\` inside ${quote === '"' ? 'double' : 'single'} quotes, which become a part of the value`;
    reports.report(
      'SW5011',
      range,
      { node: step, problem },
      { hint: `write \`${quoted}\` without quotes`, edit },
    );
    return;
  }
  const instead =
    quote === undefined
      ? `write \`${quoted}\`, or \`| raw_shell\` for several words on purpose; \`argv\` needs no quotes`
      : `quotes do not protect it: write \`${quoted}\` without quotes`;
  reports.report('SW5033', range, { ref: source, key: 'command', what: 'a command', instead }, { edit });
}

function withFilter(output: string): string {
  const [, open = '{{', value = '', close = '}}'] =
    /^(\{\{[-+]?)\s*([\s\S]*?)\s*([-+]?\}\})$/.exec(output) ?? [];
  // A filter applies to the last operand.
  const whole = /^[\w.[\]'"]+(?:\s*\|\s*\w+(?:\([^()]*\))?)*$/.test(value) ? value : `(${value})`;
  return `${open} ${whole} | shq ${close}`;
}

/** The edit that quotes a value, where the quotes around it hold no other text. */
function editOf(
  reports: Reports,
  command: LocatedText,
  { start, end, quote, opening }: Insertion,
  quoted: string,
) {
  const isAlone = quote !== undefined && opening === start - 1 && command.value[end] === quote;
  if (quote !== undefined && !isAlone) return undefined;
  if (writtenRange(reports, command, start, end) === undefined) return undefined;
  const [from, to] = isAlone ? [start - 1, end + 1] : [start, end];
  const range = { start: command.offsetAt(from), end: command.offsetAt(to) };
  return reports.edit(range, quoted);
}

/** Follows the quotes of a shell through a command. */
class QuoteScanner {
  quote: '"' | "'" | undefined;
  opening = 0;

  read(text: string, start: number): void {
    for (let index = 0; index < text.length; index += 1) {
      const character = text.charAt(index);
      if (character === '\\' && this.quote !== "'") index += 1;
      else if (this.quote === undefined && (character === '"' || character === "'")) {
        this.quote = character;
        this.opening = start + index;
      } else if (character === this.quote) this.quote = undefined;
    }
  }
}

function collect(blocks: readonly Block[], scanner: QuoteScanner, insertions: Insertion[]): void {
  for (const block of blocks) {
    switch (block.kind) {
      case 'data':
        scanner.read(block.text, block.start);
        break;
      case 'output':
        insertions.push({ ...block, quote: scanner.quote, opening: scanner.opening });
        break;
      case 'if':
        for (const { body } of block.cases) collect(body, scanner, insertions);
        collect(block.otherwise, scanner, insertions);
        break;
      case 'for':
        collect(block.body, scanner, insertions);
        collect(block.otherwise, scanner, insertions);
        break;
      case 'with':
      case 'filter':
        collect(block.body, scanner, insertions);
        break;
      case 'set':
        break;
      default:
        block satisfies never;
    }
  }
}
