/** Why a class, a schema or a file could not be read: the part of SW6001 to SW6011 behind the colon. */
export const texts = {
  noStandardSchema: 'it is not a Standard Schema',
  noJsonSchema: (vendor: string) =>
    `\`${vendor}\` offers no JSON Schema for it (\`~standard.jsonSchema\` is missing)`,
  noObject: 'its JSON Schema is not an object',
  oldSchema: 'zod 3 schemas have none: use zod 4',
  oldZod: 'the installed zod has no `toJSONSchema`: use zod 4',
  at: (message: string, path: string) => `${message} (at \`${path}\`)`,
  noClass: (exportName: string) => `the module has no class under the name \`${exportName}\``,
  noMetadata: 'no decorator of stepwright has recorded anything on it',
  otherKind: (actual: string, expected: string) => `it is a ${actual}, not a ${expected}`,
  exited: (code: number) => `it ended the process with exit code ${code}`,
  killed: (signal: string) => `its process was ended by ${signal}`,
  aborted: (heapMb: number) =>
    `its process was aborted, as Node aborts one whose heap is full (${heapMb} MiB)`,
  notStarted: (seconds: number) => `it did not start within ${seconds} s`,
  stopped: {
    cpu: ({ cpuMs }: { readonly cpuMs: number }) => `it used ${cpuMs / 1000} s of CPU time`,
    wait: ({ waitMs }: { readonly waitMs: number }) =>
      `it waits: it used under ${waitMs / 100_000} s of CPU time in ${waitMs / 1000} s`,
    unsettled: () => 'it awaits a promise that can no longer be settled',
  },
  threw: (value: string) => `it threw ${value}`,
  noMessage: 'no message',
  absolutePath: 'write a path relative to the class',
  outsidePath: 'the file is outside the project',
  outsidePackage: 'it is not text or too large to be embedded, and is outside the package of the registry',
  noFile: 'there is no such file',
  isFolder: 'it is a folder',
  notPermitted: 'it is not permitted to read it',
  takeAnObject: 'MCP tools take objects: `execute({ … }: { … })`',
  overload: 'another signature of `execute`',
  mustBe: (what: string) => `must be ${what}`,
  notAbout: (what: 'number' | 'string' | 'array') =>
    `is about ${what === 'array' ? 'an' : 'a'} ${what}, which this is not`,
  noJsonForm: (path: string, type: string) =>
    `\`${path}\` is of the type \`${type}\`, which has no JSON form`,
  badPattern: (path: string, pattern: string, problem: string) =>
    `the pattern \`${pattern}\` at \`${path}\` ${problem}`,
  badTag: (path: string, tag: string, problem: string) => `\`@${tag}\` of \`${path}\` ${problem}`,
  insteadOf,
  extents: {
    deep: 'it is nested without end: give the tool a schema, `input: z.object({ … })`',
    large: 'the type has too many parts to be written out: name what the tool needs of it',
  },
} as const;

/** What to write instead of a type without a JSON form. */
const INSTEAD: readonly (readonly [RegExp, string])[] = [
  [/^Date$/, 'take text: `/** @format date-time */ when: string`'],
  [/^bigint$/, 'take a number, or text'],
  [/^(Readonly)?(Weak)?Map\b/, 'take `Record<string, …>`'],
  [/^(Readonly)?(Weak)?Set\b/, 'take a list'],
  [/^(Buffer|Uint8Array|ArrayBuffer)\b/, 'take text in base64: `/** @format byte */ bytes: string`'],
  [/^URL$/, 'take text: `/** @format uri */ url: string`'],
  [/^RegExp$/, 'take its source as text'],
  [/^(any|unknown)$/, 'write its type'],
  [/^Promise\b/, 'take what it resolves to'],
];

function insteadOf(type: string): string | undefined {
  return INSTEAD.find(([pattern]) => pattern.test(type))?.[1];
}
