// Node's HTTP server, without an import of `node:http`: that reads all exports of the module at once, and `WebSocket` among them loads
// Node's own undici with HTTP/2 and web streams: 130 modules and 16 MB, which a server never uses. (Types may be imported.)

export const { createServer, ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');
