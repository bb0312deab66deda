import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { type Script, serverByHand, statelessByHand } from '../peers/by-hand.js';
import { tellCpuTime } from './channels.js';

// The server written by hand, as a program. Its arguments are the script of its prompt and the era of its client.
tellCpuTime();
const script = JSON.parse(process.argv[2] ?? '') as Script;
if (process.argv[3] === 'stateless') serveStdio(() => statelessByHand(script));
else await serverByHand(script).connect(new StdioServerTransport());
