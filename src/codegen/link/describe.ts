import type { ExpressionSyntax } from '../syntax.js';
import { symbolOf, unwrap, VERBS, type Verb } from '../verbs.js';
import type { Bindings } from './bindings.js';

/** Operators by what authors call them. */
const OPERATORS: Readonly<Record<string, string>> = {
  '+': 'arithmetic',
  '-': 'arithmetic',
  '*': 'arithmetic',
  '/': 'arithmetic',
  '%': 'arithmetic',
  '**': 'arithmetic',
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
    case 'undefined':
    case 'template':
    case 'element':
    case 'object':
    case 'array':
    case 'conditional':
      return 'this expression';
    default:
      return syntax satisfies never;
  }
}

/** What to write instead, where that is more than the table's own advice. */
export function hintFor(syntax: ExpressionSyntax, bindings: Bindings): string | undefined {
  switch (syntax.kind) {
    case 'this':
      return 'name the arguments and steps one by one: `this.name`';
    case 'identifier':
      if (bindings.find(syntax.name) !== undefined) return `write \`this.${syntax.name}\``;
      if (syntax.symbol.kind === 'class')
        return 'classes are named in verbs only, as in `call(SomeTool, { … })`';
      return 'write the value here, or make it an @Arg with a default';
    case 'call': {
      const symbol = symbolOf(syntax.callee);
      const isVerb = symbol !== undefined && VERBS.some((verb) => verb === symbol.name);
      return isVerb && symbol.kind !== 'stepwright'
        ? `import \`${symbol.name}\` from 'stepwright'`
        : undefined;
    }
    case 'binary':
      return syntax.operator === '+' && (isText(syntax.left) || isText(syntax.right))
        ? 'write a template literal, in backticks'
        : undefined;
    case 'unsupported':
      return syntax.instead;
    default:
      return undefined;
  }
}

/** What to write instead of a verb inside an expression, where that is more than the table's own advice. */
export function hintForVerb(verb: Verb): string | undefined {
  switch (verb) {
    case 'call':
    case 'read':
      return undefined;
    case 'fail':
      return 'give it a step of its own: `@Step() name = value ?? fail(…)`';
    case 'done':
      return 'give it a field of its own: `output = done(…)`';
    default:
      return verb satisfies never;
  }
}

function isText(syntax: ExpressionSyntax): boolean {
  const inner = unwrap(syntax);
  if (inner.kind === 'binary' && inner.operator === '+') return isText(inner.left) || isText(inner.right);
  return inner.kind === 'template' || (inner.kind === 'literal' && typeof inner.value === 'string');
}

/** A name or a short path, as written; the rest as an ellipsis. */
export function print(syntax: ExpressionSyntax): string {
  switch (syntax.kind) {
    case 'identifier':
      return syntax.name;
    case 'this':
      return 'this';
    case 'property':
      return `${print(syntax.object)}${syntax.optional ? '?' : ''}.${syntax.name}`;
    case 'literal':
      return JSON.stringify(syntax.value);
    case 'element':
      return `${print(syntax.object)}[${print(syntax.index)}]`;
    case 'call':
      return `${print(syntax.callee)}(…)`;
    default:
      return '…';
  }
}
