/** A candidate of a list: its name, its description, and whether it only reads. */
type Candidate = readonly [name: string, description: string, reads?: 'reads'];

/** A goal, and what answers it: all of them, and no acting one beside them. Without one, the list cannot do it. */
type Goal = readonly [goal: string, ...answers: string[]];

/** A list of workflows and tools, and goals in the words of people. */
export interface GoalList {
  readonly workflows: readonly Candidate[];
  readonly tools: readonly Candidate[];
  readonly goals: readonly Goal[];
}

const TRAVEL: GoalList = {
  workflows: [
    ['book_trip', 'Book a flight and a hotel for a trip to a city'],
    ['cancel_booking', 'Cancel a booking of a flight or a hotel'],
    ['refund_booking', 'Refund the payment of a cancelled booking'],
    ['compare_hotels', 'Compare the hotels of a city by price and rating', 'reads'],
  ],
  tools: [
    ['search_flights', 'Search flights between two cities', 'reads'],
    ['search_hotels', 'Search hotels in a city', 'reads'],
    ['get_weather', 'Get the weather forecast of a city', 'reads'],
    ['change_seat', 'Change the seat of a passenger on a flight'],
  ],
  goals: [
    ['which hotels are in Rome', 'search_hotels'],
    ['compare hotels in Paris', 'compare_hotels'],
    ['cancel my booking and refund', 'cancel_booking', 'refund_booking'],
    ['book a trip to Lisbon', 'book_trip'],
    ['book me a flight and a hotel', 'book_trip'],
    ['are there flights to Oslo tomorrow?', 'search_flights'],
    ['what is the weather in Madrid', 'get_weather'],
    ['please cancel the hotel booking', 'cancel_booking'],
    ['change my seat', 'change_seat'],
    ['check the weather, then book a trip', 'get_weather', 'book_trip'],
    ['rent a car'],
    ['show me flights from Berlin to Rome', 'search_flights'],
  ],
};

const SHOP: GoalList = {
  workflows: [
    ['place_order', 'Place an order for the items of a cart and charge the card'],
    ['return_item', 'Return an item of an order and create a label'],
    ['cancel_order', 'Cancel an order that was not shipped'],
    ['track_order', 'Track where an order is', 'reads'],
  ],
  tools: [
    ['list_orders', 'List the orders of a customer', 'reads'],
    ['get_product', 'Get a product with its price and stock', 'reads'],
    ['update_address', 'Update the shipping address of an order'],
    ['add_review', 'Add a review of a product'],
    ['delete_account', 'Delete the account of a customer'],
  ],
  goals: [
    ['where is my order', 'track_order'],
    ['place an order for my cart', 'place_order'],
    ['cancel my order', 'cancel_order'],
    ['how much does this product cost, what is its price', 'get_product'],
    ['list all orders of customer 7', 'list_orders'],
    ['return the item I got', 'return_item'],
    ['I want to update my shipping address', 'update_address'],
    ['can you delete my account', 'delete_account'],
    ['write a review of the product', 'add_review'],
    ['is the product in stock?', 'get_product'],
    ['track the order and update its address', 'track_order', 'update_address'],
    ['what reviews does the product have', 'get_product'],
  ],
};

const OFFICE: GoalList = {
  workflows: [
    ['schedule_meeting', 'Find a free time and schedule a meeting with people'],
    ['send_report', 'Send the weekly report to the team by email'],
    ['daily_agenda', 'Show the meetings and tasks of a day', 'reads'],
  ],
  tools: [
    ['search_emails', 'Search emails by sender or subject', 'reads'],
    ['send_email', 'Send an email to a person'],
    ['list_meetings', 'List the meetings of a calendar', 'reads'],
    ['delete_meeting', 'Delete a meeting from the calendar'],
    ['create_task', 'Create a task with a due date'],
    ['complete_task', 'Mark a task as done'],
  ],
  goals: [
    ['schedule a meeting with Ada', 'schedule_meeting'],
    ['what meetings do I have today', 'list_meetings'],
    ['send the weekly report', 'send_report'],
    ['send an email to Bob', 'send_email'],
    ['find emails from Eve', 'search_emails'],
    ['delete the meeting on Monday', 'delete_meeting'],
    ['create a task and send an email', 'create_task', 'send_email'],
    ['show my agenda', 'daily_agenda'],
    ['did Carol send an email about the subject budget?', 'search_emails'],
    ['remove a task'],
    ['add a new task for Friday', 'create_task'],
    ['print the report'],
  ],
};

const SUPPORT: GoalList = {
  workflows: [
    ['escalate_ticket', 'Escalate a ticket to the second level and notify its customer'],
    ['close_ticket', 'Close a ticket and send a survey'],
    ['issue_refund', 'Refund an invoice of a customer'],
  ],
  tools: [
    ['search_tickets', 'Search tickets by text and status', 'reads'],
    ['get_customer', 'Get a customer by id', 'reads'],
    ['get_invoice', 'Get an invoice with its amount', 'reads'],
    ['pay_invoice', 'Pay an invoice from the balance'],
    ['create_ticket', 'Create a ticket for a customer'],
    ['assign_ticket', 'Assign a ticket to an agent'],
  ],
  goals: [
    ['find open tickets', 'search_tickets'],
    ['pay the invoice', 'pay_invoice'],
    ['what is the amount of invoice 12', 'get_invoice'],
    ['refund the invoice', 'issue_refund'],
    ['escalate this ticket', 'escalate_ticket'],
    ['open a ticket for the customer', 'create_ticket'],
    ['assign the ticket to Sam', 'assign_ticket'],
    ['who is the customer', 'get_customer'],
    ['close the ticket and refund the invoice', 'close_ticket', 'issue_refund'],
    ['delete the customer'],
    ['look up the customer and create a ticket', 'get_customer', 'create_ticket'],
    ['which tickets have been closed', 'search_tickets'],
  ],
};

const FILES: GoalList = {
  workflows: [
    ['publish_page', 'Publish a page of the wiki after a review'],
    ['archive_project', 'Archive a project and move its files'],
    ['project_summary', 'Summarize the files and pages of a project', 'reads'],
  ],
  tools: [
    ['read_file', 'Read a file', 'reads'],
    ['write_file', 'Write text to a file'],
    ['list_directory', 'List the files of a directory', 'reads'],
    ['move_file', 'Move a file to another directory'],
    ['delete_file', 'Delete a file'],
    ['search_pages', 'Search pages of the wiki', 'reads'],
    ['translate_text', 'Translate a text into a language', 'reads'],
  ],
  goals: [
    ['read the file notes.txt', 'read_file'],
    ['what files are in the directory', 'list_directory'],
    ['delete the file', 'delete_file'],
    ['move the file to another directory', 'move_file'],
    ['publish the page', 'publish_page'],
    ['summarize the project', 'project_summary'],
    ['search the wiki pages for onboarding', 'search_pages'],
    ['translate this text into French', 'translate_text'],
    ['read the file and translate the text', 'read_file', 'translate_text'],
    ['write the text to a file', 'write_file'],
    ['archive the project', 'archive_project'],
    ['email the file to Dan'],
  ],
};

export const GOAL_LISTS: Readonly<Record<string, GoalList>> = {
  travel: TRAVEL,
  shop: SHOP,
  office: OFFICE,
  support: SUPPORT,
  files: FILES,
};
