// A subscriber's server, which answers by the path: /ok has it, /broken fails, /busy fails now and then, /down as long
// as it is told to.
import http from 'node:http';

const FAULT = JSON.stringify({ error: 'internal_error', message: 'relation "inbox" does not exist', trace: 'at Inbox.store (/srv/app/inbox.js:41:11)\nat Webhooks.receive (/srv/app/webhooks.js:18:5)' }, null, 2);

export class Receiver {
  static async start() {
    const receiver = new Receiver();
    receiver.isDown = true;
    receiver.count = 0;
    receiver.server = http.createServer((request, response) => {
      request.resume().on('end', () => receiver.answer(request.url, response));
    });
    await new Promise((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    receiver.base = `http://127.0.0.1:${receiver.server.address().port}`;
    return receiver;
  }

  answer(path, response) {
    if (path.startsWith('/broken')) response.writeHead(500, { 'content-type': 'application/json' }).end(FAULT);
    else if (path.startsWith('/down') && this.isDown) response.writeHead(503).end('Down for maintenance until 10:00.');
    else if (path.startsWith('/busy') && (this.count += 1) % 3 === 0) response.writeHead(429).end('Too many requests, please slow down.');
    else response.writeHead(204).end();
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }
}
