/**
 * The variables of a URI template, from its literal type. Templates are those of RFC 6570 up to level 2:
 * `{name}`, `{+path}` and `{#part}`, one variable each.
 */

/** What is written between the braces of a template. */
type ExpressionsOf<Template extends string> = Template extends `${string}{${infer Inside}}${infer Rest}`
  ? Inside | ExpressionsOf<Rest>
  : never;

type NameIn<Inside extends string> = Inside extends `${'+' | '#'}${infer Name}` ? Name : Inside;

/** The names of a template's variables. */
export type VariableNames<Template extends string> = NameIn<ExpressionsOf<Template>>;

/** A template's variables as a reader is given them: text, decoded. */
export type VariablesOf<Template extends string> = { readonly [Name in VariableNames<Template>]: string };

/** A template's variables as a caller gives them; they are percent-encoded on the way into the address. */
export type VariableValues<Template extends string> = {
  readonly [Name in VariableNames<Template>]: string | number;
};

/** A character that no variable's name has: those of operators and modifiers that levels 3 and 4 bring. */
type Foreign = ',' | '*' | ':' | '.' | '/' | ';' | '?' | '&' | '=' | '!' | '@' | '|' | ' ' | '{';

/** The expressions of a template that are beyond level 2, or name nothing. */
type BeyondLevel2<Inside extends string> = Inside extends unknown
  ? NameIn<Inside> extends '' | `${string}${Foreign}${string}`
    ? Inside
    : never
  : never;

/** Why a text cannot be a template, or `never`. The texts reach authors. */
export type TemplateFault<Template extends string> = string extends Template
  ? ["write the template as a literal: static readonly uriTemplate = '…'"]
  : [ExpressionsOf<Template>] extends [never]
    ? ['a template has variables, such as {name}; an address without any is `static readonly uri`']
    : [BeyondLevel2<ExpressionsOf<Template>>] extends [never]
      ? never
      : ['a variable is written {name}, {+name} or {#name}, not', BeyondLevel2<ExpressionsOf<Template>>];
