import type { Patterns, SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import type { JsonSchema } from '../../graph/json.js';
import type { Graph, Input } from '../../graph/model.js';
import { standardSchema } from '../catalogue/catalogue.js';
import { schemaProblems } from '../catalogue/problems.js';
import type { Registry } from '../catalogue/registry.js';
import {
  DefaultMismatchError,
  type RegistrationProblem,
  UnusableSchemaError,
} from './registration-problems.js';

/**
 * What is wrong with the schemas a server would check values by, and with the defaults of arguments.
 * The regular expressions of a tool with a schema of its author's own are the author's affair.
 *
 * @param built graphs beside those of the registry.
 */
export function schemaFaults(
  registry: Registry,
  built: readonly Graph[],
  schemas: SchemaCompiler,
): RegistrationProblem[] {
  const decorated = Object.values(registry.workflows).map(({ graph }) => graph);
  return [
    ...Object.entries(registry.tools).flatMap(([name, { class: cls, inputSchema, outputSchema }]) => {
      const tell = (side: 'input' | 'output', schema: JsonSchema) => {
        const patterns: Patterns = standardSchema(cls, side) === undefined ? 'all' : 'usable';
        return schemas
          .faults(schema, patterns)
          .map((fault) => new UnusableSchemaError({ kind: 'tool', name, side }, fault));
      };
      return [
        ...tell('input', inputSchema),
        ...(outputSchema === undefined ? [] : tell('output', outputSchema)),
      ];
    }),
    ...[...decorated, ...built].flatMap(({ name, inputs }) =>
      argumentFaults('workflow', name, inputs, schemas),
    ),
    ...Object.entries(registry.prompts ?? {}).flatMap(([name, prompt]) =>
      argumentFaults('prompt', name, prompt.arguments, schemas),
    ),
  ];
}

function argumentFaults(
  kind: 'workflow' | 'prompt',
  owner: string,
  inputs: readonly Input[],
  schemas: SchemaCompiler,
): RegistrationProblem[] {
  return inputs.flatMap(({ name, schema, default: standing }): RegistrationProblem[] => {
    const argument = { kind, name: owner, argument: name } as const;
    const faults = schemas.faults(schema);
    if (faults.length > 0 || standing === undefined) {
      return faults.map((fault) => new UnusableSchemaError(argument, fault));
    }
    return schemaProblems(schemas.check(schema, standing), schema).map(
      ({ message }) => new DefaultMismatchError(argument, message),
    );
  });
}
