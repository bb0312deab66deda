import { nearestName } from '../../../graph/names.js';
import type { Located, LocatedEntry, LocatedMap, LocatedText } from '../../text/located.js';
import { SourceText } from '../../text/located.js';
import { readJson } from '../../text/read-json.js';
import type { XmlAttribute, XmlElement, XmlMapping } from '../../text/read-xml.js';
import { FILE_LIMITS, MapEntries, type Reports } from '../../text/reading.js';

type AttributeType = 'text' | 'number' | 'boolean' | 'names';

interface ElementRule {
  readonly attributes: Readonly<Record<string, AttributeType>>;
  readonly children: readonly string[];
}

const NODE = { id: 'text', depends_on: 'names', join: 'text', when: 'text', title: 'text' } as const;
const NODES = ['step', 'branch', 'error', 'parallel', 'foreach', 'repeat', 'yield', 'wait', 'compensate'];
const PARAMETER = {
  name: 'text',
  type: 'text',
  required: 'boolean',
  default: 'text',
  format: 'text',
  description: 'text',
  title: 'text',
  secret: 'boolean',
  pattern: 'text',
  minimum: 'number',
  maximum: 'number',
  min_length: 'number',
  max_length: 'number',
  min_items: 'number',
  max_items: 'number',
  items: 'text',
} as const;

/** A value, or a list of them. */
const VALUE = { attributes: { value: 'text', json: 'text' }, children: ['arg', 'item'] } as const;

const ELEMENTS: Readonly<Record<string, ElementRule>> = {
  workflows: { attributes: { domain: 'text', version: 'text' }, children: ['rules', 'docs', 'workflow'] },
  rules: { attributes: {}, children: ['rule'] },
  rule: { attributes: {}, children: [] },
  docs: { attributes: {}, children: [] },
  workflow: {
    attributes: {
      id: 'text',
      description: 'text',
      title: 'text',
      expose: 'names',
      fail_fast: 'boolean',
      on_failure: 'text',
      max_concurrency: 'number',
      task: 'boolean',
      task_support: 'text',
    },
    children: ['params', 'graph', 'returns'],
  },
  params: { attributes: {}, children: ['param'] },
  param: { attributes: PARAMETER, children: ['enum'] },
  enum: { attributes: { value: 'text', json: 'text' }, children: [] },
  graph: { attributes: {}, children: NODES },
  step: {
    attributes: { ...NODE, timeout: 'number', ignore_error: 'boolean', error_as_data: 'boolean' },
    children: ['call', 'subworkflow', 'args', 'output', 'on_error', 'compensate'],
  },
  call: { attributes: { tool: 'text' }, children: [] },
  subworkflow: { attributes: { ref: 'text' }, children: [] },
  args: { attributes: {}, children: ['arg'] },
  arg: { ...VALUE, attributes: { name: 'text', ...VALUE.attributes } },
  item: VALUE,
  items: { attributes: {}, children: ['item'] },
  output: { attributes: { name: 'text' }, children: [] },
  on_error: {
    attributes: {
      retry: 'number',
      delay: 'number',
      backoff: 'text',
      max_delay: 'number',
      jitter: 'number',
      fallback: 'text',
    },
    children: [],
  },
  branch: { attributes: NODE, children: ['condition', 'default'] },
  condition: { attributes: { when: 'text', goto: 'text' }, children: [] },
  default: { attributes: { goto: 'text' }, children: [] },
  error: {
    attributes: { id: 'text', message: 'text', code: 'text', when: 'text', title: 'text' },
    children: [],
  },
  parallel: {
    attributes: { ...NODE, on_partial_failure: 'text', concurrency: 'number', timeout: 'number' },
    children: ['branch_of', 'output'],
  },
  branch_of: { attributes: { name: 'text' }, children: NODES },
  foreach: {
    attributes: {
      ...NODE,
      items: 'text',
      as: 'text',
      max_iterations: 'number',
      concurrency: 'number',
      on_item_error: 'text',
      timeout: 'number',
    },
    children: [...NODES, 'items', 'output', 'on_error'],
  },
  repeat: {
    attributes: {
      ...NODE,
      until: 'text',
      max_iterations: 'number',
      delay: 'number',
      on_limit: 'text',
      timeout: 'number',
    },
    children: [...NODES, 'output', 'on_error'],
  },
  yield: {
    attributes: {
      ...NODE,
      message: 'text',
      answer_by: 'names',
      except: 'text',
      remind_after: 'number',
      escalate_to: 'names',
      approves: 'text',
      timeout: 'number',
    },
    children: ['expects', 'output'],
  },
  wait: { attributes: { ...NODE, for: 'number', until: 'text' }, children: [] },
  expects: { attributes: {}, children: ['param'] },
  compensate: { attributes: { id: 'text', when: 'text', title: 'text' }, children: ['step', 'call', 'args'] },
  returns: { attributes: {}, children: ['arg'] },
};

/** Elements in nodes other than steps that are neither nodes nor cases. */
const PARTS: ReadonlySet<string> = new Set(['output', 'on_error', 'expects', 'items']);

/** The keys of attributes that have other names. */
const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  wait: { for: 'wait', until: 'wait_until' },
};

/** Makes the document that the other formats write of the elements of XML. */
export const documentOfXml: XmlMapping = {
  root: 'workflows',
  texts: ['rule', 'docs'],
  document: (reports, root) => new XmlDocument(reports).document(root),
};

class XmlDocument {
  readonly #reports: Reports;

  constructor(reports: Reports) {
    this.#reports = reports;
  }

  document(root: XmlElement): Located | undefined {
    if (!this.#check(root)) return undefined;
    const elements = root.children.filter(({ name }) => name === 'workflow');
    const workflows = this.#named(root, elements, 'id', (child) => this.#workflow(child));
    const parts = root.children.flatMap((child) => {
      const { name, children } = child;
      if (name === 'docs') return [entry(nameOf(child), textIn(child, withoutIndent))];
      if (name !== 'rules') return [];
      const rules = children.map((rule) => textIn(rule, oneLine));
      return [entry(nameOf(child), listOf(child, rules))];
    });
    return this.#unique(root, [...this.#attributes(root), ...parts, entry('workflows', workflows)]);
  }

  /** Reports elements and attributes that are unknown. Without an error the elements are those of the table. */
  #check(element: XmlElement, parent?: XmlElement): boolean {
    const { name } = element;
    const prefixed = [name, ...element.attributes.map((each) => each.name.value)].find(
      (each) => each.includes(':') || each === 'xmlns',
    );
    if (prefixed !== undefined) {
      const isBpmn = [name, ...element.attributes.map(({ value }) => value.value)].some((text) =>
        /bpmn/i.test(text),
      );
      const what = isBpmn ? 'BPMN' : `the namespace of \`${prefixed}\``;
      const instead = isBpmn
        ? 'write the simplified elements of this format: it is a subset for workflows, not BPMN'
        : 'remove it: elements have no namespaces';
      this.#reports.report('SW5003', element, { what, instead });
      return false;
    }
    const expected = parent === undefined ? ['workflows'] : (ELEMENTS[parent.name]?.children ?? []);
    if (!expected.includes(name)) {
      const where = parent === undefined ? 'a spec file' : `\`<${parent.name}>\``;
      const suggestion = nearestName(name, expected);
      this.#reports.report('SW5005', element, {
        key: `<${name}>`,
        where,
        candidates: expected.map((each) => `<${each}>`),
        suggestion: suggestion && `<${suggestion}>`,
      });
      return false;
    }
    const attributes = Object.keys(ELEMENTS[name]?.attributes ?? {});
    for (const attribute of element.attributes) this.#checkAttribute(element, attribute, attributes);
    // Every child is checked, so that all faults are reported.
    return element.children.map((child) => this.#check(child, element)).every((isValid) => isValid);
  }

  #checkAttribute(element: XmlElement, { name }: XmlAttribute, attributes: readonly string[]): void {
    const key = name.value;
    if (attributes.includes(key) || key.startsWith('x-')) return;
    const where = `\`<${element.name}>\``;
    this.#reports.report('SW5005', name, {
      key,
      where,
      candidates: attributes,
      suggestion: nearestName(key, attributes),
    });
  }

  #workflow(element: XmlElement): LocatedMap {
    const parts = element.children.map((child) => {
      switch (child.name) {
        case 'params':
          return entry(nameOf(child), this.#parameters(child));
        case 'returns':
          return entry(nameOf(child), this.#args(child));
        default:
          return entry(nameOf(child), this.#graph(child));
      }
    });
    return this.#unique(element, [...this.#attributes(element, ['id']), ...parts]);
  }

  #graph(element: XmlElement): LocatedMap {
    return this.#named(element, element.children, 'id', (child) => this.#node(child, ['id']));
  }

  #parameters(element: XmlElement): LocatedMap {
    return this.#named(element, element.children, 'name', (child) => this.#parameter(child));
  }

  /** The default of a number or a boolean is one as well. */
  #parameter(element: XmlElement): LocatedMap {
    const type = attributeOf(element, 'type')?.value ?? '';
    const entries = this.#attributes(element, ['name', 'default']);
    const fallback = attributeOf(element, 'default');
    if (fallback !== undefined) {
      const isNumber = /^(?:int|integer|float|num|number)$/.test(type);
      const as = isNumber ? 'number' : /^bool/.test(type) ? 'boolean' : 'text';
      entries.push(entry('default', valueOfAttribute(fallback, as)));
    }
    if (element.children.length > 0) entries.push(entry('enum', this.#items(element)));
    return mapOf(element, entries);
  }

  #node(element: XmlElement, without: readonly string[] = []): LocatedMap {
    const entries = this.#attributes(element, without);
    const { name, children } = element;
    if (name === 'step')
      return this.#unique(element, [...entries, ...children.flatMap((child) => this.#part(child))]);
    const parts = children.filter((child) => PARTS.has(child.name)).flatMap((child) => this.#part(child));
    return this.#unique(element, [
      ...entries,
      entry('type', nameOf(element)),
      ...this.#content(element),
      ...parts,
    ]);
  }

  /** The nodes, cases or steps in a node that is not a step. */
  #content(element: XmlElement): LocatedEntry[] {
    const { name, children } = element;
    switch (name) {
      case 'branch': {
        const cases = children.map((child) => this.#case(child));
        return [entry('on', listOf(element, cases))];
      }
      case 'parallel':
        return [entry('branches', this.#branches(element))];
      case 'foreach':
        return this.#body(element);
      case 'repeat': {
        const nodes = children.filter((child) => !PARTS.has(child.name));
        return nodes.length === 0 ? [] : [entry('repeat', this.#list(element, nodes))];
      }
      case 'compensate': {
        const steps = children.map((child) => this.#unique(child, this.#step(child)));
        return [entry('steps', listOf(element, steps))];
      }
      default:
        return [];
    }
  }

  #step(element: XmlElement): LocatedEntry[] {
    return [...this.#attributes(element), ...element.children.flatMap((child) => this.#part(child))];
  }

  /** A part of a node, under its key in the other formats. */
  #part(child: XmlElement): LocatedEntry[] {
    switch (child.name) {
      case 'call':
        return this.#renamed(child, 'tool', 'call');
      case 'subworkflow':
        return this.#renamed(child, 'ref', 'workflow');
      case 'args':
        return [entry(nameOf(child), this.#args(child))];
      case 'output':
        return this.#renamed(child, 'name', 'output');
      case 'expects':
        return [entry(nameOf(child), this.#parameters(child))];
      case 'items':
        return [entry(nameOf(child), this.#items(child))];
      default:
        return [entry(nameOf(child), this.#unique(child, this.#step(child)))];
    }
  }

  #case(element: XmlElement): LocatedMap {
    const entries = this.#attributes(element);
    if (element.name !== 'default') return mapOf(element, entries);
    return mapOf(element, [entry('default', nothing(element)), ...entries]);
  }

  #branches(element: XmlElement): LocatedMap {
    const branches = element.children.filter(({ name }) => name === 'branch_of');
    return this.#named(element, branches, 'name', (child) => {
      const [only, ...others] = child.children;
      return only === undefined || others.length > 0
        ? mapOf(child, [entry('steps', this.#list(child, child.children))])
        : this.#node(only);
    });
  }

  #body(element: XmlElement): LocatedEntry[] {
    const nodes = element.children.filter(({ name }) => !PARTS.has(name));
    const [only, ...others] = nodes;
    if (only === undefined) return [];
    if (others.length === 0) return [entry('step', this.#node(only))];
    return [entry('steps', this.#list(element, nodes))];
  }

  #list(element: XmlElement, nodes: readonly XmlElement[]): Located {
    const items = nodes.map((node) => this.#node(node));
    return listOf(element, items);
  }

  #args(element: XmlElement): LocatedMap {
    return this.#named(element, element.children, 'name', (child) => this.#value(child));
  }

  #items(element: XmlElement): Located {
    const items = element.children.map((child) => this.#value(child));
    return listOf(element, items);
  }

  /** The value of an argument, an item or a choice: a text, JSON, an object of arguments, or a list of items. */
  #value(element: XmlElement): Located {
    const value = attributeOf(element, 'value');
    const json = attributeOf(element, 'json');
    const parts = ['arg', 'item'].filter((name) => element.children.some((child) => child.name === name));
    if ([value, json, ...parts].filter((each) => each !== undefined).length > 1) {
      const expected = 'one of `value`, `json`, nested `<arg>` and `<item>`';
      this.#reports.report('SW5006', element, {
        what: `\`<${element.name}>\``,
        expected,
        actual: 'several of them',
      });
    }
    if (value !== undefined) return value;
    if (json !== undefined) return this.#json(json);
    return parts.includes('item') ? this.#items(element) : this.#args(element);
  }

  #json(text: LocatedText): Located {
    const limits = { ...FILE_LIMITS, depth: MAX_JSON_DEPTH };
    const { root } = readJson(new SourceText(this.#reports.source.file, text.value), limits);
    if (root !== undefined) return relocated(root, text);
    this.#reports.report('SW5006', text, {
      what: '`json` of `<arg>`',
      expected: `JSON of at most ${MAX_JSON_DEPTH} levels, with each key once`,
      actual: `\`${text.value}\``,
    });
    return text;
  }

  #renamed(element: XmlElement, attribute: string, key: string): LocatedEntry[] {
    const value = this.#required(element, attribute);
    return value === undefined ? [] : [entry(key, value)];
  }

  #required(element: XmlElement, name: string): LocatedText | undefined {
    const value = attributeOf(element, name);
    if (value === undefined)
      this.#reports.report('SW5007', element, { what: `\`<${element.name}>\``, key: name });
    return value;
  }

  #attributes(element: XmlElement, without: readonly string[] = []): LocatedEntry[] {
    const types = ELEMENTS[element.name]?.attributes ?? {};
    return element.attributes.flatMap(({ name, value }) => {
      const type = types[name.value];
      if (type === undefined || without.includes(name.value)) return [];
      const key = KEYS[element.name]?.[name.value] ?? name.value;
      return [entry({ ...name, value: key }, valueOfAttribute(value, type))];
    });
  }

  /** An object of the values of elements, by an attribute of theirs. */
  #named(
    element: XmlElement,
    children: readonly XmlElement[],
    attribute: string,
    lower: (child: XmlElement) => Located,
  ): LocatedMap {
    const entries = children.flatMap((child) => {
      const name = this.#required(child, attribute);
      return name === undefined ? [] : [entry(name, lower(child))];
    });
    return this.#unique(element, entries);
  }

  /** An object of entries. Repeated attributes and elements are reported. */
  #unique(element: XmlElement, entries: readonly LocatedEntry[]): LocatedMap {
    const map = new MapEntries(this.#reports);
    for (const { key, value } of entries) {
      const isElement = this.#reports.source.text[key.start - 1] === '<';
      map.add(key, value, isElement ? `<${key.value}>` : key.value);
    }
    return mapOf(element, map.entries);
  }
}

function attributeOf(element: XmlElement, name: string): LocatedText | undefined {
  return element.attributes.find((attribute) => attribute.name.value === name)?.value;
}

function nameOf({ name, start, end }: XmlElement): LocatedText {
  return { kind: 'text', value: name, start, end, pointer: '', offsetAt: () => start };
}

/** The text in an element, written in another way. */
function textIn(element: XmlElement, normalize: (text: string) => string): LocatedText {
  return { ...nameOf(element), value: normalize(element.text?.value ?? '') };
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** Markdown without the lines and the indentation that are there for the XML around it. */
function withoutIndent(text: string): string {
  const lines = text
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .trimEnd()
    .split('\n');
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join('\n');
}

/** Other text than numbers and booleans stays text, for the reader of the key to report. */
function valueOfAttribute(text: LocatedText, type: AttributeType): Located {
  const { value, start, end, pointer } = text;
  switch (type) {
    case 'number':
      if (!/^-?[0-9]+(?:\.[0-9]+)?$/.test(value)) return text;
      return { kind: 'number', value: Number(value), source: value, start, end, pointer };
    case 'boolean':
      if (value !== 'true' && value !== 'false') return text;
      return { kind: 'boolean', value: value === 'true', source: value, start, end, pointer };
    case 'names':
      return { kind: 'list', items: namesIn(text), start, end, pointer };
    case 'text':
      return text;
    default:
      return type satisfies never;
  }
}

/** Names between spaces or commas. */
function namesIn(text: LocatedText): Located[] {
  return [...text.value.matchAll(/[^\s,]+/g)].map(({ 0: value, index }) => {
    const start = text.offsetAt(index);
    const offsetAt = (at: number): number => text.offsetAt(index + at);
    return { kind: 'text', value, start, end: text.offsetAt(index + value.length), pointer: '', offsetAt };
  });
}

function entry(key: string | LocatedText, value: Located): LocatedEntry {
  if (typeof key !== 'string') return { key, value };
  const { start, end, pointer } = value;
  return { key: { kind: 'text', value: key, start, end, pointer, offsetAt: () => start }, value };
}

function mapOf({ start, end }: XmlElement, entries: readonly LocatedEntry[]): LocatedMap {
  return { kind: 'map', entries, start, end, pointer: '' };
}

function listOf({ start, end }: XmlElement, items: readonly Located[]): Located {
  return { kind: 'list', items, start, end, pointer: '' };
}

function nothing({ start, end }: XmlElement): Located {
  return { kind: 'null', value: null, source: '', start, end, pointer: '' };
}

/** How deep values of `json` may be nested. */
const MAX_JSON_DEPTH = 32;

/** A value of the text of an attribute, at its place in the file. */
function relocated(value: Located, text: LocatedText): Located {
  const { pointer } = text;
  const at = { start: text.offsetAt(value.start), end: text.offsetAt(value.end), pointer };
  switch (value.kind) {
    case 'text':
      return relocatedText(value, text);
    case 'list':
      return { ...value, ...at, items: value.items.map((item) => relocated(item, text)) };
    case 'map': {
      const entries = value.entries.map(({ key, value: part }) => ({
        key: relocatedText(key, text),
        value: relocated(part, text),
      }));
      return { ...value, ...at, entries };
    }
    default:
      return { ...value, ...at };
  }
}

function relocatedText({ value, start, end, offsetAt }: LocatedText, text: LocatedText): LocatedText {
  const at = { start: text.offsetAt(start), end: text.offsetAt(end), pointer: text.pointer };
  return { kind: 'text', value, ...at, offsetAt: (index) => text.offsetAt(offsetAt(index)) };
}
