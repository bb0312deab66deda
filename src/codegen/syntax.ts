import { defined } from '../graph/defined.js';
import type { Json } from '../graph/json.js';
import type { SourceLocation } from '../graph/source-location.js';

/**
 * Source code as codegen sees it: plain data, free of any compiler's types. `source` makes it, `extract` reads it.
 */
export interface SourceFileSyntax {
  /** Relative to the project root, with `/`. */
  readonly file: string;
  readonly classes: readonly ClassSyntax[];
  /** One for every other module that imports this one and is imported by it, directly or not. Usually none. */
  readonly cycles: readonly ImportCycle[];
  /** The classes it names in prompt text and messages, outside of workflow classes. */
  readonly handles: readonly HandleSyntax[];
  readonly instances: readonly InstanceSyntax[];
  readonly faults: readonly SyntaxFault[];
  /** Set where the compiler was not asked for the types of conditions. */
  readonly isUntyped?: true;
}

/** What keeps a file from being read. */
interface SyntaxFault {
  readonly message: string;
  readonly place: SourceLocation;
  /** Set where it is nested too deeply: the limit. */
  readonly maxDepth?: number;
  /** Set where its text cannot be had. */
  readonly isUnreadable?: true;
}

/** How a relative import names a TypeScript file: `./x.js` by its output, `./x.ts` as it is, or `./x`. */
export type ImportEnding = 'js' | 'ts' | 'none';

/** A class that is named in prompt text or a message. */
export interface HandleSyntax {
  /** What it is given to: `prompt`, `user`, … */
  readonly verb: string;
  readonly handle: ExpressionSyntax;
}

/** An instance of a workflow class: `new W()`. */
export interface InstanceSyntax {
  /** As written. */
  readonly className: string;
  readonly place: SourceLocation;
}

/** How a module that this one imports leads back to it. */
export interface ImportCycle {
  /** The module, relative to the project root. */
  readonly file: string;
  /** The shortest path back: the importing modules, and the locations of their imports. */
  readonly back: readonly { readonly file: string; readonly place: SourceLocation }[];
}

/** A comment `// stepwright-ignore …`. */
export interface IgnoreSyntax {
  readonly place: SourceLocation;
  /** What follows the name of the comment, without white space around it. */
  readonly text: string;
  /** The first and the last line it applies to: its own, or those of the code below it. */
  readonly lines: readonly [first: number, last: number];
}

export interface ClassSyntax {
  /** Empty for an anonymous class. */
  readonly name: string;
  /** The location of the name, or of the `class` keyword. */
  readonly place: SourceLocation;
  readonly exported: boolean;
  /** Set for one inside a namespace, a function or an expression. */
  readonly isNested?: true;
  /** The name it is exported by, `default` included. */
  readonly exportName?: string;
  /** The class it extends. */
  readonly base?: BaseSyntax;
  readonly abstract?: SourceLocation;
  /** Where its type parameters are declared, from the first to the last. */
  readonly typeParameters?: SourceLocation;
  readonly decorators: readonly DecoratorSyntax[];
  /** In written order. Like `methods` empty for a class without any decorator: nothing reads those. */
  readonly fields: readonly FieldSyntax[];
  readonly methods: readonly MethodSyntax[];
  /** Members that are not fields, in source order; parameters only if they have a decorator. */
  readonly others: readonly MemberSyntax[];
}

/** What a class extends. */
export interface BaseSyntax {
  /** As written. */
  readonly name: string;
  /** Where it is named. */
  readonly place: SourceLocation;
  /** The fields under @Arg or @Step that it declares or inherits itself. */
  readonly fields: readonly { readonly name: string; readonly place: SourceLocation }[];
}

/** A member of a class that is not a field, or a parameter of a member. */
export interface MemberSyntax {
  /** Empty for a static block and an index signature. */
  readonly name: string;
  readonly what:
    | 'a method'
    | 'an accessor'
    | 'a constructor'
    | 'a static block'
    | 'an index signature'
    | 'a parameter';
  /** The location of its name, or of its first token. */
  readonly place: SourceLocation;
  readonly decorators: readonly DecoratorSyntax[];
}

export interface DecoratorSyntax {
  readonly callee: SymbolSyntax;
  readonly place: SourceLocation;
  /** False for a bare `@Step`, without parentheses. */
  readonly called: boolean;
  readonly args: readonly ExpressionSyntax[];
  /** Those among the options of a tool; missing where there are none. */
  readonly schemas?: WrittenSchemas;
}

/** The schemas of a tool, or of the reply of an agent, that are written out. */
export interface WrittenSchemas {
  readonly input?: SchemaSyntax;
  readonly output?: SchemaSyntax;
  readonly response?: SchemaSyntax;
}

/** An expression that makes a schema: calls of what a library exports, with literals. */
export type SchemaSyntax =
  | { readonly kind: 'library'; readonly specifier: string }
  | { readonly kind: 'member'; readonly of: SchemaSyntax; readonly name: string }
  | { readonly kind: 'call'; readonly callee: SchemaSyntax; readonly args: readonly SchemaSyntax[] }
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'list'; readonly items: readonly SchemaSyntax[] }
  | {
      readonly kind: 'object';
      readonly entries: readonly (
        | { readonly key: string; readonly value: SchemaSyntax }
        | { readonly spread: SchemaSyntax }
      )[];
    };

export interface FieldSyntax {
  readonly name: string;
  readonly place: SourceLocation;
  readonly isStatic: boolean;
  readonly optional: boolean;
  readonly decorators: readonly DecoratorSyntax[];
  /** Of an argument, and of the fields of state and agents. */
  readonly type?: TypeSyntax;
  /** Set where its type is written out. */
  readonly isAnnotated?: true;
  readonly initializer?: ExpressionSyntax;
}

/** What keeps a member from being called on an instance, or from being a method. */
export type MethodFault = 'static' | 'private' | 'protected' | 'abstract' | 'a field' | 'an accessor';

/** A method, or a field that holds a function. Of overloads there is one for each signature that callers see. */
export interface MethodSyntax {
  readonly name: string;
  /** The location of its name; for an inherited method, of the base class's name. */
  readonly place: SourceLocation;
  readonly isInherited?: true;
  readonly fault?: MethodFault;
  readonly parameters: readonly ParameterSyntax[];
  /** Of `execute` alone. */
  readonly returns?: TypeSyntax;
  /** Set where one of its types was not asked for, since the class gives a schema itself. */
  readonly isUnread?: true;
  /** Where the type of the result is written, or the name of the method. */
  readonly returnsPlace: SourceLocation;
}

export interface ParameterSyntax {
  readonly name: string;
  readonly place: SourceLocation;
  /** Of the first parameter of `execute` only: the second is the context of the server. */
  readonly type?: TypeSyntax;
}

/** What the JSDoc of a property or of a named type says. */
export interface TypeNotes {
  /** The text before the tags. */
  readonly description?: string;
  /** In written order, whatever they mean. */
  readonly tags: readonly TypeTag[];
}

/** `@minimum 1`: what follows the name is its text, without white space around it. */
export interface TypeTag {
  readonly name: string;
  readonly text: string;
  readonly place: SourceLocation;
}

export interface PropertySyntax {
  readonly name: string;
  readonly optional: boolean;
  /** Set where it is declared as `Arg<T, 'default'>`. */
  readonly hasDefault?: true;
  readonly type: TypeSyntax;
  /** The location of its name; absent outside the project. */
  readonly place?: SourceLocation;
}

/** A type name that does not resolve, so that the type is `any`. */
export interface UnresolvedType {
  readonly name: string;
  readonly place: SourceLocation;
  /** The module it is imported from, as written; missing for a name that is not declared. */
  readonly specifier?: string;
  /** Whether there is such a module, with declarations. */
  readonly isModuleKnown: boolean;
}

/** A resolved type, as far as JSON Schema can say it. `Arg<T>` and `Promise<T>` are already unwrapped. */
export type TypeSyntax = { readonly notes?: TypeNotes } & (
  | { readonly kind: 'string' | 'number' | 'boolean' | 'null' | 'undefined' }
  | { readonly kind: 'unknown'; readonly written?: 'any'; readonly unresolved?: UnresolvedType }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  /** A template literal type; `pattern` is a regular expression for all of the text. */
  | { readonly kind: 'template'; readonly pattern: string; readonly text: string }
  | { readonly kind: 'array'; readonly items: TypeSyntax }
  /** `required` counts the items that must be there; all after them, `rest` included, may be missing. */
  | {
      readonly kind: 'tuple';
      readonly items: readonly TypeSyntax[];
      readonly required: number;
      readonly rest?: TypeSyntax;
    }
  | { readonly kind: 'object'; readonly properties: readonly PropertySyntax[] }
  /** An object with an index signature. */
  | {
      readonly kind: 'record';
      readonly properties: readonly PropertySyntax[];
      readonly keys: 'string' | 'number';
      readonly values: TypeSyntax;
    }
  | { readonly kind: 'union'; readonly members: readonly TypeSyntax[] }
  /** A type that contains itself: a `ref` of this name, in it or later, refers to it. */
  | { readonly kind: 'recursive'; readonly name: string; readonly type: TypeSyntax }
  | { readonly kind: 'ref'; readonly name: string }
  /** No JSON form; `text` is the type as TypeScript prints it. */
  | {
      readonly kind: 'other';
      readonly text: string;
      /** Set where it is the type's extent alone that keeps it from being read. */
      readonly extent?: 'deep' | 'large';
    }
);

/** What a name means, followed through imports, aliases, namespaces and re-exports. */
export type SymbolSyntax =
  /** An export of this package: `call`, `Tool`, … */
  | { readonly kind: 'stepwright'; readonly name: string }
  | {
      readonly kind: 'class';
      readonly file: string;
      readonly name: string;
      readonly place: SourceLocation;
      /** Set where it is imported as a type, so that there is no class at run time. */
      readonly typeOnly?: true;
      /** Set for a class of a package. */
      readonly imported?: PackageImport;
    }
  | FunctionSymbol
  | {
      readonly kind: 'other';
      readonly name: string;
      /** The module that declares it, relative to the project root; missing outside of the project. */
      readonly file?: string;
      /** What to write instead, where it was meant as a constant and is none. */
      readonly instead?: string;
    }
  | { readonly kind: 'unresolved'; readonly name: string; readonly from?: ImportedModule };

export interface PackageImport {
  /** As written: `@acme/tools`. */
  readonly specifier: string;
  /** The name that it is exported by, `default` included. */
  readonly name: string;
  /** The module that the specifier leads to, links resolved; relative to the project root. */
  readonly module: string;
}

export function importKey({ module, name }: Pick<PackageImport, 'module' | 'name'>): string {
  return `${module}#${name}`;
}

/** A module that does not export an imported name, or does not exist. */
export interface ImportedModule {
  /** As written: `./tools.js`. */
  readonly specifier: string;
  /** The name that is asked for, `default` included. */
  readonly name: string;
  /** The values it exports; missing where there is no such module. */
  readonly exports?: readonly { readonly name: string; readonly isClass: boolean }[];
  /** The module and those whose exports it passes on, as far as they are files of the project. */
  readonly files: readonly string[];
  /** Set for a module of a package. */
  readonly imported?: PackageImport;
}

/** A function that is written out: a declaration, or a constant that holds one. */
export interface FunctionSymbol {
  readonly kind: 'function';
  /** The name it is declared by; empty for an anonymous one. */
  readonly name: string;
  readonly file: string;
  readonly place: SourceLocation;
  /** The name its module exports it by, `default` included. */
  readonly exportName?: string;
  /** Its text, with line feeds: a declaration as a whole, of a constant the function alone. */
  readonly source: string;
  /** Why it cannot be called by name, as the end of a sentence: `it is asynchronous`. */
  readonly why?: string;
  /** The verb that throws when the function runs. */
  readonly verb?: VerbCall;
}

/** A call of a verb outside of a workflow class. */
export interface VerbCall {
  readonly name: string;
  /** Where the verb is named. */
  readonly place: SourceLocation;
}

/** Syntax without a neutral form. */
export interface Unsupported {
  /** As an author would name it: "a class expression", "`await`". */
  readonly unsupported: string;
  /** What to write instead, where that is short. */
  readonly instead?: string;
}

/** The name of a destructured parameter, which no author can write. */
export const PATTERN = '(item)';

/** A name that a pattern binds: of `({ id: key = 'none' })` it is `key`. */
export interface PatternName {
  readonly name: string;
  readonly place: SourceLocation;
  /** Its value, read from {@link PATTERN}. */
  readonly value: ExpressionSyntax;
}

interface ExpressionBase {
  readonly place: SourceLocation;
  /** Set for a condition whose value is a list or an object wherever it is there: it counts as true then. */
  readonly truth?: 'list' | 'object';
  /** Set for a template and a calculation of constants alone. */
  readonly constantValue?: Json;
}

export type ExpressionSyntax = ExpressionBase &
  (
    | {
        readonly kind: 'literal';
        readonly value: Json;
        /** Set for text without escapes: offsets in it are offsets in the source. */
        readonly verbatim?: true;
        /** The name of the constant: `LIMIT`, `Color.Red`. */
        readonly constant?: string;
        /** The module that the name is of, in the argument of a decorator: the module may not have run by then. */
        readonly file?: string;
      }
    | { readonly kind: 'undefined' }
    | { readonly kind: 'template'; readonly parts: readonly (string | ExpressionSyntax)[] }
    | {
        readonly kind: 'tagged';
        readonly tag: ExpressionSyntax;
        readonly parts: readonly (string | ExpressionSyntax)[];
      }
    | { readonly kind: 'this' }
    | { readonly kind: 'identifier'; readonly name: string; readonly symbol: SymbolSyntax }
    | {
        readonly kind: 'property';
        readonly object: ExpressionSyntax;
        readonly name: string;
        readonly namePlace: SourceLocation;
        readonly optional: boolean;
        /** Set for a member of a stepwright namespace import (`sw.call`) or of a class behind a namespace. */
        readonly symbol?: SymbolSyntax;
      }
    | {
        readonly kind: 'element';
        readonly object: ExpressionSyntax;
        readonly index: ExpressionSyntax;
        readonly optional: boolean;
      }
    | {
        readonly kind: 'call';
        readonly callee: ExpressionSyntax;
        readonly args: readonly ExpressionSyntax[];
        readonly optional: boolean;
        /** The type of its value, of a call of `ask.value` or `ask.model`. */
        readonly type?: TypeSyntax;
        /** What `response` says, of a call of `delegate`. */
        readonly schema?: SchemaSyntax;
        /** Set for a call inside `onClient`. */
        readonly executor?: 'client';
      }
    | {
        readonly kind: 'object';
        readonly entries: readonly (
          | { readonly key: string; readonly keyPlace: SourceLocation; readonly value: ExpressionSyntax }
          | { readonly spread: ExpressionSyntax }
          /** `key` names a method. */
          | ({ readonly place: SourceLocation; readonly key?: string } & Unsupported)
        )[];
      }
    | {
        readonly kind: 'array';
        readonly items: readonly { readonly value: ExpressionSyntax; readonly spread: boolean }[];
      }
    | {
        readonly kind: 'binary';
        readonly operator: string;
        readonly left: ExpressionSyntax;
        readonly right: ExpressionSyntax;
      }
    | { readonly kind: 'prefix'; readonly operator: string; readonly operand: ExpressionSyntax }
    | {
        readonly kind: 'conditional';
        readonly test: ExpressionSyntax;
        readonly then: ExpressionSyntax;
        readonly else: ExpressionSyntax;
      }
    /** Kept because `(a?.b).c` ends the optional chain. */
    | {
        readonly kind: 'parenthesized';
        readonly inner: ExpressionSyntax;
        /**
         * Set for `value as T` where it says which of several objects the value is, and for an object of which the
         * compiler knows that a field may not be there.
         */
        readonly isClaim?: true;
        /** Set for `value!` and `value as T` where the value may be null or absent: where the whole is written. */
        readonly hidesAbsence?: SourceLocation;
      }
    | {
        readonly kind: 'arrow';
        readonly parameters: readonly ({
          /** {@link PATTERN} for one that is taken apart. */
          readonly name: string;
          readonly place: SourceLocation;
          readonly pattern?: readonly PatternName[];
        } & Partial<Unsupported>)[];
        /** Missing for a body of statements. */
        readonly body?: ExpressionSyntax;
        /** Set for `async`. */
        readonly isAsync?: true;
      }
    /** `text` is its source, where that is short and on one line. */
    /** `tooDeep` marks where the whole expression becomes too deep; then this part of it was left out. */
    | ({
        readonly kind: 'unsupported';
        readonly text?: string;
        readonly tooDeep?: SourceLocation;
      } & Unsupported)
  );

/** A type without its `undefined` members. */
export function withoutUndefined(type: TypeSyntax): TypeSyntax {
  if (type.kind !== 'union') return type;
  const members = type.members.filter((member) => member.kind !== 'undefined');
  if (members.length === type.members.length) return type;
  const [only] = members;
  return only !== undefined && members.length === 1
    ? withNotes(only, type.notes)
    : { ...type, kind: 'union', members };
}

/** A type with notes added to its own; the added ones win. */
export function withNotes(type: TypeSyntax, notes: TypeNotes | undefined): TypeSyntax {
  if (notes === undefined) return type;
  const said = new Set(notes.tags.map(({ name }) => name));
  const description = notes.description ?? type.notes?.description;
  const tags = [...notes.tags, ...(type.notes?.tags ?? []).filter(({ name }) => !said.has(name))];
  return { ...type, notes: { ...defined({ description }), tags } };
}

/** A type as an author would write it, on one line. */
export function printType(type: TypeSyntax): string {
  switch (type.kind) {
    case 'literal':
      return JSON.stringify(type.value);
    case 'array': {
      const items = printType(type.items);
      return type.items.kind === 'union' ? `(${items})[]` : `${items}[]`;
    }
    case 'tuple': {
      const items = type.items.map((item, i) => `${printType(item)}${i < type.required ? '' : '?'}`);
      const rest = type.rest === undefined ? [] : [`...${printType({ kind: 'array', items: type.rest })}`];
      return `[${[...items, ...rest].join(', ')}]`;
    }
    case 'object':
      return type.properties.length === 0 ? '{}' : `{ ${type.properties.map(printProperty).join('; ')} }`;
    case 'record': {
      const values = printType(type.values);
      if (type.properties.length === 0) return `Record<${type.keys}, ${values}>`;
      return `{ ${[...type.properties.map(printProperty), `[key: ${type.keys}]: ${values}`].join('; ')} }`;
    }
    case 'union':
      return type.members.map(printType).join(' | ');
    case 'recursive':
      return printType(type.type);
    case 'ref':
      return type.name;
    case 'other':
    case 'template':
      return type.text;
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'undefined':
      return type.kind;
    case 'unknown':
      return type.written ?? type.kind;
    default:
      return type satisfies never;
  }
}

function printProperty({ name, optional, type }: PropertySyntax): string {
  return `${name}${optional ? '?' : ''}: ${printType(type)}`;
}

/** The first name in a type that does not resolve: further diagnostics of the type would be unreliable. */
export function unresolvedType(type: TypeSyntax): UnresolvedType | undefined {
  switch (type.kind) {
    case 'unknown':
      return type.unresolved;
    case 'array':
      return unresolvedType(type.items);
    case 'tuple':
      return firstUnresolved([...type.items, ...(type.rest === undefined ? [] : [type.rest])]);
    case 'object':
      return firstUnresolved(type.properties.map((property) => property.type));
    case 'record':
      return firstUnresolved([...type.properties.map((property) => property.type), type.values]);
    case 'union':
      return firstUnresolved(type.members);
    case 'recursive':
      return unresolvedType(type.type);
    default:
      return undefined;
  }
}

function firstUnresolved(types: readonly TypeSyntax[]): UnresolvedType | undefined {
  for (const type of types) {
    const result = unresolvedType(type);
    if (result !== undefined) return result;
  }
  return undefined;
}

/** Why a name does not resolve, as the end of a sentence. */
export function whyUnresolved({ specifier, isModuleKnown }: UnresolvedType): string {
  if (specifier === undefined) return 'it is not declared';
  return isModuleKnown
    ? `\`${specifier}\` does not export it`
    : `its import from \`${specifier}\` cannot be resolved, or has no types`;
}
