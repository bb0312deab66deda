import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const STEPS = 10;

const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'ES2022', module: 'NodeNext', strict: true, noEmit: true, skipLibCheck: true },
    ...{ experimentalDecorators: true, types: [] },
  },
  include: ['src', 'generated'],
};

/** Writes a project of workflows of ten steps each. Each step calls one of the tools with the results of the one before. */
export function writeProject(
  root: string,
  counts: { readonly workflows: number; readonly tools: number; readonly schemas: 'types' | 'zod' },
): void {
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  };
  mkdirSync(path.join(root, 'node_modules'));
  write('package.json', JSON.stringify({ name: 'project', type: 'module' }));
  write('tsconfig.json', JSON.stringify(TSCONFIG));
  write('tsconfig.sources.json', JSON.stringify({ ...TSCONFIG, include: ['src'] }));
  // As the program that serves the registry does.
  write('src/main.ts', "export { serve } from 'stepwright/runtime';\n");
  for (let each = 0; each < counts.tools; each += 1)
    write(`src/tool${each}.ts`, counts.schemas === 'zod' ? toolOfZod(each) : tool(each));
  for (let each = 0; each < counts.workflows; each += 1) {
    const called = Array.from({ length: STEPS }, (_, step) => (each * 7 + step) % counts.tools);
    write(`src/flow${each}.ts`, workflow(each, called));
  }
}

const tool = (index: number): string => `import { Tool } from 'stepwright';

export interface Input${index} {
  name: string;
  count: number;
  tags: string[];
}

@Tool({ name: 'tool-${index}', description: 'Counts ${index}' })
export class Tool${index} {
  execute({ name, count, tags }: Input${index}): { id: string; total: number; labels: string[] } {
    return { id: name, total: count, labels: tags };
  }
}
`;

const toolOfZod = (index: number): string => `import { Tool } from 'stepwright';
import { z } from 'zod';

const input = z.object({ name: z.string(), count: z.number(), tags: z.array(z.string()) });
const output = z.object({ id: z.string(), total: z.number(), labels: z.array(z.string()) });

@Tool({ name: 'tool-${index}', description: 'Counts ${index}', input, output })
export class Tool${index} {
  execute({ name, count, tags }: z.infer<typeof input>): z.infer<typeof output> {
    return { id: name, total: count, labels: tags };
  }
}
`;

const workflow = (
  index: number,
  called: readonly number[],
): string => `import { Arg, call, Step, Workflow } from 'stepwright';
${[...new Set(called)].map((each) => `import { Tool${each} } from './tool${each}.js';`).join('\n')}

@Workflow({ name: 'flow-${index}', description: 'Counts ${index}' })
export class Flow${index} {
  @Arg({ description: 'What is counted' }) name!: Arg<string>;
${called.map((each, step) => `  @Step() s${step} = call(Tool${each}, { ${input(step)}, tags: ['a', 'b'] });`).join('\n')}
}
`;

const input = (step: number): string =>
  step === 0 ? 'name: this.name, count: 1' : `name: this.s${step - 1}.id, count: this.s${step - 1}.total`;
