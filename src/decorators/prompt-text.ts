import { decorationFaults } from './faults.js';
import { readMetadata } from './metadata.js';
import type { Handle } from './prompt-content.js';

/** What may stand between the braces of {@link prompt}: text, numbers, booleans, other prompt text and handles. */
export type PromptPart = string | number | boolean | PromptText | Handle;

/**
 * Text with handles in it, as {@link prompt} makes it. Read as text, a tool or workflow stands as its name, a resource
 * as its address.
 *
 * It is a `String`, so that it has every method of the text it is typed as.
 */
export class PromptText extends String {
  /** Text and handles in turn; no text is empty, and no two stand side by side. */
  readonly parts: readonly (string | Handle)[];

  /** @throws TypeError for a class without a decorator of this package. */
  constructor(parts: readonly (string | Handle)[]) {
    super(parts.map((part) => (typeof part === 'string' ? part : handleText(part))).join(''));
    this.parts = parts;
  }
}

/**
 * Text that may name tools, workflows and resources by their classes. The one tag that runs: elsewhere than in a
 * workflow it gives a {@link PromptText}.
 *
 * @example
 * ```ts
 * user(prompt`Review this ${language} code with ${AnalyzeCode}, as ${StyleGuide} says`)
 * ```
 * @throws TypeError for a value that is no text, number or boolean, and no class with a decorator of this package.
 */
export function prompt(texts: TemplateStringsArray, ...values: readonly PromptPart[]): PromptText & string {
  const parts: (string | Handle)[] = [];
  const add = (part: string | Handle): void => {
    const last = parts.at(-1);
    if (typeof part !== 'string') parts.push(part);
    else if (typeof last === 'string') parts[parts.length - 1] = last + part;
    else if (part !== '') parts.push(part);
  };
  for (const [index, raw] of texts.raw.entries()) {
    // An escape that means nothing, as in a path on Windows, leaves no text but the one that was written.
    add((texts as readonly (string | undefined)[])[index] ?? raw);
    if (index < values.length) for (const part of partsOf(values[index])) add(part);
  }
  return new PromptText(parts) as PromptText & string;
}

function partsOf(value: unknown): readonly (string | Handle)[] {
  if (value instanceof PromptText) return value.parts;
  switch (typeof value) {
    case 'string':
      return [value];
    case 'number':
    case 'boolean':
      return [String(value)];
    case 'function':
      return [value as Handle];
    default:
      throw new TypeError(decorationFaults.promptPart(value === null ? 'null' : typeof value));
  }
}

function handleText(handle: Handle): string {
  const metadata = readMetadata(handle);
  switch (metadata?.kind) {
    case 'tool':
    case 'workflow':
      return metadata.options.name;
    case 'resource':
      return metadata.uri ?? metadata.uriTemplate;
    case 'prompt':
    case 'state':
    case undefined:
      throw new TypeError(decorationFaults.notAHandle(handle.name));
    default:
      return metadata satisfies never;
  }
}
