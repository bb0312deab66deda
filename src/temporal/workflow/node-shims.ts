import { uuid4 } from '@temporalio/workflow';
import * as ajv from 'ajv/dist/2020.js';
import * as formats from 'ajv-formats';
import * as re2js from 're2js';

/*
 * The parts of Node that the interpreter uses, for the sandbox of workflows, which is without Node. The bundle has them in
 * place of Node's modules; see `bundle.ts`. Random values follow from the workflow, so that a replay draws the same.
 */

const LIBRARIES: Readonly<Record<string, unknown>> = {
  'ajv/dist/2020.js': ajv,
  'ajv-formats': formats,
  re2js,
};

const modules = {
  crypto: { randomUUID: uuid4, randomBytes: (size: number) => ({ toString: () => randomHex(size) }) },
  module: { createRequire: () => (name: string) => LIBRARIES[name] },
};

function randomHex(size: number): string {
  let digits = '';
  while (digits.length < size * 2) digits += uuid4().replaceAll('-', '');
  return digits.slice(0, size * 2);
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

Object.assign(globalThis, { __stepwright: modules, Buffer: { byteLength } });
