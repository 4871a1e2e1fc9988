import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import { until } from '../support/until.ts'

const TEST = '/api/v1/db/meta/connection/test'

let bench: Bench
const servers: { stop(force: boolean): void }[] = []
beforeAll(async () => {
  bench = await createBench()
})
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true)
})
afterAll(() => bench.stop())

interface Answering {
  /** What it sends when somebody connects, and when somebody sends something. */
  open?: Uint8Array
  data?: (received: Buffer) => Uint8Array | 'close' | null
  /** Closes each connection as it comes. */
  closes?: boolean
}

/** A server that is no database, with what it was sent. */
function listen({ open, data, closes = false }: Answering) {
  const seen = { connections: 0, closed: 0, received: '' }
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        seen.connections++
        if (open) socket.write(open)
        if (closes) socket.end()
      },
      close() {
        seen.closed++
      },
      data(socket, bytes) {
        seen.received += bytes.toString('latin1')
        const answer = data?.(bytes)
        if (answer === 'close') socket.end()
        else if (answer) socket.write(answer)
      },
    },
  })
  servers.push(server)
  return { port: server.port, seen }
}

const connection = (client: string, port: number, patch: Record<string, unknown> = {}) => ({
  client,
  connection: { host: '127.0.0.1', port, user: 'ann', password: 'secret', database: 'shop', ...patch },
})

const message = async (sent: object): Promise<string> => (await bench.rest.post(TEST, sent)).body.message

/** An error of PostgreSQL: severity, code and message. */
function postgresError(code: string, text: string): Uint8Array {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${text}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

describe('a connection to a server that is no database', () => {
  test.each(['pg', 'mysql2'])('that closes at once is tried once: %s', async (client) => {
    const { port, seen } = listen({ closes: true })
    expect(await message(connection(client, port))).toContain('closed the connection')
    // As long as it took to make a thousand connections.
    await Bun.sleep(1_000)
    expect(seen.connections).toBe(1)
  })

  test.each([
    ['pg', 'No'],
    ['pg', 'Required'],
    ['mysql2', 'No'],
  ])('that says nothing is left alone once the caller has gone: %s, SSL %s', async (client, sslMode) => {
    // Whoever stays waits for the end of the attempt, which began earlier.
    let hasEnded = false
    const staying = message(connection(client, listen({}).port, { sslMode })).then(() => {
      hasEnded = true
    })
    const { port, seen } = listen({})
    const caller = new AbortController()
    const answer = fetch(bench.app.url + TEST, {
      method: 'POST',
      headers: { 'xc-auth': bench.owner.token, 'content-type': 'application/json' },
      body: JSON.stringify(connection(client, port, { sslMode })),
      signal: caller.signal,
    })
    while (seen.connections === 0) await Bun.sleep(10)
    await Bun.sleep(200)
    expect(seen.closed).toBe(0)
    caller.abort()
    await expect(answer).rejects.toThrow()
    await until(() => seen.closed > 0, 'The end of the connection')
    expect(hasEnded).toBe(false)
    await staying
    expect(seen.connections).toBe(1)
  })

  test('that closes after the first message is tried once, with and without encryption', async () => {
    for (const sslMode of ['No', 'Preferred', 'Required']) {
      const { port, seen } = listen({ data: () => 'close' })
      expect(await message(connection('pg', port, { sslMode }))).toContain('closed the connection')
      await Bun.sleep(300)
      expect([sslMode, seen.connections]).toEqual([sslMode, 1])
    }
  })

  test('that closes while the encryption is made is tried once', async () => {
    const { port, seen } = listen({
      data: (bytes) => (bytes.length === 8 ? Buffer.from('S') : 'close'),
    })
    expect(await message(connection('pg', port, { sslMode: 'Required' }))).not.toBe('')
    await Bun.sleep(300)
    expect(seen.connections).toBe(1)
  })

  test('that sends more than its consent ahead of the encryption is not believed', async () => {
    const { port } = listen({ data: () => Buffer.from('SZ') })
    expect(await message(connection('pg', port, { sslMode: 'Required' }))).toContain('closed the connection')
  })

  test('is told in words, and shortly, whatever it says', async () => {
    for (const text of ['SSL'.repeat(20_000), '\t'.repeat(60_000), 'certificate '.repeat(5_000)]) {
      const { port } = listen({ data: () => postgresError('XX000', text) })
      const started = performance.now()
      const told = await message(connection('pg', port))
      expect(told.length).toBeLessThan(1_500)
      expect(performance.now() - started).toBeLessThan(20_000)
    }
  })
})

describe('a connection without all of its parts', () => {
  test.each(['pg', 'mysql2'])('needs a user: %s', async (client) => {
    const { port, seen } = listen({})
    expect(await message(connection(client, port, { user: '' }))).toContain('name of a user')
    expect(seen.connections).toBe(0)
  })

  test("sends nothing of this server's own environment", async () => {
    const own = {
      PGUSER: 'own-user',
      PGPASSWORD: 'own-password',
      PGDATABASE: 'own-base',
      PGAPPNAME: 'own-app',
    }
    const before = Object.fromEntries(Object.keys(own).map((name) => [name, process.env[name]]))
    Object.assign(process.env, own)
    try {
      // Asks for the password in clear.
      const ask = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 3])
      const { port, seen } = listen({ data: (bytes) => (bytes[0] === 112 ? 'close' : ask) })
      await message(connection('pg', port, { password: '' }))
      expect(seen.received).toContain('ann')
      expect(seen.received).not.toContain('own-')
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    }
  })

  test.each([
    { host: '/var/run/postgresql' },
    { host: '127.0.0.1/x' },
    { host: '\\\\.\\pipe\\mysql' },
    { socketPath: '/var/run/mysqld/mysqld.sock' },
  ])('opens no local socket: %p', async (patch) => {
    for (const client of ['pg', 'mysql2']) {
      expect(await message(connection(client, 5432, patch))).toContain('local sockets')
    }
  })

  test('names one host', async () => {
    expect(await message(connection('pg', 5432, { host: '127.0.0.1,127.0.0.2' }))).toContain('one host')
  })
})

test('a server of MySQL gets no files of this machine', async () => {
  const { port, seen } = listen({ open: mysqlGreeting(), data: mysqlAsksForFile() })
  await message(connection('mysql2', port))
  // The capability to send files, which a client offers in its first message.
  const flags = Buffer.from(seen.received, 'latin1').readUInt32LE(4)
  expect(flags & 0x80).toBe(0)
  expect(seen.received).not.toContain('root:')
})

/** The first message of a MySQL server: https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html */
function mysqlGreeting(): Uint8Array {
  const body = Buffer.concat([
    Buffer.from([10]),
    Buffer.from('8.0.30\0'),
    Buffer.from([1, 0, 0, 0]),
    Buffer.from('12345678\0'),
    Buffer.from([0xff, 0xf7, 33, 2, 0, 0xff, 0x81, 21]),
    Buffer.alloc(10),
    Buffer.from('123456789012\0'),
    Buffer.from('mysql_native_password\0'),
  ])
  return mysqlPacket(0, body)
}

/** Lets everybody in, and answers every question by asking for a file. */
function mysqlAsksForFile() {
  let isIn = false
  return () => {
    if (isIn) return mysqlPacket(1, Buffer.concat([Buffer.from([0xfb]), Buffer.from('/etc/passwd')]))
    isIn = true
    return mysqlPacket(2, Buffer.from([0, 0, 0, 2, 0, 0, 0]))
  }
}

function mysqlPacket(sequence: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([body.length & 0xff, (body.length >> 8) & 0xff, 0, sequence]), body])
}
