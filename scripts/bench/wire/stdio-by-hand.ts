import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { type Script, serverByHand } from '../peers/by-hand.js';
import { tellCpuTime } from './channels.js';

// The server written by hand, as a program. Its argument is the script of its prompt.
tellCpuTime();
await serverByHand(JSON.parse(process.argv[2] ?? '') as Script).connect(new StdioServerTransport());
