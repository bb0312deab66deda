import type { Json } from '../../graph/json.js';
import { didYouMean, nearestName } from '../../graph/names.js';
import type { ExpressionSyntax, FunctionSymbol, ImportedModule } from '../syntax.js';
import { stepVerbOf, symbolOf, unwrap, VERBS, type Verb } from '../verbs.js';

/** Operators by what authors call them. */
const OPERATORS: Readonly<Record<string, string>> = {
  '~': 'a bit operation',
  '&': 'a bit operation',
  '|': 'a bit operation',
  '^': 'a bit operation',
  '<<': 'a bit operation',
  '>>': 'a bit operation',
  '>>>': 'a bit operation',
  '++': 'an assignment',
  '--': 'an assignment',
  in: 'a membership test',
  instanceof: 'a class test',
  ',': 'a sequence',
};

/** What an expression is, in its author's words: the subject of "cannot be stored in a workflow". */
export function describe(syntax: ExpressionSyntax): string {
  switch (syntax.kind) {
    case 'this':
      return '`this` on its own';
    case 'identifier':
      return syntax.symbol.kind === 'class' ? `the class \`${syntax.name}\`` : `the name \`${syntax.name}\``;
    case 'property':
      return `\`${print(syntax)}\``;
    case 'call':
      return `a call of \`${print(syntax.callee)}\``;
    case 'binary':
    case 'prefix':
      return `${OPERATORS[syntax.operator] ?? 'an assignment'} (\`${syntax.operator}\`)`;
    case 'tagged':
      return `a template with the tag \`${print(syntax.tag)}\``;
    case 'arrow':
      return 'a function';
    case 'unsupported':
      return syntax.unsupported;
    case 'parenthesized':
      return describe(syntax.inner);
    case 'literal':
      return syntax.constant === undefined
        ? describeLiteral(syntax.value)
        : `the name \`${syntax.constant}\``;
    case 'undefined':
      return '`undefined`';
    case 'template':
      return 'text';
    case 'object':
      return 'an object';
    case 'array':
      return 'a list';
    case 'element':
    case 'conditional':
      return 'this expression';
    default:
      return syntax satisfies never;
  }
}

function describeLiteral(value: Json): string {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'a number';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : `\`${String(value)}\``;
}

/** What was given where something else is expected: as {@link describe}, and steps by what they are. */
export function describeGiven(syntax: ExpressionSyntax): string {
  const inner = unwrap(syntax);
  const verb = stepVerbOf(inner);
  if (verb !== undefined) return `the step \`${verb}(…)\``;
  return describe(inner);
}

/** What to write instead, where that is more than the table's own advice. */
export function hintFor(
  syntax: ExpressionSyntax,
  bindings: { find(name: string): unknown },
): string | undefined {
  switch (syntax.kind) {
    case 'this':
      return 'name the arguments and steps one by one: `this.name`';
    case 'identifier':
      if (bindings.find(syntax.name) !== undefined) return `write \`this.${syntax.name}\``;
      if (syntax.symbol.kind === 'class')
        return 'classes are named in verbs, as in `call(SomeTool, { … })`, and in the text of `prompt`';
      if (syntax.symbol.kind === 'function') return functionHint(syntax.symbol, syntax.name);
      if (syntax.symbol.kind === 'unresolved' && syntax.symbol.from !== undefined)
        return importHint(syntax.symbol.from);
      if (syntax.symbol.kind === 'other' && syntax.symbol.instead !== undefined) return syntax.symbol.instead;
      return 'write the value here, or make it an @Arg with a default';
    case 'call': {
      const symbol = symbolOf(syntax.callee);
      const isVerb = symbol !== undefined && VERBS.some((verb) => verb === symbol.name);
      if (isVerb && symbol.kind !== 'stepwright') return `import \`${symbol.name}\` from 'stepwright'`;
      if (symbol?.kind === 'function') return functionHint(symbol, print(syntax.callee));
      if (symbol?.kind === 'unresolved' && symbol.from !== undefined) return importHint(symbol.from);
      const isUnknown = symbol?.kind === 'unresolved' || symbol?.kind === 'stepwright';
      return isUnknown ? didYouMean(nearestName(symbol.name, VERBS)) : undefined;
    }
    case 'binary':
      return syntax.operator === 'in' ? 'ask for the property itself: `value.name !== undefined`' : undefined;
    case 'tagged': {
      const symbol = symbolOf(syntax.tag);
      return symbol?.name === 'prompt' ? "import `prompt` from 'stepwright'" : undefined;
    }
    case 'unsupported':
      return syntax.instead;
    default:
      return undefined;
  }
}

/** What to do with a name that its module does not export. */
function importHint({ specifier, name, exports }: ImportedModule): string {
  if (exports === undefined) return `there is no module \`${specifier}\``;
  const names = exports.map((each) => each.name);
  const question = didYouMean(nearestName(name, names));
  return `\`${specifier}\` exports no \`${name}\`${question === undefined ? '' : `: ${question}`}`;
}

/** What to do with a function inside an expression: as a whole step it can be called. */
function functionHint({ why }: FunctionSymbol, name: string): string {
  return why === undefined
    ? `give it a step of its own: \`@Step() value = ${name}(…)\`, then use \`this.value\``
    : `an exported function can be a step of its own, and \`${name}\` cannot: ${why}`;
}

/** What to ask instead of whether a list or an object is true. */
export function conditionHint(syntax: ExpressionSyntax, what: 'list' | 'object'): string | undefined {
  const text = print(unwrap(syntax));
  if (text.includes('…')) return undefined;
  const present = `\`${text} !== undefined\``;
  return what === 'list' ? `write \`${text}.length > 0\`, or ${present}` : `write ${present}`;
}

/** What to write instead of a verb inside an expression, where that is more than the table's own advice. */
export function hintForVerb(verb: Verb): string | undefined {
  switch (verb) {
    case 'fail':
      return 'give it a step of its own: `@Step() name = value ?? fail(…)`';
    case 'done':
      return 'give it a field of its own: `output = done(…)`';
    case 'goto':
      return 'give it a step of its own: `@Step() again = condition ? goto(…) : undefined`';
    case 'shell.raw':
      return 'insert it into the command of a `shell`';
    default:
      return undefined;
  }
}

/** A name or a short path, as written; the rest as an ellipsis. */
export function print(syntax: ExpressionSyntax): string {
  switch (syntax.kind) {
    case 'parenthesized':
      return print(syntax.inner);
    case 'identifier':
      return syntax.name;
    case 'this':
      return 'this';
    case 'property':
      return `${print(syntax.object)}${syntax.optional ? '?' : ''}.${syntax.name}`;
    case 'literal':
      return syntax.constant ?? JSON.stringify(syntax.value);
    case 'element':
      return `${print(syntax.object)}[${print(syntax.index)}]`;
    case 'call':
      return `${print(syntax.callee)}(…)`;
    case 'unsupported':
      return syntax.text ?? '…';
    default:
      return '…';
  }
}
