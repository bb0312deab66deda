export { ts } from 'ts-morph';

/** The text of a declaration file of the language, such as `lib.es2022.d.ts`; nothing for another name. */
export declare function libraryText(name: string): string | undefined;
