/**
 * A repository of an author: a package with workflows, which imports TypeScript of another one, types of an installed
 * package through a second one, and compiler options of a third one.
 */
export const PROJECT: Readonly<Record<string, string | object>> = {
  'packages/app/package.json': {
    ...{ name: '@acme/app', type: 'module' },
    dependencies: { '@acme/words': 'workspace:*', stepwright: '*', zod: '*', forecasts: '*' },
    devDependencies: { esbuild: '*', 'ts-morph': '*', options: '*' },
  },
  'packages/app/tsconfig.json': { extends: 'options/tsconfig.json', include: ['src', 'generated'] },
  'packages/app/src/greet.ts': `import { Tool } from 'stepwright';
import { z } from 'zod';
import { greeting, name } from '@acme/words';

@Tool({
  name: 'greet',
  description: 'Greets',
  input: z.object({ name: name.describe(\`Who hears \${greeting}\`) }),
})
export class Greet {
  execute({ name }: { name: string }): { text: string } {
    return { text: \`\${greeting} \${name}\` };
  }
}
`,
  'packages/app/src/forecast.ts': `import { Tool } from 'stepwright';
import type { Extent } from '@acme/words';
import type { Forecast } from 'forecasts';

@Tool({ name: 'forecast', description: 'Forecasts the weather' })
export class Forecaster {
  execute({ last }: { last: Forecast; extent: Extent }): Forecast {
    return last;
  }
}
`,
  'packages/app/src/hello.ts': `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { Greet } from './greet.js';

@Workflow({ name: 'hello', description: 'Greets somebody' })
export class Hello {
  @Arg({ description: 'Who' }) who!: Arg<string>;
  @Step() greeted = call(Greet, { name: this.who });
  output = done({ text: this.greeted.text });
}
`,
  // Yarn gives a package with peer dependencies a path for each set of them.
  'packages/words/package.json': {
    ...{ name: '@acme/words', version: '1.0.0', type: 'module', exports: './src/index.js' },
    peerDependencies: { zod: '*' },
    devDependencies: { zod: '*' },
  },
  'packages/words/src/index.ts': `import { z } from 'zod';
import { rest } from './rest.js';
export const greeting: string = \`Hel\${rest}\`;
export const name = z.string();
export interface Extent {
  days: 1 | 7;
}
`,
  'packages/words/src/rest.ts': "export const rest = 'lo';\n",
  'installed/forecasts/package.json': {
    ...{ name: 'forecasts', version: '1.0.0', type: 'module', dependencies: { units: '*' } },
    exports: { types: './types/index.d.ts', default: './index.js' },
  },
  'installed/forecasts/types/index.d.ts': `import type { Unit } from 'units';
export interface Forecast {
  degrees: number;
  unit: Unit;
}
`,
  'installed/forecasts/index.js': 'export {};\n',
  'installed/units/package.json': { name: 'units', version: '1.0.0', main: 'index.js', types: 'index.d.ts' },
  'installed/units/index.d.ts': "export type Unit = 'celsius' | 'kelvin';\n",
  'installed/units/index.js': '',
  'installed/options/package.json': { name: 'options', version: '1.0.0' },
  'installed/options/tsconfig.json': {
    compilerOptions: {
      ...{ target: 'ES2022', lib: ['ES2023'], module: 'NodeNext', types: [], strict: true },
      experimentalDecorators: true,
    },
  },
};

/** The folders of {@link PROJECT} that are installed as packages. */
export const INSTALLED = ['forecasts', 'units', 'options'] as const;
