import { Server as Engine } from '@socket.io/bun-engine'
import { LRUCache } from 'lru-cache'
import { Server } from 'socket.io'
import { type Actor, ANONYMOUS } from './core/actor.ts'
import type { Right } from './core/roles.ts'
import type { Kernel } from './kernel.ts'
import type { Authenticator } from './rest.ts'

const PATH = '/socket.io/'

/** What the socket asks of the auth module. */
interface Gate extends Authenticator {
  access: { authorize(actor: Actor, right: Right, baseId?: string): Promise<void> }
}

export interface Socket {
  /** The answer to a request of the socket's path; undefined for every other path. */
  handle(request: Request, server: Bun.Server<never>): Promise<Response> | undefined
  websocket: Bun.WebSocketHandler<never>
  close(): void
}

/** Added to the age that a browser gives: its first read may have been made a little before it began to count. */
const SLACK_MS = 250

/** The answer to a browser that wants to follow a base. */
interface Joined {
  joined: boolean
  /** True where the base has changed since the browser began to read it: what it holds may be old. */
  missed: boolean
}

const roomOf = (baseId: string): string => `base:${baseId}`
const roomOfUser = (userId: string): string => `user:${userId}`

/**
 * Live updates: a browser that is signed in joins the bases it shows and is told of each change of
 * their records, tables and jobs. A browser whose rights change is cut off and has to join again.
 */
export function createSocket(kernel: Pick<Kernel, 'events' | 'log'>, gate: Gate): Socket {
  const io = new Server({ serveClient: false })
  const engine = new Engine({
    path: PATH,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    maxHttpBufferSize: 1_000_000,
  })
  // The engine has the interface that socket.io expects of its own; only the class differs.
  io.bind(engine as never)

  io.use(async (socket, next) => {
    const actor = await authenticate(gate, socket.handshake.auth.token ?? socket.handshake.headers['xc-auth'])
    if (actor.kind !== 'user') return next(new Error('Authentication required'))
    socket.data.actor = actor
    await socket.join(roomOfUser(actor.id))
    next()
  })
  io.on('connection', (socket) => {
    socket.on(
      'base:join',
      async (baseId: unknown, ageMs: unknown, acknowledge?: (answer: Joined) => void) => {
        const joined = typeof baseId === 'string' && (await mayRead(socket.data.actor, baseId))
        if (joined) await socket.join(roomOf(baseId))
        const missed = joined && typeof ageMs === 'number' && hasChangedWithin(baseId, ageMs)
        if (typeof acknowledge === 'function') acknowledge({ joined, missed })
      },
    )
    socket.on('base:leave', (baseId: unknown) => {
      if (typeof baseId === 'string') void socket.leave(roomOf(baseId))
    })
  })

  /** When something was last told of each base, on this process's own clock. */
  const lastNewsAt = new LRUCache<string, number>({ max: 10_000 })
  const tell = (baseId: string, event: string, payload: unknown) => {
    lastNewsAt.set(baseId, performance.now())
    io.to(roomOf(baseId)).emit(event, payload)
  }
  const hasChangedWithin = (baseId: string, ageMs: number): boolean =>
    (lastNewsAt.get(baseId) ?? Number.NEGATIVE_INFINITY) > performance.now() - ageMs - SLACK_MS

  async function mayRead(actor: Actor, baseId: string): Promise<boolean> {
    return gate.access.authorize(actor, 'record.list', baseId).then(
      () => true,
      () => false,
    )
  }

  const unsubscribe = [
    kernel.events.on('records.changed', (change) => tell(change.baseId, 'change', change)),
    kernel.events.on('schema.changed', (change) => tell(change.baseId, 'schema', change)),
    // Whoever has the base open reads its tables again, and learns that it is gone.
    kernel.events.on('base.deleted', ({ baseId }) =>
      tell(baseId, 'schema', { baseId, tableId: null, version: 0 }),
    ),
    kernel.events.on('job.changed', (job) => io.to(roomOfUser(job.userId)).emit('job', job)),
    kernel.events.on('access.changed', ({ userId }) => io.in(roomOfUser(userId)).disconnectSockets(true)),
  ]

  const { websocket } = engine.handler()
  return {
    websocket: websocket as never,
    handle(request, server) {
      const { pathname } = new URL(request.url)
      return pathname.startsWith(PATH) ? engine.handleRequest(request, server as never) : undefined
    },
    close() {
      for (const stop of unsubscribe) stop()
      io.disconnectSockets(true)
      engine.close()
    },
  }
}

async function authenticate(gate: Authenticator, token: unknown): Promise<Actor> {
  return typeof token === 'string' ? gate.authenticate(new Headers({ 'xc-auth': token })) : ANONYMOUS
}
