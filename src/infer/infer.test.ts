import { describe, expect, test } from 'vitest';
import type { Edge } from './evidence.js';
import { FLIGHTS, toolOf } from './flights.fixture.js';
import { inferOrder } from './infer.js';
import type { ToolDescription } from './tool.js';

function edge(tools: readonly ToolDescription[], from: string, to: string): Edge | undefined {
  return inferOrder(tools).edges.find((each) => each.from === from && each.to === to);
}

function confidence(tools: readonly ToolDescription[], from: string, to: string): number | undefined {
  return edge(tools, from, to)?.confidence;
}

const withoutHints = FLIGHTS.map(({ hints: _, ...tool }) => tool);

describe('a flight booking with hints', () => {
  test('has one sequence for each alternative', () => {
    expect(inferOrder(FLIGHTS).sequences).toEqual([
      ['search_flights', 'check_availability', 'create_booking', 'process_payment'],
      ['search_flights', 'check_availability', 'add_to_waitlist'],
    ]);
  });

  test('reports the alternatives', () => {
    expect(inferOrder(FLIGHTS).choices).toEqual([
      { after: 'check_availability', oneOf: ['create_booking', 'add_to_waitlist'] },
    ]);
  });

  test('shows schemas as further evidence of hinted edges', () => {
    const { evidence } = edge(FLIGHTS, 'search_flights', 'check_availability') ?? { evidence: [] };
    expect(evidence.map(({ kind }) => kind)).toEqual(['next', 'requires', 'field', 'lifecycle']);
  });
});

describe('hints', () => {
  test('a tool that requires both alternatives is in no sequence', () => {
    const tools = [
      toolOf('start', [], { hints: { next: ['left', 'right'] } }),
      toolOf('left', []),
      toolOf('right', []),
      toolOf('finish', [], { hints: { requires: ['left', 'right'] } }),
    ];
    expect(inferOrder(tools).sequences).toEqual([]);
  });

  test('a tool that another alternative requires may come before it', () => {
    const tools = [
      toolOf('start', [], { hints: { next: ['check', 'book'] } }),
      toolOf('check', []),
      toolOf('book', [], { hints: { requires: ['check'] } }),
    ];
    expect(inferOrder(tools).sequences).toEqual([['start', 'check', 'book']]);
  });

  test('name tools without the prefix of their server', () => {
    const tools = [toolOf('air/search', []), toolOf('air/book', [], { hints: { requires: ['search'] } })];
    expect(confidence(tools, 'air/search', 'air/book')).toBe(1);
  });

  test('of tools that do not exist are faults', () => {
    const tools = [toolOf('search', []), toolOf('book', [], { hints: { requires: ['serach'] } })];
    expect(inferOrder(tools).faults).toEqual([
      { kind: 'unknown-tool', tool: 'book', named: 'serach', nearest: 'search' },
    ]);
  });

  test('with an unknown category are faults', () => {
    expect(inferOrder([toolOf('search', [], { hints: { category: 'fun' } })]).faults).toEqual([
      { kind: 'unknown-category', tool: 'search', category: 'fun' },
    ]);
  });

  test('that require each other are faults and cycles, and order nothing', () => {
    const tools = [
      toolOf('a', [], { hints: { requires: ['b'] } }),
      toolOf('b', [], { hints: { requires: ['a'] } }),
    ];
    const { faults, cycles, sequences } = inferOrder(tools);
    expect(faults).toEqual([{ kind: 'cycle', tools: ['a', 'b'] }]);
    expect(cycles).toEqual([['a', 'b']]);
    expect(sequences).toEqual([]);
  });
});

describe('schemas', () => {
  test('equal names and types count 0.8', () => {
    const tools = [
      toolOf('search', ['term'], { returns: ['hotel_name'] }),
      toolOf('reserve', ['hotelName'], { returns: ['receipt'] }),
    ];
    expect(edge(tools, 'search', 'reserve')).toMatchObject({
      confidence: 0.8,
      evidence: [
        { kind: 'field', link: { output: 'hotel_name', parameter: 'hotelName' } },
        { kind: 'lifecycle' },
      ],
    });
    expect(edge(tools, 'reserve', 'search')).toBeUndefined();
  });

  test('equal names of other types are none', () => {
    const tools: ToolDescription[] = [
      toolOf('search', [], { returns: ['fare'] }),
      {
        name: 'book',
        inputSchema: { type: 'object', properties: { fare: { type: 'object' } }, required: ['fare'] },
      },
    ];
    expect(edge(tools, 'search', 'book')).toBeUndefined();
  });

  test.each(['id', 'name', 'status', 'date', 'type', 'message', 'text', 'location'])(
    'the generic name %s alone counts 0.2',
    (name) => {
      const tools = [
        toolOf('list_orders', [], { returns: [name] }),
        toolOf('rename_folder', [name, 'folder_color']),
      ];
      expect(confidence(tools, 'list_orders', 'rename_folder')).toBe(0.2);
    },
  );

  test('an identifier is matched with the id of a tool about its subject', () => {
    const tools = [toolOf('create_booking', [], { returns: ['id'] }), toolOf('pay', ['booking_id'])];
    expect(confidence(tools, 'create_booking', 'pay')).toBe(0.7);
  });

  test('an identifier is matched with the id of an item of a list of its subject', () => {
    const flights = {
      type: 'object',
      properties: {
        flights: {
          type: 'array',
          items: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
        },
      },
    };
    const tools: ToolDescription[] = [
      { name: 'search', inputSchema: { type: 'object' }, outputSchema: flights },
      toolOf('book', ['flight_id']),
    ];
    expect(edge(tools, 'search', 'book')).toMatchObject({
      confidence: 0.7,
      evidence: [{ link: { output: 'flights[].id' } }, {}],
    });
  });

  test('a field that a tool repeats from its input does not count', () => {
    const tools = [
      toolOf('check', ['flight_code'], { returns: ['flight_code', 'seats'] }),
      toolOf('book', ['flight_code']),
    ];
    expect(edge(tools, 'check', 'book')).toBeUndefined();
  });

  test('the id of what a tool was asked for does not count', () => {
    const tools = [
      toolOf('get_booking', ['booking_id'], { returns: ['id', 'seat'] }),
      toolOf('pay', ['booking_id']),
    ];
    expect(edge(tools, 'get_booking', 'pay')).toBeUndefined();
  });

  test('optional parameters order nothing', () => {
    const tools: ToolDescription[] = [
      toolOf('search', [], { returns: ['voucher'] }),
      { name: 'book', inputSchema: { type: 'object', properties: { voucher: { type: 'string' } } } },
    ];
    expect(confidence(tools, 'search', 'book')).toBe(0.4);
    expect(inferOrder(tools).sequences).toEqual([]);
  });

  test('all tools that return a value are kept', () => {
    const tools = [
      toolOf('search_flights', [], { returns: ['fare_code'] }),
      toolOf('find_deals', [], { returns: ['fare_code'] }),
      toolOf('book', ['fare_code']),
    ];
    expect([confidence(tools, 'search_flights', 'book'), confidence(tools, 'find_deals', 'book')]).toEqual([
      0.8, 0.8,
    ]);
  });

  test('references are resolved, not compared by name', () => {
    const fare = (type: string) => ({
      type: 'object',
      properties: { fare: { $ref: '#/$defs/Fare' } },
      required: ['fare'],
      $defs: { Fare: { type } },
    });
    const search = { name: 'search', inputSchema: { type: 'object' }, outputSchema: fare('string') };
    expect(edge([search, { name: 'book', inputSchema: fare('object') }], 'search', 'book')).toBeUndefined();
    expect(confidence([search, { name: 'book', inputSchema: fare('string') }], 'search', 'book')).toBe(0.8);
  });

  test('equal types alone are no edge', () => {
    const tools = [toolOf('get_weather', ['city'], { returns: ['forecast'] }), toolOf('rename', ['folder'])];
    expect(inferOrder(tools).edges).toEqual([]);
  });

  test('a search by a detail of what was done orders nothing', () => {
    const tools = [
      toolOf('reserve_table', ['hour'], { returns: ['cuisine'] }),
      toolOf('find_restaurants', ['cuisine'], { returns: ['hour'] }),
    ];
    expect(inferOrder(tools).sequences).toEqual([['find_restaurants', 'reserve_table']]);
  });

  test('of two tools that feed each other neither comes first', () => {
    const tools = [
      toolOf('left', ['beta'], { returns: ['alpha'] }),
      toolOf('right', ['alpha'], { returns: ['beta'] }),
    ];
    const { edges, sequences, cycles } = inferOrder(tools);
    expect(edges.map((each) => each.confidence)).toEqual([0.45, 0.45]);
    expect([sequences, cycles]).toEqual([[], []]);
  });

  test('longer cycles are reported, and order nothing', () => {
    const tools = [
      toolOf('one', ['gamma'], { returns: ['alpha'] }),
      toolOf('two', ['alpha'], { returns: ['beta'] }),
      toolOf('three', ['beta'], { returns: ['gamma'] }),
      toolOf('four', ['delta'], { returns: ['epsilon'] }),
      toolOf('five', ['epsilon']),
    ];
    const { cycles, sequences } = inferOrder(tools);
    expect(cycles).toEqual([['one', 'two', 'three']]);
    expect(sequences).toEqual([['four', 'five']]);
  });
});

describe('the source of an identifier', () => {
  const search = toolOf('search_flights', ['city'], { returns: ['flight_id'] });
  const create = toolOf('create_booking', ['flight_id', 'passenger'], { returns: ['booking_id'] });
  const get = toolOf('get_booking', ['booking_id'], { returns: ['flight_id', 'passenger'] });

  test('is a tool about its subject, and not one that mentions it', () => {
    const tools = [search, get, toolOf('check_seats', ['flight_id'])];
    expect(confidence(tools, 'search_flights', 'check_seats')).toBe(0.8);
    expect(confidence(tools, 'get_booking', 'check_seats')).toBe(0.45);
  });

  test('a read of what a tool makes does not come before it', () => {
    expect(confidence([create, get], 'get_booking', 'create_booking')).toBe(0.45);
    expect(confidence([create, get], 'create_booking', 'get_booking')).toBe(0.8);
  });

  test('properties of objects with different names are different', () => {
    const money = (name: string) => ({
      type: 'object',
      properties: {
        [name]: { type: 'object', properties: { cents: { type: 'integer' } }, required: ['cents'] },
      },
      required: [name],
    });
    const tools = (given: string, taken: string): ToolDescription[] => [
      { name: 'quote', inputSchema: { type: 'object' }, outputSchema: money(given) },
      { name: 'charge', inputSchema: money(taken) },
    ];
    expect(edge(tools('discount', 'fare'), 'quote', 'charge')).toBeUndefined();
    expect(confidence(tools('fare', 'fare'), 'quote', 'charge')).toBe(0.8);
    expect(confidence(tools('amount', 'amount'), 'quote', 'charge')).toBe(0.2);
  });
});

describe('tools without a schema of their result', () => {
  test('the only tool that finds the subject of an identifier counts 0.5', () => {
    expect(confidence(withoutHints, 'search_flights', 'check_availability')).toBe(0.5);
  });

  test('of several such tools none counts', () => {
    const tools = [...withoutHints, toolOf('list_flights', [])];
    expect(edge(tools, 'search_flights', 'check_availability')).toBeUndefined();
  });

  test('a description that names what is returned is a schema', () => {
    const tools = [
      toolOf('reserve', [], { description: 'Returns booking_id.' }),
      toolOf('pay', ['booking_id']),
    ];
    expect(confidence(tools, 'reserve', 'pay')).toBe(0.8);
  });
});

describe('descriptions', () => {
  const other = toolOf('check_seats', []);
  test.each([
    'Call only after calling check_seats.',
    'Requires check_seats.',
    'Use the result from `check_seats`.',
    'Books. Uses the output of check_seats as input.',
  ])('%s', (description) => {
    expect(confidence([other, toolOf('book', [], { description })], 'check_seats', 'book')).toBe(0.7);
  });

  test.each([
    'Does not require check_seats.',
    'Never call before calling check_seats.',
    'Requires check_seats_twice.',
    'See check_seats.',
    'Requires a seat. See also check_seats.',
  ])('no edge: %s', (description) => {
    expect(inferOrder([other, toolOf('book', [], { description })]).edges).toEqual([]);
  });

  test('before calling', () => {
    const tools = [
      toolOf('check', [], { description: 'Call it before calling book_seat.' }),
      toolOf('book_seat', []),
    ];
    expect(confidence(tools, 'check', 'book_seat')).toBe(0.7);
  });

  test('a name that is a plain word counts in quotes only', () => {
    const search = toolOf('search', []);
    const say = (description: string) => [search, toolOf('book', [], { description })];
    expect(inferOrder(say('Do it after search of all kinds.')).edges).toEqual([]);
    expect(confidence(say('Do it after `search`.'), 'search', 'book')).toBe(0.7);
  });

  test('nothing follows a final step', () => {
    const tools = [
      toolOf('pay', ['booking_code'], { description: 'Final step.', returns: ['receipt_code'] }),
      toolOf('archive', ['receipt_code']),
    ];
    expect(confidence(tools, 'pay', 'archive')).toBe(0.45);
  });
});

describe('tools that work on any value', () => {
  const translate: ToolDescription = {
    name: 'translate_text',
    description: 'Translates a text',
    inputSchema: {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'The text to translate' },
        target: { type: 'string' },
      },
      required: ['text', 'target'],
    },
  };
  const poem = toolOf('get_poem', ['poet_name'], { description: 'Gets a poem', returns: ['poem'] });

  test('take the result of the only tool that has one', () => {
    expect(edge([poem, translate], 'get_poem', 'translate_text')).toMatchObject({
      confidence: 0.6,
      evidence: [{ kind: 'operand', link: { output: 'poem', parameter: 'text' } }],
    });
  });

  test('take none of several', () => {
    const story = toolOf('get_story', [], { description: 'Gets a story', returns: ['story'] });
    expect(inferOrder([poem, story, translate]).edges).toEqual([]);
  });

  test('prefer the single result that a tool is for', () => {
    const film = toolOf('get_film', [], { description: 'Gets a film', returns: ['director', 'genre'] });
    expect(edge([film, poem, translate], 'get_poem', 'translate_text')).toMatchObject({ confidence: 0.54 });
    expect(edge([film, poem, translate], 'get_film', 'translate_text')).toBeUndefined();
  });

  test('prefer a result with the noun of the parameter', () => {
    const summary = toolOf('summarize_poem', [], {
      description: 'Makes a text',
      returns: ['summarized_text'],
    });
    expect(edge([summary, poem, translate], 'summarize_poem', 'translate_text')).toMatchObject({
      confidence: 0.54,
    });
  });

  test('have no order where each could work on the result of the other', () => {
    const check: ToolDescription = {
      ...translate,
      name: 'correct_text',
      description: 'Corrects a text',
      outputSchema: { type: 'object', properties: { corrected_text: { type: 'string' } } },
    };
    const back: ToolDescription = {
      ...translate,
      outputSchema: { type: 'object', properties: { translated_text: { type: 'string' } } },
    };
    expect(inferOrder([check, back]).sequences).toEqual([]);
  });

  test('take none in a list of four tools', () => {
    const others = ['a', 'b'].map((name) => toolOf(`${name}_side`, [`${name}_in`]));
    expect(confidence([poem, translate, ...others], 'get_poem', 'translate_text')).toBe(0.48);
  });

  test('take none in a long list', () => {
    const others = ['a', 'b', 'c', 'd'].map((name) => toolOf(`${name}_side`, [`${name}_in`]));
    expect(inferOrder([poem, translate, ...others]).sequences).toEqual([]);
  });

  test('take no status', () => {
    const send = toolOf('send_letter', ['letter'], {
      description: 'Sends a letter',
      returns: ['letter_status'],
    });
    expect(inferOrder([send, translate]).edges).toEqual([]);
  });
});

test('undoing tools are in no sequence', () => {
  const tools = [
    toolOf('create_booking', [], { returns: ['booking_id'] }),
    toolOf('cancel_booking', ['booking_id']),
  ];
  expect(confidence(tools, 'create_booking', 'cancel_booking')).toBe(0.8);
  expect(inferOrder(tools).sequences).toEqual([]);
});

test('the same list gives the same result in any order', () => {
  const { edges } = inferOrder(FLIGHTS);
  expect(inferOrder([...FLIGHTS].reverse()).edges).toEqual(edges);
});

test('a sequence that undoes begins after what it undoes', () => {
  const tools = [
    toolOf('create_booking', [], { returns: ['booking_id'] }),
    toolOf('get_booking', ['booking_id'], { returns: ['ticket_code'] }),
    toolOf('cancel_booking', ['ticket_code']),
  ];
  expect(inferOrder(tools).sequences).toEqual([['get_booking', 'cancel_booking']]);
});

test('a list of hundreds of tools that are alike has an order for each', () => {
  const tools = Array.from({ length: 510 }, (_, index) =>
    index % 10 === 0
      ? toolOf(`find_seats_${index}`, ['town'], { returns: ['seat_map'] })
      : toolOf(`paint_seats_${index}`, ['seat_map'], { returns: ['painter'] }),
  );
  const { edges, sequences } = inferOrder(tools);
  expect(edges.filter(({ confidence }) => confidence === 0.8)).toHaveLength(51 * 459);
  expect(sequences).toHaveLength(459);
});

describe('a tool that passes no value on', () => {
  const search = toolOf('search_flights', ['origin'], { returns: ['flight_id'] });
  const check = toolOf('check_seats', ['flight_id'], { returns: ['seats'] });

  test('comes before the tool whose description names it', () => {
    const book = toolOf('create_booking', ['flight_id'], { description: 'Call after check_seats.' });
    expect(inferOrder([search, check, book]).sequences).toEqual([
      ['search_flights', 'check_seats', 'create_booking'],
    ]);
  });

  test('comes before each of the alternatives that it names', () => {
    const hinted = { ...check, hints: { next: ['create_booking', 'add_to_waitlist'] } };
    const book = toolOf('create_booking', ['flight_id']);
    const wait = toolOf('add_to_waitlist', ['flight_id'], {
      description: 'Requires search_flights.',
      hints: { requires: ['search_flights'] },
    });
    expect(inferOrder([search, hinted, book, wait]).sequences).toEqual([
      ['search_flights', 'check_seats', 'create_booking'],
      ['search_flights', 'check_seats', 'add_to_waitlist'],
    ]);
  });

  test('is not needed beside another one that says the same', () => {
    const first = toolOf('warm_up', [], { hints: { next: ['start_race'] } });
    const second = toolOf('stretch_legs', [], { hints: { next: ['start_race'] } });
    const start = toolOf('start_race', []);
    expect(inferOrder([first, second, start]).sequences).toEqual([['stretch_legs', 'start_race']]);
  });
});

test('what is read need not be the source of what is made of that name', () => {
  const list = { type: 'array', items: { type: 'object', properties: { title: { type: 'string' } } } };
  const holds = { type: 'object', properties: { entities: list }, required: ['entities'] };
  const tools = [
    { name: 'read_graph', inputSchema: { type: 'object' }, outputSchema: holds },
    { name: 'create_entities', inputSchema: holds, outputSchema: { type: 'object' } },
    { name: 'render_entities', inputSchema: holds, outputSchema: { type: 'object' } },
  ];
  const { edges } = inferOrder(tools);
  const confidenceOf = (to: string) => edges.find((each) => each.to === to)?.confidence ?? 0;
  expect(confidenceOf('create_entities')).toBeLessThan(0.5);
  expect(confidenceOf('render_entities')).toBe(0.8);
});
