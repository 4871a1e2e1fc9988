import { afterAll, describe, expect, test } from 'bun:test'
import { createLog, logRequests } from '../src/log.ts'

const lines: string[] = []
const log = createLog('debug', (line) => lines.push(line))
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: logRequests(
    log,
    'debug',
    () => new Response('x', { status: 201, headers: { 'x-request-id': 'abc' } }),
  ),
})
afterAll(() => server.stop(true))

describe('the log', () => {
  test('has one JSON object a line, with the id that the client was given and no query string', async () => {
    await fetch(`${server.url}things?secret=1`, { method: 'POST' })
    const entry = JSON.parse(lines.at(-1) ?? '')
    expect(entry).toMatchObject({
      level: 'debug',
      method: 'POST',
      path: '/things',
      status: 201,
      requestId: 'abc',
    })
    expect(lines.at(-1)).not.toContain('secret')
  })

  test('drops what is below its level and names what was thrown', () => {
    const kept: string[] = []
    const quiet = createLog('warn', (line) => kept.push(line))
    quiet.info('nothing')
    quiet.error('it failed', new Error('why'), { requestId: 'r1' })
    expect(kept.map((line) => JSON.parse(line))).toMatchObject([
      { message: 'it failed', error: 'why', requestId: 'r1' },
    ])
  })
})
