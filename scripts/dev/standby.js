// A process that has loaded the packages of a program before the program is bundled: it takes longer to load them than to do all
// the rest of a start. Standard input then names the file of the program.
// This file is JavaScript, so that nothing must be compiled before it runs.
import { pathToFileURL } from 'node:url';

const packages = process.argv.splice(2);
// What cannot be loaded, the program itself will report.
await Promise.allSettled(packages.map((name) => import(name)));
process.stdin.once('data', (file) => import(pathToFileURL(String(file)).href));
