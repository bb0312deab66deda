import type { Json } from '../graph/json.js';
import type { Place } from '../graph/place.js';

/**
 * Source code as codegen sees it: plain data, free of any compiler's types. `source-host` makes it, `extract` reads it.
 */
export interface SourceFileSyntax {
  /** Relative to the project root, with `/`. */
  readonly file: string;
  readonly classes: readonly ClassSyntax[];
  readonly faults: readonly { readonly message: string; readonly place: Place }[];
}

export interface ClassSyntax {
  /** Empty for an anonymous class. */
  readonly name: string;
  /** Where the name stands, or the `class` keyword. */
  readonly place: Place;
  readonly exported: boolean;
  /** The name it is exported by, `default` included. */
  readonly exportName?: string;
  /** Where the class it extends is named. */
  readonly base?: Place;
  readonly decorators: readonly DecoratorSyntax[];
  /** In written order. Like `methods` empty for a class without any decorator: nothing reads those. */
  readonly fields: readonly FieldSyntax[];
  readonly methods: readonly MethodSyntax[];
}

export interface DecoratorSyntax {
  readonly callee: SymbolSyntax;
  readonly place: Place;
  /** False for a bare `@Step`, without parentheses. */
  readonly called: boolean;
  readonly args: readonly ExpressionSyntax[];
}

export interface FieldSyntax {
  readonly name: string;
  readonly place: Place;
  readonly isStatic: boolean;
  readonly optional: boolean;
  readonly decorators: readonly DecoratorSyntax[];
  readonly type?: TypeSyntax;
  readonly initializer?: ExpressionSyntax;
}

/** A method, or a field that holds a function. */
export interface MethodSyntax {
  readonly name: string;
  readonly place: Place;
  readonly parameters: readonly { readonly name: string; readonly type: TypeSyntax }[];
  readonly returns: TypeSyntax;
}

/** A resolved type, as far as JSON Schema can say it. `Arg<T>` and `Promise<T>` are already unwrapped. */
export type TypeSyntax =
  | { readonly kind: 'string' | 'number' | 'boolean' | 'null' | 'undefined' | 'unknown' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'array'; readonly items: TypeSyntax }
  | {
      readonly kind: 'object';
      readonly properties: readonly {
        readonly name: string;
        readonly optional: boolean;
        readonly type: TypeSyntax;
      }[];
    }
  | { readonly kind: 'union'; readonly members: readonly TypeSyntax[] }
  /** No JSON form, or none that is read yet; `text` is the type as TypeScript prints it. */
  | { readonly kind: 'other'; readonly text: string };

/** What a name means, followed through imports, aliases, namespaces and re-exports. */
export type SymbolSyntax =
  /** An export of this package: `call`, `Tool`, … */
  | { readonly kind: 'stepwright'; readonly name: string }
  | { readonly kind: 'class'; readonly file: string; readonly name: string; readonly place: Place }
  | { readonly kind: 'other'; readonly name: string }
  | { readonly kind: 'unresolved'; readonly name: string };

/** Syntax without a neutral form. */
export interface Unsupported {
  /** As an author would name it: "a class expression", "`await`". */
  readonly unsupported: string;
  /** What to write instead, where that is short. */
  readonly instead?: string;
}

interface ExpressionBase {
  readonly place: Place;
}

export type ExpressionSyntax = ExpressionBase &
  (
    | {
        readonly kind: 'literal';
        readonly value: Json;
        /** Set for text that stands in the source as it is, without escapes: offsets in it are offsets in the source. */
        readonly verbatim?: true;
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
        readonly namePlace: Place;
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
      }
    | {
        readonly kind: 'object';
        readonly entries: readonly (
          | { readonly key: string; readonly keyPlace: Place; readonly value: ExpressionSyntax }
          | { readonly spread: ExpressionSyntax }
          | ({ readonly place: Place } & Unsupported)
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
    | { readonly kind: 'parenthesized'; readonly inner: ExpressionSyntax }
    | {
        readonly kind: 'arrow';
        readonly parameters: readonly { readonly name: string; readonly place: Place }[];
        /** Missing for a body of statements. */
        readonly body?: ExpressionSyntax;
      }
    | ({ readonly kind: 'unsupported' } & Unsupported)
  );
