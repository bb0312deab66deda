import { eachReference } from '../../../graph/expression/traversal.js';
import type { DictEntry, DictExpr, Expr, RefExpr } from '../../../graph/expression/tree.js';
import type { Span } from '../../../graph/source-location.js';
import { lowerTemplate, type TemplatePosition } from '../../jinja/lower.js';
import { hasTemplate, TemplateFault } from '../../jinja/tokens.js';
import {
  describeLocated,
  type Located,
  type LocatedMap,
  type LocatedText,
  rangeIn,
} from '../../text/located.js';
import type { Reports } from '../../text/reading.js';

export interface TemplateNames {
  readonly inputs: readonly string[];
  /** The state fields that the step declares. */
  readonly state: readonly string[];
  readonly names?: ReadonlyMap<string, Expr>;
}

/** A reference to the state, and where it is written: the characters of a text. */
export interface StateReference {
  readonly ref: RefExpr;
  readonly field: string;
  readonly text: LocatedText;
  readonly start: number;
  readonly end: number;
}

/** Lowers the templates of one step, and collects what they read of the state. */
export class Templates {
  readonly reports: Reports;
  readonly stateReferences: StateReference[] = [];
  readonly #names: TemplateNames;

  constructor(reports: Reports, names: TemplateNames) {
    this.reports = reports;
    this.#names = names;
  }

  /** Names are known besides those of all templates of the step. */
  with(names: ReadonlyMap<string, Expr>): Templates {
    const inner = new Templates(this.reports, {
      ...this.#names,
      names: new Map([...(this.#names.names ?? []), ...names]),
    });
    inner.stateReferences.push = (...references) => this.stateReferences.push(...references);
    return inner;
  }

  /** A value in which each text may be a template. */
  value(located: Located): Expr {
    const at = { at: this.reports.source.span(located.start, located.end) };
    switch (located.kind) {
      case 'text':
        return this.text(located, 'value');
      case 'list':
        return { kind: 'list', items: located.items.map((item) => ({ value: this.value(item) })), ...at };
      case 'map':
        return this.dict(located);
      default:
        return { kind: 'literal', value: located.value, ...at };
    }
  }

  dict(map: LocatedMap): DictExpr {
    const entries = map.entries.map(
      ({ key, value }): DictEntry => ({ key: key.value, value: this.value(value) }),
    );
    return { kind: 'dict', entries, at: this.reports.source.span(map.start, map.end) };
  }

  /** A text that may be a template. A fault of it is reported, and its value is absent. */
  text(text: LocatedText, position: TemplatePosition): Expr {
    const at = { at: this.reports.source.span(text.start, text.end) };
    if (!hasTemplate(text.value)) return { kind: 'literal', value: text.value, ...at };
    try {
      return this.#lower(text, text.value, position);
    } catch (fault) {
      if (!(fault instanceof TemplateFault)) throw fault;
      for (const each of [fault, ...fault.further]) this.#reportFault(text, each);
      return { kind: 'literal', ...at };
    }
  }

  #reportFault(text: LocatedText, fault: TemplateFault): void {
    const range = rangeIn(text, fault);
    const edit = this.#rename(text, fault);
    const params = { what: 'a template', problem: fault.message } as const;
    this.reports.report('SW5014', range, params, { hint: fault.hint, edit });
  }

  /** A condition: `true`, `false`, or one `{{ … }}`. */
  condition(located: Located): Expr {
    if (located.kind === 'boolean') return { kind: 'literal', value: located.value };
    if (located.kind !== 'text') {
      const actual = describeLocated(located);
      this.reports.report('SW5006', located, { what: 'a condition', expected: '`{{ … }}`', actual });
      return { kind: 'literal' };
    }
    if (hasTemplate(located.value)) return this.#answer(located);
    const problem = 'it has no `{{ … }}`, and is text';
    const isExpression = this.#isExpression(located.value);
    const hint = isExpression ? `write \`{{ ${located.value.trim()} }}\`` : 'write a comparison in `{{ … }}`';
    const edit = isExpression ? this.#wrapped(located) : undefined;
    this.reports.report('SW5014', located, { what: 'a condition', problem }, { hint, edit });
    return { kind: 'literal' };
  }

  /** A condition in a template. One that is never true or false fails each run, and is reported. */
  #answer(located: LocatedText): Expr {
    const expr = this.text(located, 'condition');
    const isValue = expr.kind === 'literal' && expr.value !== undefined && expr.value !== null;
    if ((isValue && typeof expr.value !== 'boolean') || ['list', 'dict', 'text'].includes(expr.kind)) {
      const problem = 'its value is never true or false';
      const hint = 'write a comparison in `{{ … }}`';
      this.reports.report('SW5014', located, { what: 'a condition', problem }, { hint });
    }
    return expr;
  }

  #lower(text: LocatedText, template: string, position: TemplatePosition): Expr {
    const { source } = this.reports;
    const places = new Map<Span, { readonly start: number; readonly end: number }>();
    const at = (start: number, end: number): Span => {
      const from = text.offsetAt(start);
      const span = source.span(from, Math.max(text.offsetAt(end), from));
      places.set(span, { start, end });
      return span;
    };
    const expr = lowerTemplate(template, position, { ...this.#names, at });
    eachReference(expr, (ref) => {
      if (ref.root !== 'state') return;
      const place = (ref.at && places.get(ref.at)) ?? { start: 0, end: template.length };
      this.stateReferences.push({ ref, field: String(ref.path[0]), text, ...place });
    });
    return expr;
  }

  /** Whether a text reads as an expression of what is known here. */
  #isExpression(text: string): boolean {
    try {
      lowerTemplate(`{{ ${text} }}`, 'condition', this.#names);
      return true;
    } catch {
      return false;
    }
  }

  #wrapped(text: LocatedText) {
    const source = this.reports.source.text.slice(text.start, text.end);
    const isQuoted = /^["']/.test(source);
    const quote = isQuoted ? source.charAt(0) : source.includes('"') ? "'" : '"';
    const inner = isQuoted ? source.slice(1, -1) : source;
    if (inner !== text.value || inner.includes(quote)) return undefined;
    return this.reports.edit(text, `${quote}{{ ${inner.trim()} }}${quote}`);
  }

  /** The edit that writes the name that a fault suggests. */
  #rename(text: LocatedText, { start, end, suggestion }: TemplateFault) {
    if (suggestion === undefined) return undefined;
    const range = writtenRange(this.reports, text, start, end);
    return range && this.reports.edit(range, suggestion);
  }
}

/** The range in the file of characters of a text; undefined where they are written in another form. */
export function writtenRange(
  { source }: Reports,
  text: LocatedText,
  start: number,
  end: number,
): { readonly start: number; readonly end: number } | undefined {
  const range = { start: text.offsetAt(start), end: text.offsetAt(end) };
  return source.text.slice(range.start, range.end) === text.value.slice(start, end) ? range : undefined;
}
