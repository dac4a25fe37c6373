// A real OpenAI-compatible server on the loopback interface, for tests: scripted models, and faults drawn from a seed.
//   node tests/endpoint/server.mjs '{"faults": {"seed": 1, "status500": 0.05}, "models": ["household"]}'
// Prints {"url"} as one line once it listens. GET /stats says what it did; POST /reset forgets that.
import { createServer } from 'node:http';

const DEFAULTS = {
  port: 0,
  models: ['household'],
  /** Required as `Authorization: Bearer …` when set. */
  key: '',
  /** What the server honours: json_schema, json_object. Others are refused; with `ignoreFormats` they are ignored. */
  formats: ['json_schema', 'json_object'],
  ignoreFormats: false,
  /** Parameters refused with 400. */
  refuses: [],
  usage: true,
  /** Text put before each answer, e.g. a think block. */
  prefix: '',
  cors: true,
  /** Milliseconds before each answer. */
  latency: 0,
  contextChars: 0,
  /** Chances of a fault for a request body; none after `cleanAfter` attempts at the same body. */
  faults: { seed: 0, status429: 0, status500: 0, cut: 0, slow: 0, malformed: 0, reset: 0, empty: 0, cleanAfter: 3 },
};
const given = JSON.parse(process.argv[2] ?? '{}');
const settings = { ...DEFAULTS, ...given, faults: { ...DEFAULTS.faults, ...given.faults } };
const household = settings.models.includes('household') ? await loadHousehold() : undefined;

let stats = freshStats();
const attempts = new Map();

const server = createServer(async (request, response) => {
  if (settings.cors) {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Headers', '*');
  }
  const body = await readBody(request);
  if (request.method === 'OPTIONS') return end(response, 204, undefined);
  if (request.url === '/stats') return end(response, 200, stats);
  if (request.url === '/reset') {
    stats = freshStats();
    attempts.clear();
    return end(response, 200, {});
  }
  stats.requests++;
  if (settings.key !== '' && request.headers.authorization !== `Bearer ${settings.key}`) {
    const sent = request.headers.authorization?.slice(7) ?? '';
    return fail(response, 401, `Incorrect API key provided: ${sent.slice(0, 12)}***. Whole: ${sent}`, 'invalid_api_key');
  }
  if (request.url === '/v1/models') {
    return end(response, 200, { object: 'list', data: settings.models.map((id) => ({ id, object: 'model', max_model_len: 32768 })) });
  }
  if (request.url !== '/v1/chat/completions' || request.method !== 'POST') return fail(response, 404, 'Not Found');
  let asked;
  try {
    asked = JSON.parse(body);
  } catch {
    return fail(response, 400, 'The body is not JSON.');
  }
  return complete(request, response, asked, body);
});

server.listen(settings.port, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/v1` })}\n`);
});
// The test that started the server holds its stdin open.
process.stdin.on('end', () => process.exit(0)).resume();

async function complete(request, response, asked, body) {
  stats.open++;
  stats.mostOpen = Math.max(stats.mostOpen, stats.open);
  response.on('close', () => stats.open--);
  if (!settings.models.includes(asked.model)) {
    return fail(response, 404, `The model \`${asked.model}\` does not exist.`, 'model_not_found');
  }
  const refused = settings.refuses.find((name) => asked[name] !== undefined);
  if (refused !== undefined) {
    const instead = refused === 'max_tokens' ? " Use 'max_completion_tokens' instead." : '';
    return fail(response, 400, `Unsupported parameter: '${refused}' is not supported with this model.${instead}`, 'unsupported_parameter');
  }
  const format = asked.response_format?.type;
  if (format !== undefined && !settings.formats.includes(format) && !settings.ignoreFormats) {
    return fail(response, 400, `response_format ${format} is not supported.`);
  }
  const chars = asked.messages.reduce((sum, { content }) => sum + content.length, 0);
  if (settings.contextChars > 0 && chars > settings.contextChars) {
    return fail(response, 400, `This model's maximum context length is ${settings.contextChars} tokens.`, 'context_length_exceeded');
  }
  const fault = drawFault(body);
  if (fault !== undefined) stats.faults[fault] = (stats.faults[fault] ?? 0) + 1;
  switch (fault) {
    case 'status429':
      response.setHeader('Retry-After', '0');
      return fail(response, 429, 'Rate limit reached.');
    case 'status500':
      return fail(response, 500, 'The engine failed.');
    case 'reset':
      return request.socket.destroy();
    case 'slow':
      // Never answers: the client has to give up.
      return undefined;
    case 'empty':
      return end(response, 200, { choices: [] });
  }
  if (settings.latency > 0) await new Promise((resolve) => setTimeout(resolve, settings.latency));
  const enforced = settings.formats.includes(format) ? asked.response_format : undefined;
  const text = settings.prefix + answer(asked, enforced);
  const usage = {
    prompt_tokens: tokens(asked.messages.map(({ content }) => content).join(' ')),
    completion_tokens: tokens(text),
  };
  return asked.stream ? stream(response, text, usage, fault, asked) : whole(response, text, usage, fault);
}

function answer(asked, format) {
  if (format) return format.type === 'json_schema' ? sample(format.json_schema.schema) : '{"colour": "blue"}';
  if (asked.model === 'household') return household(asked);
  return `You said: ${asked.messages.at(-1).content}`;
}

/** A value that fits a simple schema. */
function sample(schema) {
  const make = ({ type, properties = {}, enum: options, items }) => {
    if (options) return options[0];
    if (type === 'object') return Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, make(part)]));
    if (type === 'array') return items ? [make(items)] : [];
    return type === 'string' ? 'blue' : type === 'boolean' ? true : 1;
  };
  return JSON.stringify(make(schema));
}

function whole(response, text, usage, fault) {
  const reply = JSON.stringify({
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    ...(settings.usage ? { usage } : {}),
  });
  response.setHeader('Content-Type', 'application/json');
  if (fault === 'malformed') return response.end(reply.slice(0, reply.length / 2));
  if (fault === 'cut') {
    response.setHeader('Content-Length', Buffer.byteLength(reply));
    response.write(reply.slice(0, reply.length / 2));
    return setTimeout(() => response.destroy(), 5);
  }
  count(response, usage);
  return response.end(reply);
}

async function stream(response, text, usage, fault, asked) {
  response.setHeader('Content-Type', 'text/event-stream');
  const chunk = (choices, extra = {}) =>
    response.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', choices, ...extra })}\r\n\r\n`);
  const pieces = text.match(/[\s\S]{1,6}/g) ?? [];
  response.write(': a comment\n\n');
  for (const [i, content] of pieces.entries()) {
    if (i >= pieces.length / 2 && fault === 'cut') {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return response.destroy();
    }
    if (i >= pieces.length / 2 && fault === 'malformed') return response.end('data: {"choices": [{"delta"\n\n');
    chunk([{ index: 0, delta: { content }, finish_reason: null }]);
  }
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  if (settings.usage && asked.stream_options?.include_usage) chunk([], { usage });
  count(response, usage);
  return response.end('data: [DONE]\n\n');
}

function count(response, usage) {
  response.on('finish', () => {
    stats.answered++;
    stats.promptTokens += usage.prompt_tokens;
    stats.completionTokens += usage.completion_tokens;
  });
}

/** The fault of this attempt at a body. It depends on the body and the attempt, not on the order of requests. */
function drawFault(body) {
  const { seed, cleanAfter, ...chances } = settings.faults;
  const attempt = attempts.get(body) ?? 0;
  attempts.set(body, attempt + 1);
  if (attempt >= cleanAfter) return undefined;
  let draw = uniform(`${seed}/${attempt}/${body}`);
  for (const [fault, chance] of Object.entries(chances)) {
    if (draw < chance) return fault;
    draw -= chance;
  }
  return undefined;
}

/** In [0, 1): FNV-1a with a finaliser. */
function uniform(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

function tokens(text) {
  return text.split(/\s+/).filter(Boolean).length;
}

function freshStats() {
  return { requests: 0, answered: 0, promptTokens: 0, completionTokens: 0, open: 0, mostOpen: 0, faults: {} };
}

function readBody(request) {
  return new Promise((resolve, reject) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', () => resolve(text));
    request.on('error', reject);
  });
}

function end(response, status, value) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(value === undefined ? undefined : JSON.stringify(value));
}

function fail(response, status, message, code = null) {
  end(response, status, { error: { message, type: 'error', code } });
}

async function loadHousehold() {
  const { register } = await import('tsx/esm/api');
  register();
  const { householdModel } = await import('./household-model.ts');
  return householdModel();
}
