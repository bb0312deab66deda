import { uuid4 } from '@temporalio/workflow';
import * as ajv from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import * as re2js from 're2js';

/*
 * The parts of Node that the interpreter uses, for the sandbox of workflows, which is without Node. The built package has
 * this module in place of Node's, and the bundle of its sources has the global; see `bundle.ts`. Random values follow from
 * the workflow, so that a replay draws the same.
 */

const LIBRARIES: Readonly<Record<string, unknown>> = {
  'ajv/dist/2020.js': ajv,
  'ajv-formats': formats,
  '#re2js': re2js,
};

export const randomUUID = uuid4;
export const randomBytes = (size: number) => ({ toString: () => randomHex(size) });
export const createRequire = () => (name: string) => LIBRARIES[name];

const modules = { crypto: { randomUUID, randomBytes }, module: { createRequire } };

function randomHex(size: number): string {
  let digits = '';
  while (digits.length < size * 2) digits += uuid4().replaceAll('-', '');
  return digits.slice(0, size * 2);
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

Object.assign(globalThis, { __stepwright: modules, Buffer: { byteLength } });

// The SDK takes the stack of each promise, for a query of its own: ten frames are a fifth of the CPU time of a replay.
Error.stackTraceLimit = 2;
