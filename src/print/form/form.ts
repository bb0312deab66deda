import type { Json, JsonSchema } from '../../graph/json.js';
import { escapeMarkup, escapeXml } from '../../graph/printable-text.js';
import { MAX_ROWS, type Member, type Option, type Part } from './controls.js';
import {
  type Fields,
  type FormFault,
  type FormFields,
  fieldsOf,
  grouped,
  isConstant,
  memberPlace,
  type Place,
  rootOf,
  rowPlace,
  rowsOf,
  textAt,
} from './fields.js';

export interface FormOptions {
  /** The value that is filled in. Default: the defaults of the schema. */
  readonly value?: Json;
  /** What a person has sent with an earlier form of the schema, in the place of a value. */
  readonly fields?: FormFields;
  /** What is wrong with it: shown beside its fields, and above the form in a list. */
  readonly faults?: readonly FormFault[];
  /** Makes the ids of the fields unique in a page. Default: `f`. */
  readonly idPrefix?: string;
}

/**
 * The fields of a form for the values of a schema, as HTML in a `div` of the class `form`; its style is `FORM_STYLE`. It
 * needs no script: lists have buttons that send the form, to be shown again with more rows or fewer; see `changesRows`.
 * Around it goes a `form` element with a button that sends it.
 *
 * Every value of a schema has a form: what no control can show without changing it is a text in JSON.
 */
export function formOf(schema: JsonSchema, options: FormOptions = {}): string {
  const { value, fields, faults = [], idPrefix = 'f' } = options;
  const writer = new FormWriter(fields ? grouped(fields) : fieldsOf(schema, value), faults, idPrefix);
  const body = writer.root(rootOf(schema));
  // The first button of a form is the one that the Enter key presses.
  const submit = '<button type="submit" class="hidden" tabindex="-1" aria-hidden="true">Send</button>';
  return `<div class="form">${submit}${writer.summary()}${body}</div>`;
}

/** How a place is shown. */
interface Label {
  readonly text: string;
  /** Whether a browser may ask for it: what is around it must be filled in as well. */
  readonly isAsked: boolean;
}

/** More options than this are a list to choose from, and not a button each. */
const MAX_BUTTONS = 6;

class FormWriter {
  readonly #fields: Fields;
  /** Those that no field has shown yet. */
  readonly #faults: Set<FormFault>;
  readonly #prefix: string;
  /** The list of faults, with links to their fields. */
  readonly #links: string[] = [];
  #count = 0;
  /** Whether the next field is the one that the browser goes to. */
  #isNewRow = false;

  constructor(fields: Fields, faults: readonly FormFault[], prefix: string) {
    this.#fields = fields;
    this.#faults = new Set(faults);
    this.#prefix = prefix;
  }

  root(place: Place): string {
    const { control, schema } = place.part;
    if (control.kind === 'object' && !this.#fields.has('json'))
      return this.#members(place, control.members, true) + this.#marker(place);
    return this.#place(place, { text: titleOf(schema) ?? 'Answer', isAsked: true });
  }

  /** The faults, after all fields have been written. */
  summary(): string {
    const others = [...this.#faults].map(({ message }) => `<li>${escapeXml(message)}</li>`);
    const items = [...this.#links, ...others].join('');
    return items === ''
      ? ''
      : `<div class="faults" role="alert"><p>Not sent yet. Please correct:</p><ul>${items}</ul></div>`;
  }

  #place(place: Place, label: Label): string {
    return this.#control(place, label) + this.#marker(place);
  }

  #control(place: Place, label: Label): string {
    const { control } = place.part;
    if (isConstant(place) && !this.#fields.has(`json${place.from}`)) return '';
    if (this.#fields.has(`json${place.from}`) || control.kind === 'json') return this.#json(place, label);
    switch (control.kind) {
      case 'text':
      case 'number':
        return this.#line(place, label);
      case 'choice':
        return control.options.length > MAX_BUTTONS
          ? this.#select(place, label, control.options)
          : this.#buttons(place, label, control.options, 'radio');
      case 'several':
        return this.#buttons(place, label, control.options, 'checkbox');
      case 'list':
        return this.#list(place, label, control);
      default: {
        const isAsked = label.isAsked && place.isRequired;
        return this.#group(place, label, 'group', this.#members(place, control.members, isAsked));
      }
    }
  }

  /** The field that says that a value is there although its fields are empty. */
  #marker({ from, to }: Place): string {
    const present = this.#fields.get(`present${from}`)?.[0];
    return present === undefined ? '' : hidden(`present${to}`, present);
  }

  #members(place: Place, members: readonly Member[], isAsked: boolean): string {
    const parts = members.map((member) => {
      const text = titleOf(member.part.schema) ?? wordsOf(member.name);
      return this.#place(memberPlace(place, member), { text, isAsked });
    });
    return parts.join('');
  }

  #line(place: Place, label: Label): string {
    const { control, schema } = place.part;
    const text = textAt(this.#fields, `value${place.from}`);
    const name = `value${place.to}`;
    if (control.kind === 'text' && control.as === 'area')
      return this.#field(place, label, (attributes) => areaOf(name, text, attributes));
    const type = control.kind === 'text' ? control.as : 'number';
    const isWhole = control.kind === 'number' && control.isWhole;
    const limits =
      control.kind === 'number'
        ? ` step="${isWhole ? '1' : 'any'}" inputmode="${isWhole ? 'numeric' : 'decimal'}"${limitOf('min', schema.minimum)}${limitOf('max', schema.maximum)}`
        : type === 'datetime-local'
          ? ' step="1"'
          : '';
    return this.#field(
      place,
      label,
      (attributes) =>
        `<input type="${type}"${named(name)} value="${escapeMarkup(text)}" autocomplete="off"${limits}${attributes}>`,
    );
  }

  #json(place: Place, label: Label): string {
    const text = textAt(this.#fields, `json${place.from}`);
    const hint = 'Written as JSON, such as "text", 12, true, ["a", "b"] or {"key": "value"}.';
    const area = (attributes: string): string =>
      areaOf(`json${place.to}`, text, ` class="code" spellcheck="false"${attributes}`);
    return this.#field(place, label, area, hint);
  }

  #select(place: Place, label: Label, options: readonly Option[]): string {
    const chosen = textAt(this.#fields, `value${place.from}`);
    const first = { label: canBeEmpty(place) ? NO_ANSWER : 'Choose …', value: '' };
    const items = [first, ...numbered(options)].map(
      ({ label: text, value }) =>
        `<option value="${value}"${value === chosen ? ' selected' : ''}>${escapeXml(text)}</option>`,
    );
    return this.#field(
      place,
      label,
      (attributes) => `<select${named(`value${place.to}`)}${attributes}>${items.join('')}</select>`,
    );
  }

  #buttons(place: Place, label: Label, options: readonly Option[], type: 'radio' | 'checkbox'): string {
    const isRadio = type === 'radio';
    const chosen = this.#fields.get(`value${place.from}`) ?? (isRadio ? [''] : []);
    const isEmptyAllowed = canBeEmpty(place);
    const required = isRadio && !isEmptyAllowed && label.isAsked ? ' required' : '';
    const all =
      isRadio && isEmptyAllowed ? [...numbered(options), { label: NO_ANSWER, value: '' }] : numbered(options);
    const buttons = all.map(({ label: text, value }) => {
      const checked = chosen.includes(value) ? ' checked' : '';
      const input = `<input type="${type}"${named(`value${place.to}`)} value="${value}"${checked}${required}>`;
      return `<label class="option">${input}<span>${escapeXml(text)}</span></label>`;
    });
    return this.#group(place, label, 'choice', `<div class="options">${buttons.join('')}</div>`);
  }

  #list(place: Place, label: Label, { item, atLeast, atMost }: ListControl): string {
    const rows = rowsOf(place, item, this.#fields);
    const isLine = item.control.kind === 'text' || item.control.kind === 'number';
    const isLonger = this.#fields.has('add') && textAt(this.#fields, 'add') === place.from;
    const spare = isLonger || rows.length === 0 ? (isLine ? 3 : 1) : 0;
    const limit = Math.min(atMost, MAX_ROWS);
    const count = Math.max(rows.length, Math.min(Math.max(rows.length + spare, atLeast), limit));
    const parts = Array.from({ length: count }, (_, index) => {
      // Behind the last number there are no fields: the row is new.
      const at = rowPlace(place, item, rows[index] ?? MAX_ROWS + index, index);
      const text = `${label.text} ${index + 1}`;
      if (isLonger && index === rows.length) this.#isNewRow = true;
      const row = this.#place(at, { text, isAsked: false });
      return `<div class="row">${row}${index < rows.length ? rowButton('remove', at.to, 'Remove', text) : ''}</div>`;
    });
    const add =
      count < limit ? rowButton('add', place.to, isLine ? 'Add rows' : 'Add a row', label.text) : '';
    const body = `${hidden(`rows${place.to}`, String(count))}${parts.join('')}${add}`;
    return this.#group(place, label, 'list', body);
  }

  #field(place: Place, label: Label, control: (attributes: string) => string, hint?: string): string {
    const { id, texts, attributes } = this.#describe(place, label, hint);
    const required = label.isAsked && !canBeEmpty(place) ? ' required' : '';
    const heading = `<label for="${id}">${escapeXml(label.text)}${optionalMark(place)}</label>`;
    return `<div class="field">${heading}${texts}${control(`${attributes}${required}`)}</div>`;
  }

  #group(place: Place, label: Label, kind: string, body: string): string {
    const { texts, attributes } = this.#describe(place, label);
    const legend = `<legend>${escapeXml(label.text)}${optionalMark(place)}</legend>`;
    return `<fieldset class="field ${kind}" tabindex="-1"${attributes}>${legend}${texts}${body}</fieldset>`;
  }

  /** The texts of a field below its label, and its attributes that refer to them. */
  #describe(place: Place, label: Label, hint?: string): { id: string; texts: string; attributes: string } {
    this.#count += 1;
    const id = `${this.#prefix}${this.#count}`;
    const hints = [...hintsOf(place.part), ...(hint === undefined ? [] : [hint])];
    const faults = this.#faultsAt(place);
    const isFirstFault = faults.length > 0 && this.#links.length === 0;
    this.#links.push(
      ...faults.map(
        ({ message }) => `<li><a href="#${id}">${escapeXml(label.text)}</a>: ${escapeXml(message)}</li>`,
      ),
    );
    const texts = [
      ...hints.map((text) => ({ kind: 'hint', text })),
      ...faults.map(({ message }) => ({ kind: 'fault', text: message })),
    ].map(({ kind, text }, index) => ({
      id: `${id}-${index}`,
      html: `<p class="${kind}" id="${id}-${index}">${escapeXml(text, 'keep')}</p>`,
    }));
    const describedBy = texts.map((text) => text.id).join(' ');
    const attributes = [
      ` id="${id}"`,
      describedBy === '' ? '' : ` aria-describedby="${describedBy}"`,
      faults.length === 0 ? '' : ' aria-invalid="true"',
      isFirstFault || this.#isNewRow ? ' autofocus' : '',
    ];
    this.#isNewRow = false;
    return { id, texts: texts.map(({ html }) => html).join(''), attributes: attributes.join('') };
  }

  /** The faults of a value, and of what is inside it where that has no fields of its own. Each is shown once. */
  #faultsAt({ part: { control }, from, to }: Place): readonly FormFault[] {
    const hasInner =
      (control.kind === 'list' || control.kind === 'object') && !this.#fields.has(`json${from}`);
    const faults = [...this.#faults].filter(
      ({ pointer }) => pointer === to || (!hasInner && pointer.startsWith(`${to}/`)),
    );
    for (const fault of faults) this.#faults.delete(fault);
    return faults;
  }
}

type ListControl = Extract<Part['control'], { kind: 'list' }>;

const NO_ANSWER = 'No answer';

function numbered(options: readonly Option[]): { readonly label: string; readonly value: string }[] {
  return options.map(({ label }, index) => ({ label, value: String(index) }));
}

function canBeEmpty({ isRequired, part }: Place): boolean {
  return !isRequired || part.isNullable;
}

function optionalMark({ isRequired }: Place): string {
  return isRequired ? '' : ' <span class="mark">optional</span>';
}

function named(name: string): string {
  return ` name="${escapeXml(name)}"`;
}

function hidden(name: string, value: string): string {
  return `<input type="hidden"${named(name)} value="${escapeXml(value)}">`;
}

/** A parser of HTML leaves out a line break at the start of an area; browsers send line breaks as CRLF. */
function areaOf(name: string, text: string, attributes: string): string {
  const lines = text.replaceAll(/\r\n?/g, '\n');
  const rows = Math.min(Math.max(lines.split('\n').length, 2), 12);
  return `<textarea${named(name)} rows="${rows}"${attributes}>\n${escapeMarkup(lines)}</textarea>`;
}

function rowButton(name: 'add' | 'remove', pointer: string, text: string, label: string): string {
  const hiddenText = `<span class="hidden"> ${name === 'add' ? 'to ' : ''}${escapeXml(label)}</span>`;
  return `<button type="submit" class="${name}" name="${name}" value="${escapeXml(pointer)}" formnovalidate>${text}${hiddenText}</button>`;
}

function limitOf(attribute: 'min' | 'max', limit: Json | undefined): string {
  return typeof limit === 'number' && Number.isInteger(limit) ? ` ${attribute}="${limit}"` : '';
}

function titleOf({ title }: JsonSchema): string | undefined {
  return typeof title === 'string' && title.trim() !== '' ? title : undefined;
}

/** `approvalLimit` as `Approval limit`. */
export function wordsOf(name: string): string {
  const words = name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .split(/[\s_-]+/)
    .map((word) => (/^\p{Lu}\p{Ll}+$/u.test(word) ? word.toLowerCase() : word))
    .join(' ')
    .trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a person should know of a field: its description, and its limits in words. */
function hintsOf({ control, schema }: Part): string[] {
  const { description, minLength, maxLength, minItems, maxItems, minimum, maximum } = schema;
  const own = typeof description === 'string' && description.trim() !== '' ? [description] : [];
  switch (control.kind) {
    case 'text': {
      const utc = control.as === 'datetime-local' ? ['In UTC.'] : [];
      return [...own, ...rangeOf(minLength, maxLength, 'characters', 2), ...utc];
    }
    case 'number':
      return [...own, ...rangeOf(minimum, maximum, '', Number.NEGATIVE_INFINITY)];
    case 'list':
    case 'several':
      return [...own, ...rangeOf(minItems, maxItems, 'entries', 1)];
    default:
      return own;
  }
}

/** @param least a lower limit below this is not worth a word. */
function rangeOf(from: Json | undefined, to: Json | undefined, noun: string, least: number): string[] {
  const low = typeof from === 'number' && from >= least ? from : undefined;
  const high = typeof to === 'number' ? to : undefined;
  const unit = noun === '' ? '' : ` ${noun}`;
  if (low !== undefined && high !== undefined) return [`${low} to ${high}${unit}.`];
  if (low !== undefined) return [`At least ${low}${unit}.`];
  return high === undefined ? [] : [`At most ${high}${unit}.`];
}
