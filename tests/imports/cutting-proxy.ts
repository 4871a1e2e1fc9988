import type { Socket } from 'bun'

interface Link {
  server: Socket | null
  waiting: Buffer[]
}

/** A proxy to a database server that can cut its connections around a commit. */
export interface CuttingProxy {
  port: number
  /**
   * Cuts the connection at the next commit, or statement with a text: before the server gets it, or before its answer
   * reaches the client.
   *
   * @param down how long the server then seems to be away
   */
  cutAt(moment: 'before' | 'after', after?: { commits?: number; downMs?: number; text?: RegExp }): void
  /** Number of connections it has cut. */
  cuts(): number
  stop(): void
}

export async function startCuttingProxy(target: { hostname: string; port: number }): Promise<CuttingProxy> {
  let armed: { moment: 'before' | 'after'; commits: number; downMs: number; text: RegExp } | null = null
  let downUntil = 0
  let cuts = 0
  const proxy = Bun.listen<Link>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(client) {
        client.data = { server: null, waiting: [] }
        if (Date.now() < downUntil) return void client.end()
        void connectTo(client)
      },
      data(client, bytes) {
        const isCommit = armed?.text.test(bytes.toString('latin1')) ?? false
        if (armed && isCommit && armed.commits-- <= 0) {
          const { moment, downMs } = armed
          armed = null
          cuts++
          downUntil = Date.now() + downMs
          if (moment === 'after') client.data.server?.write(bytes)
          const { server } = client.data
          client.data.server = null
          client.end()
          // The server still runs what it has received.
          setTimeout(() => server?.end(), 100)
          return
        }
        if (client.data.server) client.data.server.write(bytes)
        else client.data.waiting.push(Buffer.from(bytes))
      },
      close(client) {
        client.data.server?.end()
      },
    },
  })

  async function connectTo(client: Socket<Link>): Promise<void> {
    const server = await Bun.connect({
      ...target,
      socket: {
        data: (_, bytes) => {
          if (client.data.server) client.write(bytes)
        },
        close: () => {
          if (client.data.server) client.end()
        },
      },
    })
    client.data.server = server
    for (const bytes of client.data.waiting.splice(0)) server.write(bytes)
  }

  return {
    port: proxy.port,
    cutAt(moment, { commits = 0, downMs = 0, text = /\bcommit\b/i } = {}) {
      armed = { moment, commits, downMs, text }
    },
    cuts: () => cuts,
    stop: () => proxy.stop(true),
  }
}
