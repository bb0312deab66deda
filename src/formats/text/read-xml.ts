import { SaxesParser } from 'saxes';
import {
  type Located,
  type LocatedText,
  pieceOffsets,
  piecesOf,
  plainOffsets,
  type SourceText,
} from './located.js';
import { overLimit, type ReadText, type Refusal, Reports, refused, type TextLimits } from './reading.js';

export interface XmlElement {
  readonly name: string;
  /** The name in the start tag, as a range of offsets. */
  readonly start: number;
  readonly end: number;
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly XmlElement[];
  /** The text in an element that has text. Its places are those of the name. */
  readonly text?: LocatedText;
}

export interface XmlAttribute {
  /** The range of the name. */
  readonly name: LocatedText;
  readonly value: LocatedText;
}

/** Makes the values of a document out of its elements, and reports what it does not know. */
export interface XmlMapping {
  /** The element that documents begin with. */
  readonly root: string;
  /** The elements that have text. Elsewhere there is only white space. */
  readonly texts: readonly string[];
  document(reports: Reports, root: XmlElement): Located | undefined;
}

/** How many faults of syntax are reported: later ones mostly follow from the first. */
const MOST_SYNTAX_FAULTS = 10;

/** Reads XML 1.0 without document types, processing instructions and namespaces. */
export function readXml(
  source: SourceText,
  limits: TextLimits,
  mappings: readonly XmlMapping[] = [],
): ReadText {
  const reports = new Reports(source);
  const { root, mapping } = new XmlReading(reports, limits, mappings).read();
  const located = root === undefined || reports.hasErrors ? undefined : mapping?.document(reports, root);
  return {
    diagnostics: reports.diagnostics,
    ...(located === undefined || reports.hasErrors ? {} : { root: located }),
  };
}

type Mutable = Omit<XmlElement, 'text'> & {
  readonly children: XmlElement[];
  readonly attributes: XmlAttribute[];
  text?: LocatedText;
};

/** Ends the reading. */
class RefusedXml extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super();
    this.refusal = refusal;
  }
}

/** Makes elements of the events of a parser that is not recursive. The limits are checked while the tree grows. */
class XmlReading {
  readonly #reports: Reports;
  readonly #limits: TextLimits;
  readonly #text: string;
  readonly #mappings: readonly XmlMapping[];
  readonly #open: Mutable[] = [];
  #root: XmlElement | undefined;
  #mapping: XmlMapping | undefined;
  #next: Mutable | undefined;
  #faults = 0;
  #elements = 0;

  constructor(reports: Reports, limits: TextLimits, mappings: readonly XmlMapping[]) {
    this.#reports = reports;
    this.#limits = limits;
    this.#mappings = mappings;
    this.#text = reports.source.text;
  }

  read(): { readonly root: XmlElement | undefined; readonly mapping: XmlMapping | undefined } {
    const parser = new SaxesParser();
    parser.on('error', ({ message }) => this.#fault(parser.position, message));
    parser.on('xmldecl', ({ encoding }) => {
      if (encoding === undefined || /^utf-?8$/i.test(encoding)) return;
      const start = this.#text.indexOf(encoding);
      const what = `the encoding ${encoding}`;
      this.#reports.report(
        'SW5003',
        { start, end: start + encoding.length },
        { what, instead: 'write UTF-8' },
      );
    });
    parser.on('doctype', () => {
      const instead = 'remove it: entities and document types are not read';
      const start = this.#text.lastIndexOf('<!DOCTYPE', parser.position - 1);
      throw new RefusedXml(refused(start, 'a document type (`<!…>`)', instead));
    });
    parser.on('processinginstruction', () => {
      const start = this.#text.lastIndexOf('<?', parser.position - 1);
      throw new RefusedXml(refused(start, 'a processing instruction (`<?…?>`)', 'remove it'));
    });
    parser.on('opentagstart', ({ name }) => {
      const start = this.#text.lastIndexOf('<', parser.position - 1) + 1;
      this.#elements += 1;
      this.#bound(start, 'elements', this.#elements, this.#limits.tokens);
      this.#bound(start, 'levels of nesting', this.#open.length + 1, this.#limits.depth);
      this.#next = { name, start, end: start + name.length, attributes: [], children: [] };
    });
    parser.on('attribute', ({ name, value }) => {
      const { attributes = [], start = 1 } = this.#next ?? {};
      attributes.push(this.#attribute(name, value, parser.position));
      this.#bound(start, 'attributes of one element', attributes.length, this.#limits.attributes);
    });
    parser.on('opentag', () => this.#enter());
    parser.on('closetag', () => void this.#open.pop());
    parser.on('text', (text) => this.#beside(text, parser.position));
    parser.on('cdata', (text) => this.#beside(text, parser.position));
    try {
      parser.write(this.#text).close();
    } catch (error) {
      if (error instanceof RefusedXml) this.#reports.refuse(error.refusal);
      else this.#fault(parser.position, error instanceof Error ? error.message : String(error));
    }
    if (this.#root === undefined && !this.#reports.hasErrors) this.#fault(0, 'there is no element');
    return { root: this.#root, mapping: this.#mapping };
  }

  /** @param start of the name of the element, behind its `<`. */
  #bound(start: number, what: string, count: number, limit: number): void {
    if (count > limit) throw new RefusedXml(overLimit(start - 1, what, limit));
  }

  #enter(): void {
    const element = this.#next;
    if (element === undefined) return;
    this.#open.at(-1)?.children.push(element);
    if (this.#root === undefined) {
      this.#root = element;
      this.#mapping = this.#mappings.find(({ root }) => root === element.name) ?? this.#mappings[0];
    }
    this.#open.push(element);
  }

  #attribute(name: string, value: string, position: number): XmlAttribute {
    const end = position - 1;
    const start = this.#text.lastIndexOf(this.#text[end] ?? '', end - 1) + 1;
    const nameStart = Math.max(this.#text.lastIndexOf(name, start - 1), 0);
    const raw = this.#text.slice(start, end);
    const offsetAt = raw.includes('&')
      ? pieceOffsets(start, () => piecesOf(raw, ENTITY, unitsOf))
      : plainOffsets(start);
    return {
      name: named(name, nameStart),
      value: { kind: 'text', value, start, end, pointer: '', offsetAt },
    };
  }

  #beside(text: string, position: number): void {
    const element = this.#open.at(-1);
    if (element !== undefined && this.#mapping?.texts.includes(element.name)) {
      const { name: _name, start, end } = element;
      const value = `${element.text?.value ?? ''}${text}`;
      element.text = { kind: 'text', value, start, end, pointer: '', offsetAt: () => start };
      return;
    }
    const content = text.trim();
    if (content === '' || this.#faults > 0) return;
    const start = Math.max(this.#text.lastIndexOf(content.slice(0, 1), position - 1), 0);
    const what = 'text between elements';
    const instead = 'write values as attributes, such as `<arg name="x" value="…"/>`';
    this.#reports.report('SW5003', { start, end: start + 1 }, { what, instead });
  }

  #fault(position: number, message: string): void {
    this.#faults += 1;
    if (this.#faults > MOST_SYNTAX_FAULTS) return;
    const at = Math.max(0, position - 1);
    const problem = message.replace(/^(?:\d+:\d+: )/, '').replace(/\.$/, '');
    const isUnescaped = this.#text[at] === '<' && problem === 'disallowed character';
    const details = isUnescaped ? { hint: 'write `&lt;` in an attribute' } : {};
    this.#reports.report('SW5002', { start: at, end: at + 1 }, { format: 'XML', problem }, details);
  }
}

const ENTITY = /&(?:#[0-9]+|#x[0-9A-Fa-f]+|[A-Za-z]+);/g;

function unitsOf(entity: string): number {
  const [, hex, digits] = /^&#(x?)([0-9A-Fa-f]+);$/.exec(entity) ?? [];
  if (digits === undefined) return 1;
  return Number.parseInt(digits, hex === 'x' ? 16 : 10) > 0xffff ? 2 : 1;
}

function named(value: string, start: number): LocatedText {
  const end = start + value.length;
  return { kind: 'text', value, start, end, pointer: '', offsetAt: plainOffsets(start) };
}
