import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io, type Socket } from 'socket.io-client'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient, type RestClient, type TrpcClient } from '../support/client.ts'
import { createDatabase } from '../support/servers.ts'

/** Time to start them on a busy machine. */
export const SERVERS_TIMEOUT_MS = 300_000

/** Three server processes on one PostgreSQL and one data folder. */
export type ThreeServers = Awaited<ReturnType<typeof startThreeServers>>

export async function startThreeServers(env: Record<string, string> = {}) {
  const database = await createDatabase('postgres')
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-servers-'))
  const settings = { DATABASE_URL: database.url, LOG_LEVEL: 'info', SIGN_UPS_PER_HOUR: '1000000', ...env }
  /** Starts another server. @param root the folder of its sources, if not this project's */
  const start = (more: Record<string, string> = {}, root?: string) =>
    startServerProcess(dataDir, { ...settings, ...more }, root)
  // The first one creates the secrets.
  const first = await start()
  const servers: [ServerProcess, ServerProcess, ServerProcess] = [
    first,
    ...(await Promise.all([start(), start()])),
  ]
  const sockets: Socket[] = []
  let people = 0
  const signUp = async (): Promise<{ id: string; email: string; token: string }> => {
    const email = `person${++people}@example.com`
    const { token } = await createTrpcClient(first.url).auth.signUp.mutate({ email, password: PASSWORD })
    const { user } = await createTrpcClient(first.url, token).auth.me.query()
    return { id: user?.id ?? '', email, token }
  }
  const owner = await signUp()
  return {
    database,
    dataDir,
    servers,
    owner,
    signUp,
    start,
    /** The web app's client on a server, as the owner unless a token is given. */
    trpc: (server: ServerProcess, token = owner.token): TrpcClient => createTrpcClient(server.url, token),
    rest: (server: ServerProcess, token = owner.token) => createRestClient(server.url, token),
    /** A live connection to a server. @param reconnects true: it comes back by itself, as browsers do */
    async connect(server: ServerProcess, auth: object = { token: owner.token }): Promise<Socket> {
      const socket = io(server.url, { auth, transports: ['websocket'], reconnection: false, forceNew: true })
      sockets.push(socket)
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', () => resolve())
        socket.once('connect_error', reject)
      })
      return socket
    },
    async stop(): Promise<void> {
      for (const socket of sockets) socket.close()
      await Promise.all(servers.map((server) => server.end('SIGTERM')))
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The non-empty titles of all records of a table. @param path `/api/v2/tables/{tableId}/records` */
export async function readTitles(rest: RestClient, path: string): Promise<string[]> {
  const titles: string[] = []
  for (let offset = 0; ; offset += 1000) {
    const { body } = await rest.get(`${path}?fields=Title&limit=1000&offset=${offset}`)
    titles.push(...body.list.map(({ Title }: { Title: string | null }) => Title))
    if (body.pageInfo.isLastPage) return titles.filter((title) => title !== null)
  }
}
