import { defined } from '../../../graph/defined.js';
import type { Json } from '../../../graph/json.js';
import type { StateField } from '../../../graph/model.js';
import { certainName, nearestName } from '../../../graph/names.js';
import type { SourceLocation } from '../../../graph/source-location.js';
import { hasTemplate } from '../../jinja/tokens.js';
import {
  jsonOf,
  type LocatedEntry,
  type LocatedList,
  type LocatedText,
  textsWithin,
} from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import { type Fields, renameTo } from '../fields.js';
import { NAME, NAME_RULE } from './inputs.js';
import { allSteps, keyBehind, type StepList, type StepSpec } from './steps.js';
import { type StateReference, writtenRange } from './templates.js';

/** The state of a workflow or task: what `initial_state` has and steps write. */
export class State {
  /** In the order of writing. */
  readonly fields: readonly StateField[];
  readonly names: readonly string[];
  readonly #byName: ReadonlyMap<string, StateField>;
  /** First values that are templates. */
  readonly computed: readonly LocatedEntry[];
  /** Fields that steps read as a whole, or of which they read the exit code. */
  readonly readExits = new Set<string>();
  readonly #reports: Reports;
  readonly #workflow: string;

  /** @param isTask whether first values may be templates. */
  constructor(reports: Reports, workflow: string, scope: Fields, root: StepList, isTask: boolean) {
    const initial = scope.object('initial_state');
    this.#reports = reports;
    this.#workflow = workflow;
    const fields = new Map<string, StateField>();
    const add = (key: LocatedText, source: SourceLocation, first?: Json): void => {
      if (!NAME.test(key.value))
        reports.report('SW5010', key, { kind: 'a state field', name: key.value, rule: NAME_RULE });
      else if (!fields.has(key.value))
        fields.set(key.value, {
          name: key.value,
          scope: 'workflow',
          schema: {},
          ...defined({ initial: first }),
          source,
        });
    };
    const computed: LocatedEntry[] = [];
    for (const entry of initial?.entries ?? []) {
      const template = textsWithin(entry.value).find(({ value }) => hasTemplate(value));
      if (template !== undefined && isTask) computed.push(entry);
      if (template !== undefined && !isTask)
        reports.report(
          'SW5015',
          template,
          { key: `initial_state.${entry.key.value}`, text: template.value },
          {
            hint: 'write a value, and compute it in a step of type `set_state`; `{% raw %}` writes braces in a text',
          },
        );
      add(
        entry.key,
        reports.source.placeOf(entry.key),
        template === undefined ? jsonOf(entry.value) : undefined,
      );
    }
    for (const { fields: keys, type } of allSteps(root)) {
      const output = keys.value('output_to');
      if (output?.kind === 'text' && !hasTemplate(output.value)) add(output, reports.source.placeOf(output));
      const updates = type === 'set_state' ? keys.value('updates') : undefined;
      for (const { key } of updates?.kind === 'map' ? updates.entries : [])
        add(key, reports.source.placeOf(key));
    }
    this.names = [...fields.keys()];
    this.#byName = fields;
    const secrets = this.#textsIn(scope.list('secret_state'), `\`secret_state\` of ${scope.where}`);
    for (const text of secrets) if (!fields.has(text.value)) this.#reportUnknown(text);
    const isSecret = (name: string) => secrets.some(({ value }) => value === name);
    this.fields = [...fields.values()].map((field) =>
      isSecret(field.name) ? { ...field, secret: true } : field,
    );
    this.computed = computed;
  }

  /** The names in a list of fields. */
  #textsIn(list: LocatedList | undefined, what: string): readonly LocatedText[] {
    return (list?.items ?? []).flatMap((item) => {
      if (item.kind === 'text') return [item];
      this.#reports.report('SW5006', item, { what, expected: 'a list of names', actual: 'something else' });
      return [];
    });
  }

  /** The fields that a step declares to read: all of them for `"*"`. */
  declaredBy({ fields }: StepSpec): DeclaredState {
    const list = fields.list('needs_state');
    const texts = this.#textsIn(list, `\`needs_state\` of ${fields.where}`);
    const star = texts.find(({ value }) => value === '*');
    for (const text of texts) if (text !== star && !this.#byName.has(text.value)) this.#reportUnknown(text);
    const isAll = star !== undefined;
    if (star !== undefined)
      this.#reports.report('SW5041', star, { step: fields.where.slice('step '.length) });
    return { list, texts, isAll, names: isAll ? this.names : texts.map(({ value }) => value) };
  }

  #reportUnknown(text: LocatedText): void {
    const params = {
      workflow: this.#workflow,
      field: text.value,
      suggestion: nearestName(text.value, this.names),
    };
    const others = this.names;
    this.#reports.report('SW4031', text, params, { edit: renameTo(this.#reports, text, others) });
  }

  /** Compares what a step reads with what it declares. Returns the fields that it may read; undefined for all. */
  access(
    spec: StepSpec,
    declared: DeclaredState,
    references: readonly StateReference[],
  ): readonly string[] | undefined {
    const used = new Set(references.map(({ field }) => field));
    for (const { ref, field } of references)
      if (ref.path.length === 1 || ref.path[1] === 'exit_code') this.readExits.add(field);
    const unknown = references.filter(({ field }) => !this.#byName.has(field));
    for (const reference of unknown) this.#reportUnknownReference(reference, declared);
    if (declared.isAll) return undefined;
    const missing = [...used].filter((field) => this.#byName.has(field) && !declared.names.includes(field));
    for (const field of missing) {
      const reference = references.find((each) => each.field === field);
      if (reference !== undefined) this.#reportUndeclared(spec, declared, missing, reference);
    }
    for (const text of declared.texts) {
      if (used.has(text.value) || !this.#byName.has(text.value)) continue;
      this.#reports.report('SW5040', text, { step: spec.id, field: text.value });
    }
    return [...new Set([...declared.names.filter((name) => this.#byName.has(name)), ...missing])].sort();
  }

  #reportUnknownReference({ field, text, start, end, ref }: StateReference, declared: DeclaredState): void {
    const candidates =
      declared.names.length > 0 && !declared.isAll ? [...declared.names, ...this.names] : this.names;
    const certain = certainName(field, [...new Set(candidates)]);
    const at = text.value.slice(start, end).indexOf(field, 'state'.length);
    const range =
      at === -1 ? undefined : writtenRange(this.#reports, text, start + at, start + at + field.length);
    const edit =
      certain === undefined || range === undefined ? undefined : this.#reports.edit(range, certain);
    const params = { workflow: this.#workflow, field, suggestion: nearestName(field, this.names) };
    const span = ref.at ?? this.#reports.source.span(text.start, text.end);
    this.#reports.reportAt('SW4031', span, params, { edit });
  }

  #reportUndeclared(
    spec: StepSpec,
    declared: DeclaredState,
    missing: readonly string[],
    { ref, text, field }: StateReference,
  ): void {
    const names = [...declared.texts.map(({ value }) => value), ...missing];
    const line = `needs_state: ${JSON.stringify(names).replaceAll('","', '", "')}`;
    const hint = `write \`${line}\``;
    const edit = this.#declaring(spec, declared, missing, line);
    const span = ref.at ?? this.#reports.source.span(text.start, text.end);
    this.#reports.reportAt('SW4033', span, { step: spec.id, field }, { hint, edit });
  }

  /** The edit that declares fields. */
  #declaring({ fields }: StepSpec, { list, texts }: DeclaredState, missing: readonly string[], line: string) {
    const { text } = this.#reports.source;
    if (list === undefined) {
      return fields.has('needs_state') ? undefined : keyBehind(this.#reports, fields, 'type', line);
    }
    const names = missing.map((name) => JSON.stringify(name)).join(', ');
    const last = texts.at(-1);
    if (text[list.start] === '[') {
      const at = last?.end ?? list.start + 1;
      return this.#reports.edit({ start: at, end: at }, last === undefined ? names : `, ${names}`);
    }
    if (last === undefined) return undefined;
    const indent = /[^\n]*$/.exec(text.slice(0, last.start))?.[0] ?? '';
    const lines = missing.map((name) => `\n${indent}${name}`).join('');
    return /^\s*- $/.test(indent) ? this.#reports.edit({ start: last.end, end: last.end }, lines) : undefined;
  }
}

/** `needs_state` of a step. */
export interface DeclaredState {
  readonly list: LocatedList | undefined;
  readonly texts: readonly LocatedText[];
  readonly isAll: boolean;
  readonly names: readonly string[];
}
