// `npm run diff`: what changed since the last released contract, what breaks consumers, and whether it was announced.
import { diff } from './diff/command.ts';
import { root } from './support/root.ts';

const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const { status, output } = await diff(process.argv.slice(2), root, colour);
(status === 2 ? console.error : console.log)(output);
process.exitCode = status;
