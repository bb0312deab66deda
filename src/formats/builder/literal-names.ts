/**
 * What is wrong with a name, from its literal type. Characters beyond ASCII and lengths are left to the check at run time,
 * which every name goes through; text that is known at run time only is left to it altogether.
 */

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';

/** ASCII that no name of ours holds; `$ - .` are in some. */
// biome-ignore format: one line is read more easily
type Foreign = ' ' | '\t' | '\n' | '!' | '"' | '#' | '%' | '&' | "'" | '(' | ')' | '*' | '+' | ',' | '/' | ':' | ';' | '<' | '=' | '>' | '?' | '@' | '[' | '\\' | ']' | '^' | '`' | '{' | '|' | '}' | '~';

type Holding<Part extends string> = `${string}${Part}${string}`;

type Malformed = {
  readonly binding: '' | '__proto__' | Holding<Foreign | '-' | '.'> | `${Digit}${string}`;
  readonly argument: '' | '__proto__' | Holding<Foreign> | `${Digit | '-' | '.'}${string}`;
  readonly tool: '' | '__proto__' | Holding<Foreign | '$'>;
  readonly field: '' | '__proto__' | Holding<Foreign | '..'> | `.${string}` | `${string}.`;
};

/** What such a name is, for the author who reads the error. */
type Expected = {
  readonly binding: 'a binding is an identifier';
  readonly argument: 'an argument is an identifier, with . and - inside';
  readonly tool: 'a tool has a name of A-Z, a-z, 0-9, _, - and .';
  readonly field: 'a field path is properties and indexes joined by dots; write other keys as a list';
};

/** Why a literal is no name of this kind, or `unknown`. The text reaches authors. */
export type LiteralFault<N extends string, Kind extends keyof Malformed> = string extends N
  ? unknown
  : N extends Malformed[Kind]
    ? [Expected[Kind]]
    : unknown;
