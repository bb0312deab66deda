/** Why a class, a schema or a file could not be read: what stands behind the colon of SW6001 to SW6007. */
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
  threw: (value: string) => `it threw ${value}`,
  noMessage: 'no message',
  absolutePath: 'write a path relative to the class',
  outsidePath: 'the file lies outside of the project',
  tooLarge: (bytes: number, limit: number) => `it has ${bytes} bytes, and at most ${limit} can be embedded`,
  notText: 'it is not UTF-8 text',
  noFile: 'there is no such file',
  isFolder: 'it is a folder',
  notPermitted: 'it is not permitted to read it',
} as const;
