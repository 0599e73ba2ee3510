/** A real MCP server of the test's tool, as a process: what the tool does is asked of `ACT_URL`. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const inputSchema = z.object({ id: z.string(), tool: z.string(), path: z.string(), text: z.string() });

serveStdio(() => {
  const server = new McpServer({ name: 'script', version: '1.0.0' });
  for (const name of ['edit', 'look']) {
    server.registerTool(name, { description: name, inputSchema }, async (call, { mcpReq: { signal } }) => {
      const body = JSON.stringify(call);
      const response = await fetch(process.env['ACT_URL'] ?? '', { method: 'POST', body, signal });
      return { content: [{ type: 'text', text: await response.text() }] };
    });
  }
  return server;
});
