import { createServer, connect as dial, type Socket } from 'node:net'

/** Long enough that statements which are sent without waiting for each other count as one round trip. */
const DELAY_MS = 40

/** A way to a database server that counts round trips. */
export interface CountingProxy {
  /** The given URL, through the proxy. */
  url: string
  /** Round trips while `work` runs, on all connections but the one that listens for notifications. */
  roundTrips(work: () => Promise<unknown>): Promise<number>
  stop(): Promise<void>
}

/**
 * Delays every answer while it counts of the server. A round trip begins with the first bytes that the client sends after an answer has
 * reached it.
 */
export async function startCountingProxy(databaseUrl: string): Promise<CountingProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let count = 0
  let isCounting = false
  const server = createServer((client) => {
    const upstream = dial({ host: target.hostname, port: Number(target.port) })
    let isListening = false
    let isWaiting = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', (data) => {
      isListening ||= data.includes('listen sheaf')
      if (!isWaiting && !isListening) count++
      isWaiting = true
      upstream.write(data)
    })
    upstream.on('data', (data) => {
      const answer = () => {
        isWaiting = false
        client.write(data)
      }
      if (isCounting) setTimeout(answer, DELAY_MS)
      else answer()
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as { port: number }
  return {
    url: Object.assign(new URL(target), { port: String(port) }).href,
    async roundTrips(work) {
      count = 0
      isCounting = true
      await work().finally(() => {
        isCounting = false
      })
      return count
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
