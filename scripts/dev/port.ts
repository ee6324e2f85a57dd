// What service.ts prints for `npm run dev`, which then lets the next service have the port: it ends its standard input.
export const waitsForPort = 'everything but the port is open';
export const closedPort = 'the port is closed';
