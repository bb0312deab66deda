import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { createServer, type StepwrightServer } from 'stepwright/runtime';
import { TravelAgency } from '../examples/travel/agency.js';
import { Failures } from '../examples/travel/failures.js';
import { registry } from '../examples/travel/generated/travel.registry.js';
import { RemoteAgency } from '../examples/travel/remote-agency.js';
import { startService } from '../examples/travel/service.js';
import { travelTools } from '../examples/travel/tools.js';
import { storeOption } from './story.js';

// Workflows of examples/travel, each in an agency of its own: `npm run travel [-- --store NAME]`. In a store they are runs of
// tools, otherwise conversations.

const folder = mkdtempSync(join(tmpdir(), 'stepwright-travel-'));
const store = (await storeOption(folder)) as `sqlite:${string}` | undefined;

/** One run of a workflow in a separate agency, and its expected outcome. */
interface Scene {
  readonly title: string;
  /** The failures, as the value of `TRAVEL_FAILURES`. */
  readonly failures?: string;
  readonly workflow: keyof typeof registry.workflows;
  readonly args: Readonly<Record<string, string>>;
  /** A text that the conversation has. */
  readonly says: string;
  /** A text that the result of the tool has. Default: that of the conversation. */
  readonly resultSays?: string;
  /** Calls that check the outcome, and their expected results. */
  readonly afterwards: readonly Look[];
}

type Look = readonly [
  tool: keyof typeof registry.tools,
  input: Readonly<Record<string, string>>,
  gives: string,
];

const day = (days: number): string => new Date(Date.now() + days * 24 * 3_600_000).toISOString().slice(0, 10);
const departure = day(20);
const flight = { origin: 'NYC', destination: 'Paris', date: departure, passenger: 'Radia Perlman' };
const trip = {
  origin: 'NYC',
  destination: 'Paris',
  checkin: departure,
  checkout: day(23),
  passenger: 'Radia Perlman',
};
const cart = { cart_id: 'CART-1', payment_method: 'card' };

const seats = (left: number): Look => [
  'check_availability',
  { flight_id: `UA57-${departure}` },
  `"seats_available":${left}`,
];
const rooms = (left: number): Look => [
  'search_hotels',
  { city: 'Paris', checkin: trip.checkin, checkout: trip.checkout },
  `"rooms_available":${left}`,
];
const booking = (id: string, status: string): Look => [
  'get_booking',
  { booking_id: id },
  `"status":"${status}"`,
];

const noBooking = (id: string): Look => ['get_booking', { booking_id: id }, 'E_BOOKING_UNKNOWN'];

const scenes: readonly Scene[] = [
  {
    title: 'A flight is booked',
    workflow: 'book_flight',
    args: flight,
    says: 'BK-1006',
    afterwards: [booking('BK-1006', 'confirmed'), seats(3)],
  },
  {
    title: 'A flight is full: the passenger is wait-listed',
    workflow: 'book_flight',
    args: { ...flight, destination: 'Reykjavik' },
    says: 'WL-1',
    afterwards: [noBooking('BK-1006')],
  },
  {
    title: 'No flight goes there',
    workflow: 'book_flight',
    args: { ...flight, destination: 'Oslo' },
    says: `No flight from NYC to Oslo on ${departure}`,
    afterwards: [noBooking('BK-1006')],
  },
  {
    title: 'The airline answers at the third try',
    failures: 'create_booking:2',
    workflow: 'book_flight',
    args: flight,
    says: 'BK-1006',
    afterwards: [booking('BK-1006', 'confirmed'), seats(3)],
  },
  {
    title: 'The airline never answers: booking fails after retries',
    failures: 'create_booking',
    workflow: 'book_flight',
    args: flight,
    says: 'Booking failed after 3 attempts',
    afterwards: [noBooking('BK-1006'), seats(4)],
  },
  {
    title: 'A booking is cancelled within 24 hours: it is paid back',
    workflow: 'cancel_booking',
    args: { booking_id: 'BK-1001' },
    says: '"status": "refunded"',
    resultSays: '"refund":{"cents":41200,"currency":"USD"},"fee":{"cents":0,',
    afterwards: [
      booking('BK-1001', 'cancelled'),
      ['process_refund', { booking_id: 'BK-1001' }, 'E_ALREADY_REFUNDED'],
    ],
  },
  {
    title: 'A booking is cancelled later: what was paid is kept',
    workflow: 'cancel_booking',
    args: { booking_id: 'BK-1002' },
    says: '"refundable": false',
    resultSays: '"refund":null',
    afterwards: [
      booking('BK-1002', 'cancelled'),
      ['process_refund', { booking_id: 'BK-1002' }, 'E_REFUND_PERIOD_OVER'],
    ],
  },
  {
    title: 'A booking is cancelled already',
    workflow: 'cancel_booking',
    args: { booking_id: 'BK-1003' },
    says: 'is cancelled already',
    afterwards: [booking('BK-1003', 'cancelled')],
  },
  {
    title: 'A booking is of a flight that has departed: nothing is cancelled',
    workflow: 'cancel_booking',
    args: { booking_id: 'BK-1004' },
    says: 'is of a flight that has departed',
    afterwards: [booking('BK-1004', 'flown')],
  },
  {
    title: 'A cart is paid for and ordered',
    workflow: 'checkout',
    args: cart,
    says: 'ORD-1',
    afterwards: [
      ['calculate_total', { cart_id: 'CART-1' }, '"total":{"cents":6248'],
      ['validate_cart', { cart_id: 'CART-1' }, 'E_CART_ORDERED'],
    ],
  },
  {
    title: 'A cart is paid for with a discount',
    workflow: 'checkout',
    args: { ...cart, discount_code: 'TRAVEL10' },
    says: 'ORD-1',
    afterwards: [
      ['calculate_total', { cart_id: 'CART-1' }, '"total":{"cents":5623'],
      ['apply_code', { cart_id: 'CART-1', code: 'TRAVEL10' }, 'E_CART_ORDERED'],
    ],
  },
  {
    title: 'The payment is declined, four times (14 seconds)',
    failures: 'payment',
    workflow: 'checkout',
    args: cart,
    says: 'Payment processing failed after 4 attempts',
    afterwards: [['validate_cart', { cart_id: 'CART-1' }, '"id":"CART-1"']],
  },
  {
    title: 'A trip is booked, and nothing of it undone',
    workflow: 'book_trip',
    args: trip,
    says: 'TRIP-1',
    afterwards: [booking('BK-1006', 'confirmed'), seats(3), rooms(0)],
  },
  {
    title: 'No hotel has a room: nothing is booked',
    workflow: 'book_trip',
    args: { ...trip, destination: 'Reykjavik' },
    says: `No hotel in Reykjavik has a room from ${trip.checkin} to ${trip.checkout}`,
    afterwards: [noBooking('BK-1006'), ['cancel_hotel', { booking_id: 'HB-1' }, 'E_BOOKING_UNKNOWN']],
  },
  {
    title:
      'A trip is booked, and not confirmed: both bookings stand, and confirming them is what is left to do',
    failures: 'confirm_trip:1',
    workflow: 'book_trip',
    args: trip,
    says: 'Call confirm_trip with {"flight_booking_id":"BK-1006","hotel_booking_id":"HB-1"}',
    resultSays: 'The system behind confirm_trip does not answer',
    afterwards: [
      booking('BK-1006', 'confirmed'),
      rooms(0),
      ['confirm_trip', { flight_booking_id: 'BK-1006', hotel_booking_id: 'HB-1' }, '"id":"TRIP-1"'],
    ],
  },
  {
    title: 'The flight of a trip fails: the hotel is undone',
    failures: 'create_booking',
    workflow: 'book_trip',
    args: trip,
    says: 'Booking failed after 3 attempts',
    afterwards: [noBooking('BK-1006'), ['cancel_hotel', { booking_id: 'HB-1' }, 'E_NOT_CONFIRMED'], rooms(1)],
  },
  {
    title: 'The flight of a trip is full: the hotel is undone',
    failures: 'flight:1',
    workflow: 'book_trip',
    args: trip,
    says: 'number 1 on its waiting list',
    afterwards: [['cancel_hotel', { booking_id: 'HB-1' }, 'E_NOT_CONFIRMED'], rooms(1)],
  },
  {
    title: 'The hotel of a trip fails: the flight is undone',
    failures: 'hotel',
    workflow: 'book_trip',
    args: trip,
    says: 'has no room left',
    afterwards: [
      booking('BK-1006', 'cancelled'),
      ['cancel_hotel', { booking_id: 'HB-1' }, 'E_BOOKING_UNKNOWN'],
      seats(4),
    ],
  },
];

async function play(scene: Scene): Promise<void> {
  const { title, failures = '', workflow, args, says, resultSays = says, afterwards } = scene;
  console.log(`\n${paint('bold', `── ${title}`)}${failures === '' ? '' : ` (TRAVEL_FAILURES=${failures})`}`);
  const agency = await TravelAgency.open({ failures: Failures.parse(failures) });
  const service = await startService(agency);
  const server: StepwrightServer = createServer(registry, {
    name: 'stepwright-travel',
    tools: travelTools(new RemoteAgency(service.url)),
    ...(store === undefined ? {} : { store }),
  });
  try {
    await server.start();
    const [answer, part] =
      store === undefined
        ? [await converse(server, workflow, args), says]
        : [await callWorkflow(server, workflow, args), resultSays];
    check(answer.includes(part), `it says '${part}'`);
    for (const [tool, input, gives] of afterwards) {
      const { structuredContent, _meta } = await server.callTool(tool, input, request());
      const answer = JSON.stringify(structuredContent ?? _meta);
      console.log(paint('dim', `   ${tool} ${JSON.stringify(input)} → ${answer}`));
      check(answer.includes(gives), `${tool} then gives '${gives}'`);
    }
  } finally {
    await server.stop();
    await service.close();
    agency.close();
  }
}

/** The steps of a run as the client reads them, without the messages before the first one. */
async function converse(
  server: StepwrightServer,
  workflow: string,
  args: Readonly<Record<string, string>>,
): Promise<string> {
  const { messages } = await server.getPrompt(workflow, args, request());
  const texts = messages.flatMap(({ role, content }) =>
    content.type === 'text' ? [{ role, text: content.text.trimEnd() }] : [],
  );
  for (const { role, text } of texts) {
    console.log(`${paint(role === 'user' ? 'cyan' : 'green', `[${role}]`)} ${text.replace(/\n/g, '\n   ')}`);
  }
  return texts.map(({ text }) => text).join('\n');
}

/** The result of a run in the store. */
async function callWorkflow(
  server: StepwrightServer,
  workflow: string,
  args: Readonly<Record<string, string>>,
): Promise<string> {
  const { content, structuredContent } = await server.callTool(`w_${workflow}`, args, request());
  const [text] = content;
  if (text?.type === 'text') console.log(text.text);
  return JSON.stringify([structuredContent, content]);
}

let requests = 0;

function request() {
  requests += 1;
  const { signal } = new AbortController();
  return { signal, requestId: String(requests), progress: () => undefined };
}

function check(holds: boolean, expectation: string): void {
  if (!holds) throw new Error(`It was expected that ${expectation}`);
}

/** Adds colours if the output is a terminal. */
function paint(format: 'bold' | 'cyan' | 'green' | 'dim', text: string): string {
  return process.stdout.isTTY && process.env.NO_COLOR === undefined ? styleText(format, text) : text;
}

try {
  for (const scene of scenes) await play(scene);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\n${scenes.length} runs went as they should.`);
