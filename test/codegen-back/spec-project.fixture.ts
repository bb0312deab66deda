import type { Project } from './project.fixture.js';
import { createProject } from './project.fixture.js';

const config = {
  specs: ['workflows/**/*.{yaml,json,xml}'],
};

/** A tool with a zod schema, one that is derived from types, an upstream one, and a decorated workflow. */
const tools = `import { Arg, call, done, Step, Tool, Workflow } from 'stepwright';
import { z } from 'zod';

@Tool({
  name: 'search_flights',
  title: 'Flights',
  description: 'Finds flights',
  input: z.object({
    origin: z.string().describe('Where it starts'),
    cabin: z.enum(['economy', 'business']).optional().describe('The class'),
    seats: z.number().int().default(1),
  }),
  output: z.object({ flights: z.array(z.object({ id: z.string(), seats: z.number() })) }),
})
export class SearchFlights {
  execute({ origin }: { origin: string }) {
    return { flights: [{ id: \`\${origin}-1\`, seats: 4 }] };
  }
}

export interface Booking {
  /** The flight. */
  flightId: string;
  passenger: { name: string; age?: number };
}

@Tool({ name: 'create_booking', description: 'Books a flight', annotations: { destructiveHint: false } })
export class CreateBooking {
  execute({ flightId, passenger }: Booking): { booking: string } {
    return { booking: \`\${flightId} for \${passenger.name}\` };
  }
}

@Workflow({ name: 'find', description: 'Finds the first flight' })
export class Find {
  @Arg({ description: 'Where' }) origin!: Arg<string>;
  @Step() found = call(SearchFlights, { origin: this.origin });
  output = done({ id: this.found.flights[0]?.id ?? 'none' });
}
`;

const upstream = `import { Tool, type ToolContext } from 'stepwright';

@Tool({
  name: 'files_read',
  description: 'Reads a file',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  outputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  upstream: { server: 'files', tool: 'read' },
})
export class FilesRead {
  execute(input: { path: string }, context: ToolContext): Promise<{ text: string }> {
    void input;
    void context;
    return Promise.resolve({ text: 'Ann' });
  }
}
`;

const book = `# yaml-language-server: $schema=../generated/registry.specs.schema.json
domain: travel
version: "1.0"
workflows:
  book:
    title: Book a flight
    description: Books the first flight
    params:
      origin: { type: str, required: true, description: "Where it starts" }
      passenger: { type: str, default: Ann }
      age: { type: int }
    graph:
      search:
        workflow: find
        args: { origin: $origin }
        output: flight
      reserve:
        call: create_booking
        depends_on: [search]
        args:
          flightId: $flight.id
          passenger: { name: $passenger, age: $age? }
    returns:
      booking: $reserve.booking
      note: |
        Booked for
        $passenger
`;

const both = JSON.stringify(
  {
    $schema: '../generated/registry.specs.schema.json',
    workflows: {
      read_and_book: {
        description: 'Reads who travels, and books',
        params: { origin: { type: 'str', required: true } },
        graph: {
          who: { call: 'files_read', args: { path: 'who.txt' } },
          booked: {
            workflow: 'travel/book',
            depends_on: ['who'],
            args: { origin: '$origin', passenger: '$who.text' },
          },
        },
        returns: '$booked.booking',
      },
    },
  },
  undefined,
  2,
);

export const SPEC_FILES: Readonly<Record<string, string>> = {
  'stepwright.config.json': JSON.stringify(config),
  'src/tools.ts': tools,
  'src/upstream.ts': upstream,
  'workflows/book.yaml': book,
  'workflows/both.json': both,
};

/** A project with spec files. */
export function createSpecProject(
  files: Readonly<Record<string, string>> = {},
  prefix?: string,
): Promise<Project> {
  return createProject({ ...SPEC_FILES, ...files }, prefix);
}
