import type { LocatedText } from '../text/located.js';
import type { Reports } from '../text/reading.js';
import { parseExpression } from './expression.js';
import { FUNCTIONS } from './functions.js';

/** A call of a method, as languages have it, on a reference. */
const METHOD =
  /(\$\{?[A-Za-z_][\w.[\]]*?\}?)\.(filter|map|find|some|every|reduce|sort|join|slice|includes|length|size|sum|first)\s*\(/;

/** Signs that text between references does not have by chance. */
const SIGNS = /[*(]|==|!=|[<>]|&&|\|\||\?\?|(?:^|\s)\d[\d.]* [-+/%] | [-+/%] \d[\d.]*(?=\s|$)/;

/** SW5035: a text that looks like an expression, with what to write instead. */
export function reportComputedText(text: LocatedText, reports: Reports): void {
  const instead = methodIn(text.value) ?? expressionIn(text, reports);
  if (instead !== undefined) reports.report('SW5035', text, { text: text.value, instead });
}

function methodIn(text: string): string | undefined {
  const [, subject = '', name = ''] = METHOD.exec(text) ?? [];
  if (subject === '') return undefined;
  const of = `$${subject.replace(/[${}]/g, '')}`;
  const body =
    name === 'map' ? `, $item.…` : name === 'join' ? ", ', '" : name === 'filter' ? ', $item.… == …' : '';
  if (FUNCTIONS.has(name)) return `write \`\${${name}(${of}${body})}\``;
  return `write \`\${…}\` with one of the functions ${[...FUNCTIONS.keys()].map((each) => `\`${each}\``).join(', ')}`;
}

function expressionIn(text: LocatedText, reports: Reports): string | undefined {
  const { value } = text;
  if (!value.includes('$') || value.includes('{') || !SIGNS.test(value)) return undefined;
  const part = { start: 0, end: value.length };
  const expr = parseExpression(text, part, 'value', { reference: () => ({ kind: 'literal' }) }, reports);
  return 'problem' in expr ? undefined : `write \`\${${value}}\``;
}
